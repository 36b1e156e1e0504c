/** `bin/alpha-gateway.js`: how npm and npx start the program, on any Node. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { REPOSITORY, run, serve } from "./program.ts";

const execute = promisify(execFile);

/** Node, as a process that takes itself for version 20. */
const NODE_20 = [
  "--import",
  "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });",
];
const launcher = (folder = REPOSITORY): string => join(folder, "bin", "alpha-gateway.js");

/** A folder with the launcher, and with those parts of the repository that are named. */
function folderWith(...names: readonly string[]): string {
  const folder = temporaryFolder();
  cpSync(join(REPOSITORY, "bin"), join(folder, "bin"), { recursive: true });
  cpSync(join(REPOSITORY, "package.json"), join(folder, "package.json"));
  for (const name of names) symlinkSync(join(REPOSITORY, name), join(folder, name));
  return folder;
}

describe("in a checkout, on Node 20", () => {
  const script = [...NODE_20, launcher()];

  test("runs the command on the installed Node 24 and exits with its code", async () => {
    const valid = await run(["check", "examples/library/pack"], { script }).ended;
    expect(valid.out).toMatch(/\d+ examples passed\n$/);
    expect(valid).toMatchObject({ code: 0, err: "" });

    const invalid = await run(["check", temporaryFolder()], { script }).ended;
    expect(invalid.code).toBe(1);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s drains the gateway", async (signal) => {
    const gateway = await serve(temporaryFolder(), { script });
    expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);

    gateway.signal(signal);
    expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
    await expect(fetch(gateway.url)).rejects.toThrow("fetch failed");
  });

  test("before npm ci, one sentence says what to do", async () => {
    const folder = folderWith("src");
    const ended = await run(["check"], { script: [...NODE_20, launcher(folder)] }).ended;

    expect(ended).toEqual({
      code: 1,
      signal: null,
      out: "",
      err: "alpha-gateway needs Node 24 or newer; this is 20.1.0: run npm ci, which installs it.\n",
    });
  });
});

/** What npx does: it runs the program in a shell, which passes no signals on. */
const AS_NPX = { within: ["sh", "-c", '"$@"; exit $?', "sh"], env: { npm_command: "exec" } };

test.each([
  ["the installed Node 24", [launcher()]],
  ["Node 20", [...NODE_20, launcher()]],
])("the end of npx drains the gateway on %s", async (_node, script) => {
  const gateway = await serve(temporaryFolder(), { script, ...AS_NPX });
  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ signal: "SIGTERM", err: "" });
  await expect(fetch(gateway.url)).rejects.toThrow("fetch failed");
});

test("an installed package names the required version in one sentence on Node 20", async () => {
  const folder = folderWith();
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "dist", "main.js"), "import 'node:something-newer';");
  const ended = await run(["serve"], { script: [...NODE_20, launcher(folder)] }).ended;

  expect(ended).toEqual({
    code: 1,
    signal: null,
    out: "",
    err: "alpha-gateway needs Node 24 or newer; this is 20.1.0.\n",
  });
});

test("npx alpha-gateway runs in a checkout without a build", async () => {
  const folder = folderWith("src", "node_modules", "mappings");
  const { stdout } = await execute("npx", ["alpha-gateway", "explain", "GET /vm/instances/7"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, npm_config_update_notifier: "false" },
  });

  expect(stdout).toContain("/v4/vm/instances/7");
}, 60_000);
