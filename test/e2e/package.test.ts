import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newFolder, removeFolders } from "./folder.ts";
import { endAll, REPOSITORY, run, serve } from "./program.ts";

const execute = promisify(execFile);

const SOURCES = ["package.json", "tsconfig.json", "tsconfig.build.json", "src", "mappings", "LICENSE"];

/** As npm leaves it when development is left out: nothing else can be found from there. */
function linkProductionModules(folder: string): void {
  const lock = JSON.parse(readFileSync(join(REPOSITORY, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>;
  };
  const topLevel = /^node_modules\/(?:@[^/]+\/)?[^/]+$/;
  for (const [path, { dev, optional }] of Object.entries(lock.packages)) {
    if (!topLevel.test(path) || dev || optional) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(REPOSITORY, path), join(folder, path));
  }
}

let source: string;
let built: string;

beforeAll(async () => {
  source = newFolder();
  built = newFolder();
  for (const name of SOURCES) cpSync(join(REPOSITORY, name), join(source, name), { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules"), join(source, "node_modules"));
  await execute("npm", ["run", "build"], { cwd: source });
  for (const name of ["package.json", "dist", "mappings"])
    cpSync(join(source, name), join(built, name), { recursive: true });
  linkProductionModules(built);
}, 60_000);

afterAll(async () => {
  await endAll();
  removeFolders();
});

/** Node as it finds modules when nothing is linked. */
const script = (): string[] => [
  "--preserve-symlinks",
  "--preserve-symlinks-main",
  join(built, "dist", "main.js"),
];

test("the built program serves, with the console, the audit and the pack that comes along", async () => {
  const gateway = await serve(newFolder(), { script: script(), cwd: newFolder() });
  const [, token = ""] = await gateway.printed(/^Token +(\S+)$/m);

  const answer = await fetch(`${gateway.url}/v4/vm/instances`, {
    headers: { authorization: `token ${token}` },
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ vms: expect.any(Array) });

  const page = await fetch(gateway.admin);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect((await fetch(`${gateway.admin}/style.css`)).status).toBe(200);
  expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);

  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
});

test("the built program checks its own pack from any folder", async () => {
  const { code, out } = await run(["check"], { script: script(), cwd: newFolder() }).ended;

  expect(out).toMatch(/\d+ examples passed\n$/);
  expect(code).toBe(0);
});

test("the package holds the program and its pack, and nothing of its making", async () => {
  const { stdout } = await execute("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: source,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);

  expect(paths).toEqual(
    expect.arrayContaining([
      "LICENSE",
      "dist/main.js",
      "dist/audit/sqlite/worker.js",
      "dist/console/public/index.html",
      "mappings/pack.yaml",
    ]),
  );
  expect(paths.filter((path) => !/^(?:dist\/.*|mappings\/.*|LICENSE|package\.json)$/.test(path))).toEqual([]);
});
