/** The package as npm makes and installs it: packed, and installed from the tarball into a folder elsewhere. */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as library from "../../../src/index.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/create-sandbox.ts";
import { freePort } from "../../support/free-port.ts";
import { publicApi } from "../../support/public-api.ts";
import { installPackage } from "../install-package.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { typeScriptBlocks } from "./markdown-code.ts";
import { REPOSITORY, run, serve, type Program } from "./program.ts";

const execute = promisify(execFile);

/** Where the package is installed. */
let place: string;

beforeAll(async () => {
  place = process.env["TESTED_PACKAGE"] ?? (await installPackage());
}, 300_000);

afterAll(async () => {
  if (process.env["TESTED_PACKAGE"] === undefined) rmSync(place, { recursive: true });
}, 60_000);

/** The command as npm put it there. */
const script = (): string[] => [join(place, "node_modules", ".bin", "alpha-gateway")];

test("the built program serves, with the console, the audit and the included pack", async () => {
  const gateway = await serve(temporaryFolder(), { script: script(), cwd: temporaryFolder() });
  const [, token = ""] = await gateway.waitForOutput(/^Token +(\S+)$/m);

  const response = await fetch(`${gateway.url}/v4/vm/instances`, {
    headers: { authorization: `token ${token}` },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ vms: expect.any(Array) });

  const page = await fetch(gateway.admin);
  expect(page.headers.get("content-type")).toContain("text/html");
  expect((await fetch(`${gateway.admin}/css/base.css`)).status).toBe(200);
  expect((await fetch(`${gateway.admin}/readyz`)).status).toBe(200);
  const clock = await fetch(`${gateway.admin}/api/sandbox/clock`, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify({ advance_seconds: 60 }),
  });
  expect(clock.status).toBe(200);

  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
});

