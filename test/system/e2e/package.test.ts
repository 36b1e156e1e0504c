/** The package as npm makes and installs it: packed, and installed from the tarball into a folder elsewhere. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, REPOSITORY, run, serve } from "./program.ts";

const execute = promisify(execFile);

const SOURCES = [
  "bin",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "src",
  "mappings",
  "LICENSE",
  "README.md",
];

interface Packed {
  readonly filename: string;
  readonly integrity: string;
  readonly version: string;
  readonly files: readonly { readonly path: string }[];
}

/** Builds and packs it. */
async function pack(source: string): Promise<Packed> {
  for (const name of SOURCES) cpSync(join(REPOSITORY, name), join(source, name), { recursive: true });
  symlinkSync(join(REPOSITORY, "node_modules"), join(source, "node_modules"));
  await execute("npm", ["run", "build"], { cwd: source });
  const { stdout } = await execute("npm", ["pack", "--json", "--ignore-scripts"], { cwd: source });
  const [packed] = JSON.parse(stdout) as [Packed];
  return packed;
}

interface Locked {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** The lock of a place that has the package and what it depends on, in the versions of this repository. */
function lockOf({ filename, integrity, version }: Packed): object {
  const read = (name: string) => JSON.parse(readFileSync(join(REPOSITORY, name), "utf8"));
  const { packages } = read("package-lock.json") as { packages: Record<string, Locked> };
  const { dependencies, bin, engines } = read("package.json");
  const used = Object.entries(packages).filter(
    ([path, { dev, devOptional }]) => path && !dev && !devOptional,
  );
  const resolved = `file:${filename}`;
  return {
    name: "place",
    lockfileVersion: 3,
    packages: {
      "": { name: "place", dependencies: { "alpha-gateway": resolved } },
      "node_modules/alpha-gateway": { version, resolved, integrity, dependencies, bin, engines },
      ...Object.fromEntries(used),
    },
  };
}

let packed: Packed;
let place: string;

beforeAll(async () => {
  const source = createFolder();
  place = createFolder();
  packed = await pack(source);
  cpSync(join(source, packed.filename), join(place, packed.filename));
  const dependencies = { "alpha-gateway": `file:${packed.filename}` };
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "place", dependencies }));
  writeFileSync(join(place, "package-lock.json"), JSON.stringify(lockOf(packed)));
  await execute("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], { cwd: place });
}, 300_000);

afterAll(async () => {
  await killAll();
  removeFolders();
});

/** The command as npm put it there. */
const script = (): string[] => [join(place, "node_modules", ".bin", "alpha-gateway")];

test("the built program serves, with the console, the audit and the pack that comes along", async () => {
  const gateway = await serve(createFolder(), { script: script(), cwd: createFolder() });
  const [, token = ""] = await gateway.waitForOutput(/^Token +(\S+)$/m);

  const answer = await fetch(`${gateway.url}/v4/vm/instances`, {
    headers: { authorization: `token ${token}` },
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ vms: expect.any(Array) });

  const page = await fetch(gateway.admin);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect((await fetch(`${gateway.admin}/css/base.css`)).status).toBe(200);
  expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);

  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
});

test("the built program checks its own pack from any folder", async () => {
  const { code, out } = await run(["check"], { script: script(), cwd: createFolder() }).ended;

  expect(out).toMatch(/\d+ examples passed\n$/);
  expect(code).toBe(0);
});

test("the lock holds what is installed to its content, and names no host that it comes from", () => {
  const { packages } = JSON.parse(readFileSync(join(REPOSITORY, "package-lock.json"), "utf8")) as {
    packages: Record<
      string,
      { integrity?: string; resolved?: string; dev?: boolean; optional?: boolean; os?: string[] }
    >;
  };
  const installed = Object.entries(packages).filter(([name]) => name !== "");
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  // Builds of development tools for other systems than those of the image and the tests.
  const isElsewhere = ({ dev, optional, os }: (typeof packages)[string]): boolean =>
    dev === true && optional === true && os !== undefined;
  const without = installed.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
  expect(without.filter(([, one]) => !isElsewhere(one))).toEqual([]);
});

test("the package holds the program and its pack, and nothing of its making", () => {
  const paths = packed.files.map(({ path }) => path);

  expect(paths).toEqual(
    expect.arrayContaining([
      "LICENSE",
      "README.md",
      "bin/alpha-gateway.js",
      "dist/main.js",
      "dist/audit/sqlite/worker.js",
      "dist/admin/public/index.html",
      "mappings/pack.yaml",
    ]),
  );
  const strange = /^(?!bin\/|dist\/|mappings\/|(?:LICENSE|README\.md|package\.json)$)/;
  expect(paths.filter((path) => strange.test(path))).toEqual([]);
});
