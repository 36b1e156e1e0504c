/** The README of each example: its commands, as a reader would paste them, in a copy of its folder. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { blocksOf, partMatcherOf } from "./guide-steps.ts";
import { REPOSITORY, run, serve } from "./program.ts";

const execute = promisify(execFile);

test.each([
  ["payments", 9001, ""],
  ["media-type-versions", 9002, ""],
  ["json-api", 9003, ""],
  ["cursors", 9004, "--public-url http://127.0.0.1:8080"],
  ["shipping", 9005, ""],
  ["billing", 9006, ""],
  ["shop", 9007, ""],
  ["library", 9008, ""],
])(
  "each command in the README of examples/%s gives what the page shows",
  async (name, usualPort, more) => {
    const folder = temporaryFolder();
    cpSync(join(REPOSITORY, "examples", name), folder, { recursive: true });
    for (const each of ["bin", "src", "node_modules", "package.json"])
      symlinkSync(join(REPOSITORY, each), join(folder, each));
    const port = String(await freePort());
    run([], { script: ["service.ts"], cwd: folder, env: { PORT: port } });
    const gateway = await serve(temporaryFolder(), {
      cwd: folder,
      flags: [
        "--mappings-dir",
        "pack",
        "--upstream-url",
        `http://127.0.0.1:${port}`,
        ...more.split(" ").filter(Boolean),
      ],
    });
    const page = join(folder, "README.md");
    expect(readFileSync(page, "utf8")).toContain(
      `node service.ts &\nnpx alpha-gateway serve --mappings-dir pack --upstream-url http://127.0.0.1:${usualPort}${more && ` ${more}`}\n`,
    );
    const env = { PATH: `${join(folder, "node_modules/.bin")}:${process.env["PATH"]}`, HOME: folder };
    const blocks = blocksOf(page);
    for (const [index, [language, command]] of blocks.entries()) {
      if (language !== "sh" || /service\.ts|cp -r/.test(command)) continue;
      const [next, output = ""] = blocks[index + 1] ?? [];
      const { stdout } = await execute(
        "bash",
        ["-euo", "pipefail", "-c", command.replaceAll("http://127.0.0.1:8080", gateway.url)],
        { cwd: folder, env },
      );
      expect(stdout).toMatch(next === "text" ? partMatcherOf(output) : /^/);
    }
  },
  240_000,
);