test("the built program sends files to v4, and gives v4's files to clients", async () => {
  const gateway = await serve(temporaryFolder(), { script: script(), cwd: temporaryFolder() });
  const [, token = ""] = await gateway.waitForOutput(/^Token +(\S+)$/m);
  const send = (
    path: string,
    init: RequestInit = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> =>
    fetch(`${gateway.url}/v4${path}`, { ...init, headers: { authorization: `token ${token}`, ...headers } });
  const firstId = async (path: string, list: string): Promise<string> => {
    const { [list]: [row] = [] } = (await (await send(path)).json()) as Record<string, { id: string }[]>;
    return String(row?.id);
  };

  const thumbnail = `/account/clients/${await firstId("/account/clients", "clients")}/thumbnail`;
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  const type = { "content-type": "image/png" };
  expect((await send(thumbnail, { method: "PUT", body: png }, type)).status).toBe(200);
  const file = await fetch(`${gateway.url}/v4${thumbnail}`);
  expect([file.status, file.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(new Uint8Array(await file.arrayBuffer())).toEqual(png);

  const attachment = new FormData();
  attachment.set("file", new Blob(["a log"]), "log.txt");
  const attachments = `/support/tickets/${await firstId("/support/tickets", "tickets")}/attachments`;
  const uploaded = await send(attachments, { method: "POST", body: attachment });
  expect([uploaded.status, await uploaded.json()]).toEqual([200, {}]);

  gateway.signal("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, signal: null, err: "" });
});

test("the built program checks its own pack from any folder", async () => {
  const { code, out } = await run(["check"], { script: script(), cwd: temporaryFolder() }).ended;

  // The package has no golden cases.
  expect(out).toMatch(/\ngolden cases: none, .+\n$/);
  expect(code).toBe(0);
});

/** Runs code that takes itself for Node 20. @returns What it wrote to standard error. */
async function onNode20(type: "commonjs" | "module", code: string): Promise<string> {
  const old = "Object.defineProperty(process, 'versions', { value: { node: '20.1.0' } });";
  const args = ["--import", `data:text/javascript,${old}`, `--input-type=${type}`, "-e", code];
  const { err } = await run([], { script: args, cwd: place }).ended;
  return err;
}

describe("the library is loaded", () => {
  const NAMES = Object.keys(library).sort();

  test.each([
    ["by import", "module", 'import * as library from "alpha-gateway";'],
    ["by require", "commonjs", 'const library = require("alpha-gateway");'],
  ] as const)("%s, with all names of the public API", async (_how, type, code) => {
    const print = "console.log(JSON.stringify(Object.keys(library).sort()));";
    const args = [`--input-type=${type}`, "-e", `${code}\n${print}`];
    const { out, err } = await run([], { script: args, cwd: place }).ended;
    expect({ names: JSON.parse(out), err }).toEqual({ names: NAMES, err: "" });
  });

  test.each([
    ["import", "module", 'import "alpha-gateway";'],
    ["require", "commonjs", 'require("alpha-gateway");'],
  ] as const)("by %s on Node 20: the error says which version is needed", async (_how, type, code) =>
    expect(await onNode20(type, code)).toContain("alpha-gateway needs Node 24 or newer; this is 20.1.0"),
  );
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" }],
  ["AUDIT_OTLP", { AUDIT_OTLP: "http://127.0.0.1:1" }],
])("without OpenTelemetry's packages, %s is refused with what to install", async (setting, env) => {
  const settings = { PORT: "0", ADMIN_PORT: "0", DATA_DIR: temporaryFolder(), ...env };
  const { code, err } = await run(["serve"], { script: script(), cwd: place, env: settings }).ended;
  expect(code).toBe(1);
  expect(err).toContain(
    `${setting}: it needs packages that are not installed: npm install @opentelemetry/api @opentelemetry/`,
  );
});

test("npm shows the packages that the program uses, and Express once", async () => {
  const { stdout } = await execute("npm", ["ls", "--all", "--parseable"], { cwd: place });
  const names = stdout.split("\n").map((path) => path.replace(/^.*node_modules\//, ""));
  expect(names).toEqual(expect.arrayContaining(["express", "undici", "jsonata", "zod", "pg"]));
  expect(names.filter((name) => name === "express")).toHaveLength(1);
});

test("package-lock.json has a hash for each package, and names no host", () => {
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

test("the package contains only the program, its pack and the schemas of packs", () => {
  const folder = join(place, "node_modules", "alpha-gateway");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });

  expect(paths).toEqual(
    expect.arrayContaining([
      "LICENSE",
      "README.md",
      "bin/alpha-gateway.js",
      "dist/main.js",
      "dist/pack/load/pack-check-thread.js",
      "dist/index.d.ts",
      "dist/audit/store/sqlite/thread/worker.js",
      "dist/console/public/index.html",
      "mappings/pack.yaml",
      "schema/pack.json",
    ]),
  );
  const usual =
    /^(?:bin|dist|mappings|schema)(?:\/|$)|^(?:LICENSE|README\.md|package\.json|node_modules(?:\/\.cache\b.*)?)$/;
  expect(paths.filter((path) => !usual.test(path))).toEqual([]);
  // Golden cases, source maps, and declarations of what is not public.
  expect(paths.filter((path) => /^mappings\/examples|\.map$/.test(path))).toEqual([]);
  expect(paths.filter((path) => path.endsWith(".d.ts"))).toEqual(["dist/index.d.ts"]);
});

test("each link of the packed README is a file of the repository, and no part of the page is elsewhere", () => {
  const readme = readFileSync(join(place, "node_modules", "alpha-gateway", "README.md"), "utf8");
  const links = [...readme.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = ""]) => link);
  const isElsewhere = (link: string): boolean => /^https:\/\/(?!github\.com)/.test(link);
  expect(links.length).toBeGreaterThan(10);
  expect(links.filter((link) => !isElsewhere(link) && !existsSync(join(REPOSITORY, link)))).toEqual([]);
});

describe("the library", () => {
  /** Pages and sources whose TypeScript is a reader's to copy. */
  const DOCUMENTED = [
    "README.md",
    "docs/guide/embed.md",
    ...new Set(publicApi(REPOSITORY).map(({ path }) => relative(REPOSITORY, path))),
  ];
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox();
    // What a program has installed itself: types of Express and of Node, and packages that the guide shows.
    mkdirSync(join(place, "node_modules/@types"), { recursive: true });
    const types = readdirSync(join(REPOSITORY, "node_modules/@types")).map((name) => `@types/${name}`);
    for (const name of [...types, "express4", "prom-client"])
      if (!existsSync(join(place, "node_modules", name)))
        symlinkSync(join(REPOSITORY, "node_modules", name), join(place, "node_modules", name));
    cpSync(join(place, "node_modules", "alpha-gateway", "mappings"), join(place, "mappings"), {
      recursive: true,
    });
  });
  afterAll(() => sandbox.close());

  /** Writes a program into the folder where the package is installed. @returns its path */
  function writeProgram(name: string, code: string): string {
    const path = join(place, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code.replaceAll("https://api.example.com", sandbox.url));
    return path;
  }

  const runProgram = (name: string, code: string): Program =>
    run([], { script: [writeProgram(name, code)], cwd: place });

  /** The first block of a page that contains a text. */
  const blockWith = (page: string, text: string): string =>
    typeScriptBlocks(page).find((code) => code.includes(text)) ?? "";

  /** Resolves with the first response of a server that is starting. */
  async function firstResponse(url: string): Promise<Response> {
    for (;;) {
      const response = await fetch(url).catch(() => undefined);
      if (response) return response;
      await wait(20);
    }
  }

  const getInstances = (url: string): Promise<Response> =>
    fetch(`${url}/v4/vm/instances`, { headers: { authorization: `token ${sandbox.tokens.full}` } });

  test.each([
    ["nodenext", "nodenext"],
    ["bundler", "esnext"],
  ])(
    "its types and all documented programs compile with moduleResolution %s",
    async (moduleResolution, module) => {
      const files = DOCUMENTED.flatMap((page) =>
        typeScriptBlocks(page).map((code, index) =>
          writeProgram(`documented/${page.replaceAll("/", "-")}-${index}.ts`, `${code}export {};\n`),
        ),
      );
      expect(files.length).toBeGreaterThanOrEqual(17);
      const config = join(place, `tsconfig.${moduleResolution}.json`);
      const compilerOptions = {
        module,
        moduleResolution,
        target: "esnext",
        types: ["node"],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: false,
      };
      writeFileSync(config, JSON.stringify({ compilerOptions, files }));
      const tsc = join(REPOSITORY, "node_modules", ".bin", "tsc");
      const { stdout } = await execute(tsc, ["-p", config], { cwd: place }).catch((error: unknown) => ({
        stdout: (error as { stdout: string }).stdout,
      }));
      expect(stdout).toBe("");
    },
  );

  test("the README's program serves alpha, and the application's own routes beside it", async () => {
    const port = await freePort();
    const code = blockWith("README.md", "alphaGateway(");
    const program = runProgram("readme.ts", code.replace("listen(3000)", `listen(${port}, "127.0.0.1")`));
    const url = `http://127.0.0.1:${port}`;

    expect((await firstResponse(`${url}/health`)).status).toBe(200);
    const alpha = await getInstances(url);
    expect(alpha.status).toBe(200);
    expect(await alpha.json()).toMatchObject({ vms: expect.any(Array), page: 1 });
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ problems: [] });
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);

    program.signal("SIGTERM");
    expect((await program.ended).err).toBe("");
  });

  test("the guide's middleware keeps the audit, closes on SIGTERM, and exits", async () => {
    const port = await freePort();
    const code = blockWith("docs/guide/embed.md", "alphaGateway(");
    const program = runProgram("middleware.ts", code.replace("listen(3000)", `listen(${port}, "127.0.0.1")`));
    const url = `http://127.0.0.1:${port}`;
    await firstResponse(`${url}/health`);
    expect((await getInstances(url)).status).toBe(200);

    program.signal("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null, err: "" });
    const args = ["export", "--data-dir", join(place, "data")];
    const { out } = await run(args, { script: script(), cwd: place }).ended;
    expect(out).toContain('"route":"GET /vm/instances"');
  });

  // Express 5 with modules: the README's program.
  test.each([
    ["Express 5", "express", "commonjs"],
    ["Express 4", "express4", "module"],
  ])("serves alpha and v4 in an application of %s (%s, %s)", async (_version, express, type) => {
    const load =
      type === "module"
        ? `import express from "${express}"; import { alphaGateway } from "alpha-gateway";`
        : `const express = require("${express}"); const { alphaGateway } = require("alpha-gateway");`;
    const code = `${load}
      const gateway = alphaGateway({ upstream: "https://api.example.com", audit: "off", dataDir: "./data-of-${express}" });
      const app = express();
      app.use("/old", gateway);
      app.use(express.json());
      app.post("/orders", (request, response) => response.json(request.body));
      const server = app.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
      process.once("SIGTERM", () => { server.close(() => void gateway.close()); server.closeIdleConnections(); });`;
    const program = runProgram(`${express}.${type === "module" ? "mjs" : "cjs"}`, code);
    const [, port = ""] = await program.waitForOutput(/^port (\d+)$/m);
    const url = `http://127.0.0.1:${port}`;
    const send = (path: string, authorization: string, body?: object): Promise<Response> =>
      fetch(url + path, {
        method: body ? "POST" : "GET",
        headers: { authorization, "content-type": "application/json" },
        body: body ? JSON.stringify(body) : null,
      });
    const token = sandbox.tokens.full;

    expect(await (await send("/old/v4/vm/instances", `token ${token}`)).json()).toMatchObject({
      total_pages: 3,
    });
    const disk = { datacenter: "newark", type: "g6-standard-1" };
    expect((await send("/old/v4/vm/instances", `token ${token}`, disk)).status).toBe(200);
    expect(await (await send("/old/v4/vm/instances", `Bearer ${token}`)).json()).toMatchObject({ pages: 1 });
    expect(await (await send("/orders", "", { book: 7 })).json()).toEqual({ book: 7 });

    program.signal("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null, err: "" });
  });

  test("the guide's createGateway program serves alpha until SIGTERM", async () => {
    const code = blockWith("docs/guide/embed.md", "createGateway(");
    const program = runProgram("gateway.ts", code.replace("8080", "0").replace("8081", "0"));
    const [, url = "", admin = ""] = await program.waitForOutput(/^alpha: (\S+), admin: (\S+)$/m);

    expect(await (await getInstances(url)).json()).toMatchObject({ vms: expect.any(Array), page: 1 });
    expect((await fetch(`${admin}/readyz`)).status).toBe(200);

    program.signal("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null, err: "" });
  });

  test("the guide's test passes under Node's test runner", async () => {
    const file = writeProgram("client.test.ts", blockWith("docs/guide/embed.md", "node:test"));
    const { code, out } = await run(["--test", file], { script: [], cwd: place }).ended;
    expect(out).toMatch(/pass 1\n[^]*fail 0/);
    expect(code).toBe(0);
  });

  test("a store that cannot be opened is logged once", async () => {
    writeFileSync(join(place, "file"), "");
    const code = `
      import { createServer } from "node:http";
      import { alphaGateway } from "alpha-gateway";
      const gateway = alphaGateway({ sandbox: true, dataDir: "./file" });
      const server = createServer((request, response) => gateway(request, response, () => response.end()));
      server.listen(0, "127.0.0.1", async () => {
        const url = \`http://127.0.0.1:\${server.address().port}/v4/datacenters\`;
        console.log((await fetch(url)).status, (await fetch(url)).status);
        process.exit();
      });`;
    const { out, err } = await runProgram("broken.ts", code).ended;
    expect(out).toBe("500 500\n");
    expect(err.match(/AG_GATEWAY_OPEN_FAILED/g)).toHaveLength(1);
  });

  test("only the entry point can be imported", async () => {
    const { code, err } = await runProgram("deep.ts", `import "alpha-gateway/dist/app/start.js";`).ended;
    expect(err).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED");
    expect(code).toBe(1);
  });
});
