/** `docs/guide/write-a-pack.md` from an empty folder to the last step, as a reader would do it; and `alpha-gateway init`. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
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

test("init without a terminal and without flags writes a pack that passes check, with settings for an editor", async () => {
  const folder = join(temporaryFolder(), "new");
  const { code, out } = await run(["init", folder]).ended;
  expect([code, out]).toEqual([0, expect.stringContaining("\n1 example passed\n")]);
  const settings = JSON.parse(readFileSync(join(folder, ".vscode/settings.json"), "utf8"));
  for (const schema of Object.keys(settings["yaml.schemas"]))
    expect(JSON.parse(readFileSync(join(folder, schema), "utf8"))).toHaveProperty("$schema");
  expect(readdirSync(folder).sort()).toEqual([".vscode", "README.md", "book.yaml", "examples", "pack.yaml"]);
});
