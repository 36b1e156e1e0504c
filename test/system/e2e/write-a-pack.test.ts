/** `docs/guide/write-a-pack.md` from an empty folder to the last step, as a reader would do it; and `alpha-gateway init`. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { freePort } from "../../support/free-port.ts";
import { waitFor } from "../../support/wait-for.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { blocksOf, partMatcherOf } from "./guide-steps.ts";
import { REPOSITORY, run } from "./program.ts";

const execute = promisify(execFile);

const blocks = blocksOf("docs/guide/write-a-pack.md");

test("each step of the guide gives what the page shows", async () => {
  const folder = temporaryFolder();
  for (const name of ["bin", "src", "node_modules", "package.json", "schema"])
    symlinkSync(join(REPOSITORY, name), join(folder, name));
  const upstreamPort = await freePort();
  let gateway = "";
  const adapt = (text: string): string =>
    text.replaceAll("9000", String(upstreamPort)).replaceAll("http://127.0.0.1:8080", gateway);
  const env = { PATH: `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`, HOME: folder };
  const bash = async (command: string): Promise<string> =>
    (await execute("bash", ["-euo", "pipefail", "-c", adapt(command)], { cwd: folder, env })).stdout;
  let served = 0;
  for (const [index, [language, text]] of blocks.entries()) {
    const [, file] = /^(?:#|\/\/) (\S+)\n/.exec(text) ?? [];
    if (file !== undefined) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), adapt(text));
      continue;
    }
    if (language !== "sh") continue;
    if (text.includes(" serve ")) {
      run([], { script: ["upstream.mjs"], cwd: folder });
      const [, flags = ""] = /alpha-gateway serve (.*)/.exec(adapt(text)) ?? [];
      const serving = run(["serve", ...flags.split(" ")], {
        cwd: folder,
        env: { PORT: "0", ADMIN_PORT: "0", DATA_DIR: temporaryFolder(), LOG_LEVEL: "fatal" },
      });
      [, gateway = ""] = await serving.waitForOutput(/^Gateway +(\S+)/m);
      served += 1;
      continue;
    }
    const [next, output = ""] = blocks[index + 1] ?? [];
    expect([text, next]).toEqual([text, "text"]);
    // A saved file is in use after a moment.
    await waitFor(async () => partMatcherOf(output).test(await bash(text).catch(() => "")));
  }
  expect(served).toBe(1);
}, 180_000);

describe("init", () => {
  test("without a terminal and without flags writes a pack that passes check, with settings for an editor", async () => {
    const folder = join(temporaryFolder(), "new");
    const { code, out } = await run(["init", folder]).ended;
    expect([code, out]).toEqual([0, expect.stringContaining("\n1 example passed\n")]);
    const settings = JSON.parse(readFileSync(join(folder, ".vscode/settings.json"), "utf8"));
    for (const schema of Object.keys(settings["yaml.schemas"]))
      expect(JSON.parse(readFileSync(join(folder, schema), "utf8"))).toHaveProperty("$schema");
    expect(readdirSync(folder).sort()).toEqual([
      ".vscode",
      "README.md",
      "book.yaml",
      "examples",
      "pack.yaml",
    ]);
  });

  test("gives a pack whose clients are served with the scheme that the new API has, too", async () => {
    const folder = join(temporaryFolder(), "new");
    await run(["init", folder, "--scheme", "Bearer"]).ended;
    const upstream = createHttpServer((request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify([{ id: 1, name: request.headers.authorization }]));
    }).listen(0, "127.0.0.1");
    try {
      await once(upstream, "listening");
      const { port } = upstream.address() as AddressInfo;
      const serving = run(["serve", "--mappings-dir", folder, "--upstream-url", `http://127.0.0.1:${port}`], {
        env: { PORT: "0", ADMIN_PORT: "0", DATA_DIR: temporaryFolder(), LOG_LEVEL: "fatal" },
      });
      const [, gateway] = await serving.waitForOutput(/^Gateway +(\S+)/m);
      const response = await fetch(`${gateway}/v1/books`, { headers: { authorization: "Bearer T" } });
      expect([response.status, await response.json()]).toEqual([200, [{ id: 1, title: "Bearer T" }]]);
    } finally {
      upstream.close();
      upstream.closeAllConnections();
    }
  });

  test("takes each value as a flag, also for APIs without tokens", async () => {
    const folder = temporaryFolder();
    const flags =
      "--object reader --client-path /readers --upstream-path /v2/people --scheme none --fields nr=id,name";
    const { code, out } = await run(["init", folder, ...flags.split(" ")]).ended;
    expect([code, out]).toEqual([0, expect.stringContaining("\n1 example passed\n")]);
    expect(readFileSync(join(folder, "reader.yaml"), "utf8")).toContain("nr: id\n  name: name\n");
  });

  test("changes nothing in a folder with files, and names a flag that is not valid", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "notes"), "mine");
    expect(await run(["init", folder]).ended).toMatchObject({
      code: 1,
      err: expect.stringContaining("is not empty"),
    });
    expect(readdirSync(folder)).toEqual(["notes"]);
    const missing = join(folder, "new");
    expect(await run(["init", missing, "--client-path", "books?x"]).ended).toMatchObject({
      code: 1,
      err: expect.stringContaining('AG_USAGE: --client-path "books?x": use a path, such as /v1/books'),
    });
  });
});
