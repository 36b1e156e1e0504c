/** `check --notices` and `notices test`, as operators run them. */
import { beforeEach, describe, expect, jest, test } from "@jest/globals";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { captureCommands } from "../../support/command-output.ts";
import {
  startWebhookReceiver,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from "../../support/notice-receivers.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";

const output = captureCommands();

let webhook: WebhookReceiver;
let other: WebhookReceiver;
beforeEach(async () => {
  webhook = await startWebhookReceiver();
  other = await startWebhookReceiver();
  jest.replaceProperty(process, "env", { ...process.env, NOTICES_SECRET: WEBHOOK_SECRET });
});

const fileWith = (url: string): string =>
  writeOperatorFile(
    `receivers:
  hook: { webhook: "${url}", secret: { env: NOTICES_SECRET } }
  team: { webhook: "${other.url}", secret: { env: NOTICES_SECRET } }
`,
    "notices.yaml",
  );

describe("alpha-gateway notices test", () => {
  const run = (file: string): Promise<number> => runCommandLine(["notices", "test", "--notices-file", file]);

  test("sends one notice to each receiver", async () => {
    expect(await run(fileWith(webhook.url))).toBe(0);
    expect(output()).toBe("hook: sent\nteam: sent\n");
    expect(
      [webhook, other].flatMap(({ received }) => received).map(({ body }) => [body.type, body.data]),
    ).toEqual([
      ["test", { receiver: "hook" }],
      ["test", { receiver: "team" }],
    ]);
  });

  test("names the receiver that rejects it, and tries the others", async () => {
    webhook.respondWith((_request, response) => void response.writeHead(401).end());
    expect(await run(fileWith(webhook.url))).toBe(1);
    expect(output()).toBe("hook: not sent: status 401\nteam: sent\n");
  });

  test("says that a secret is missing", async () => {
    delete process.env["NOTICES_SECRET"];
    expect(await run(fileWith(webhook.url))).toBe(1);
    expect(output()).toContain("AG_NOTICES_SECRET_MISSING");
    expect(output()).toContain("notices.yaml:2:");
    expect(webhook.requests()).toBe(0);
  });

  test("needs a file", async () => {
    expect(await runCommandLine(["notices", "test"])).toBe(1);
    expect(output()).toContain("there are no receivers: set NOTICES_FILE, or give --notices-file");
  });
});

describe("alpha-gateway check --notices", () => {
  const run = (file: string): Promise<number> => runCommandLine(["check", "--notices", file]);

  test("checks the file without its secrets, which may be elsewhere", async () => {
    delete process.env["NOTICES_SECRET"];
    expect(await run(fileWith(webhook.url))).toBe(0);
    expect(output()).toBe("2 receivers\n");
  });

  test("prints problems with codes and lines", async () => {
    const file = writeOperatorFile(`receivers:\n  team: { webhook: "${webhook.url}" }\n`, "n.yaml");
    expect(await run(file)).toBe(1);
    expect(output()).toMatch(/AG_FILE_INVALID \S*n\.yaml:2:\d+: the key "secret" is missing/);
  });
});
