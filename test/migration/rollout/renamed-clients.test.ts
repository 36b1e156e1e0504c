/** Clients that lose their names while the rollout remembers that they were turned back. */
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import pino from "pino";
import { createDependencies } from "../../../src/app/composition/dependencies.ts";
import { createHandlers } from "../../../src/app/composition/start.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { readEnvironment } from "../../../src/base/settings/settings.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { json } from "../../support/fake-v4.ts";
import type { Gateway } from "../../support/gateway.ts";
import { startOldService, type TestOldService } from "../../support/old-service.ts";
import { writeOperatorFile } from "../../support/operator-file.ts";
import { waitFor } from "../../support/wait-for.ts";
import { ALONE, CLIENTS, isOld, LIST, startTwoSides } from "./two-sides.ts";

const RENAMED = CLIENTS.replace("billing:", "invoices:");

let folder: string;
let old: TestOldService;
let clientsFile: string;
let rolloutFile: string;
let gateways: Gateway[];
captureCommands();

beforeEach(async () => {
  folder = temporaryFolder();
  old = await startOldService();
  old.respondWith(json(200, { from: "old" }));
  gateways = [];
});
afterEach(async () => {
  for (const gateway of gateways) await gateway.stop();
});

async function start(rollout: string): Promise<Gateway> {
  rolloutFile = writeOperatorFile(rollout + ALONE, "rollout.yaml");
  clientsFile = writeOperatorFile(CLIENTS, "clients.yaml");
  return startAgain();
}

/** Starts a gateway with the files and the state that there are. */
async function startAgain(): Promise<Gateway> {
  const files = { ROLLOUT_FILE: rolloutFile, CLIENTS_FILE: clientsFile, DATA_DIR: folder };
  const { gateway } = await startTwoSides(old, "", files);
  gateways.push(gateway);
  return gateway;
}

async function sideOf(gateway: Gateway, client: string): Promise<"old" | "new"> {
  const answer = await gateway.request(LIST, { headers: { "user-agent": `${client}/1` } });
  return isOld(answer) ? "old" : "new";
}

async function changeClients(gateway: Gateway, text: string): Promise<"accepted" | "rejected"> {
  writeFileSync(clientsFile, text);
  await gateway.reload();
  const { text: metrics } = await gateway.requestAdmin("GET /metrics");
  return /^alpha_gateway_clients_file_last_reload_successful 1$/m.test(metrics) ? "accepted" : "rejected";
}

const run = (...args: readonly string[]): Promise<number> =>
  runCommandLine([
    "rollout",
    ...args,
    `--rollout-file=${rolloutFile}`,
    `--clients-file=${clientsFile}`,
    `--data-dir=${folder}`,
  ]);

async function turnBack(gateway: Gateway): Promise<void> {
  const body = { by: "Ann", target: "billing" };
  expect((await gateway.requestAdmin("POST /api/rollout/turn-back", { body })).status).toBe(200);
}

/** Starts a gateway with which a person has turned billing back. */
async function startWithReturned(): Promise<Gateway> {
  const gateway = await start("data: shared\nnew: all");
  await turnBack(gateway);
  return gateway;
}

describe("a client that was turned back", () => {
  test.each([
    ["its name", RENAMED],
    ["its entry", CLIENTS.replace(/^billing.*\n/, "")],
    ["its user agent", CLIENTS.replace("billing/*", "payments/*")],
  ])("stays where it is: a client directory that takes %s is rejected", async (_key, text) => {
    const gateway = await startWithReturned();
    expect(await changeClients(gateway, text)).toBe("rejected");
    expect(await sideOf(gateway, "billing")).toBe("old");
  });

  test("may get more user agents, and others may change", async () => {
    const gateway = await startWithReturned();
    const more = CLIENTS.replace("billing/*", "billing/*, payments/*").replace("reports:", "sums:");
    expect(await changeClients(gateway, more)).toBe("accepted");
    expect(await sideOf(gateway, "payments")).toBe("old");
  });

  test("is not lost over a restart: a gateway does not start without its name", async () => {
    const gateway = await startWithReturned();
    await gateway.stop();
    gateways = [];
    writeFileSync(clientsFile, RENAMED);
    await expect(startAgain()).rejects.toThrow(/AG_ROLLOUT_CLIENT_FORGOTTEN .*"billing"/);
    writeFileSync(clientsFile, CLIENTS);
    expect(await sideOf(await startAgain(), "billing")).toBe("old");
  });
});

test("a name can be given up by a resume", async () => {
  const gateway = await startWithReturned();
  await gateway.stop();
  gateways = [];
  writeFileSync(clientsFile, RENAMED);
  await expect(startAgain()).rejects.toThrow(/AG_ROLLOUT_CLIENT_FORGOTTEN .*`rollout resume billing`/);
  expect(await run("resume", "billing")).toBe(0);
  expect(await sideOf(await startAgain(), "billing")).toBe("new");
});

test("a replica with a different directory logs the client after it reads the return", async () => {
  const gateway = await start("data: shared\nnew: all");
  const lines: { readonly code?: string; readonly client?: string }[] = [];
  const logger = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const environment = readEnvironment({
    LEGACY_URL: old.url,
    CLIENTS_FILE: writeOperatorFile(RENAMED, "clients.yaml"),
    ROLLOUT_FILE: rolloutFile,
    DATA_DIR: folder,
    UPSTREAM_URL: gateway.sandbox.url,
    AUTH_URL: gateway.sandbox.authUrl,
  });
  const { stop } = createHandlers(environment, await createDependencies(environment, { host: { logger } }));
  await turnBack(gateway);
  await waitFor(() => lines.some(({ code }) => code === "AG_ROLLOUT_CLIENT_FORGOTTEN"));
  expect(lines.filter(({ code }) => code === "AG_ROLLOUT_CLIENT_FORGOTTEN")).toEqual([
    expect.objectContaining({ client: "billing" }),
  ]);
  await stop();
});
