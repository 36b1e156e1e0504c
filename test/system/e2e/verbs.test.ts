import { afterEach, describe, expect, test } from "@jest/globals";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, run } from "./program.ts";

afterEach(async () => {
  await killAll();
  removeFolders();
});

describe("--help", () => {
  test.each([
    [[], "serve "],
    [["--help"], "serve "],
    [["-h"], "serve "],
    [["help"], "serve "],
    [["serve", "--help"], "--upstream-url"],
    [["check", "--help"], "alpha-gateway check [options] [directory]"],
    [["explain", "--help"], "alpha-gateway explain [options] <request>"],
    [["report", "--help"], "--format <format>"],
    [["export", "--help"], "--format <format>"],
    [["replay", "--help"], "--from <source>"],
    [["openapi", "--help"], "alpha-gateway openapi [options] [directory]"],
    [["sandbox", "--help"], "alpha-gateway sandbox"],
  ])("%j", async (args, text) => {
    const { code, out, err } = await run(args).ended;

    expect(out).toContain(text);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("serve lists every setting with its default", async () => {
    const { out } = await run(["serve", "--help"]).ended;
    const help = out.replaceAll(/\s+/g, " ");

    expect(help).toContain("--port <value> Port of the public listener (default: 8080, env: PORT)");
    expect(help).toMatch(/ --rate-limit-create <value> [^(]+ \(default: 10\/30, env: RATE_LIMIT_CREATE\) /);
    expect(help).toMatch(/ --admin-token <value> [^(]+ \(env: ADMIN_TOKEN\) /);
  });
});

test.each([
  ["sreve", "AG_USAGE: unknown command 'sreve'\n(Did you mean serve?)\n"],
  ["constructor", "AG_USAGE: unknown command 'constructor'\n"],
  ["--port", "AG_USAGE: unknown option '--port'\n"],
])("%s is not a command", async (verb, message) => {
  const { code, out, err } = await run([verb]).ended;

  expect(err).toContain(message);
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("check finds no problem in the included pack, and prints what it covers", async () => {
  const { code, out } = await run(["check"]).ended;

  expect(out).toMatch(
    /^\d+ routes, \d+ objects, \d+ fields\nfields by class: .+\nsurface: \d+ of \d+ routes mapped, (\d+) of \1 fields mapped\n/,
  );
  expect(out).toMatch(/^ {2}POST \/feedback +400 This call has no counterpart/m);
  expect(out).toMatch(
    /\nexpressions compiled \d+, interpreted 0\ngolden cases: (\d+) of \1 routes, .+\n {2}without a golden case: .+\n\d+ examples passed\n$/,
  );
  expect(code).toBe(0);
});

test("check prints each problem with its line and a hint, and ends with 1", async () => {
  const folder = createFolder();
  cpSync("examples/library/pack", folder, { recursive: true });
  const book = join(folder, "book.yaml");
  writeFileSync(book, readFileSync(book, "utf8").replace("values: state", "values: stat"));
  const wrong = await run(["check", folder]).ended;
  expect(wrong.out).toMatch(
    /book\.yaml:\d+:\d+: unknown value kind "stat"\n +\d+ \| .+\n +\| +\^\n +hint: did you mean "state"\?/,
  );
  expect(wrong.out).toMatch(/\n1 problem\n$/);
  expect(wrong.code).toBe(1);

  writeFileSync(book, readFileSync(book, "utf8").replace("values: stat", "values: state"));
  writeFileSync(join(folder, "surface.yaml"), "objects: { book: { blurb: string } }\nroutes: []\n");
  const silent = await run(["check", folder]).ended;
  expect(silent.out).toContain('surface.yaml:1:20: the pack does not map the field "blurb" of book');
  expect(silent.code).toBe(1);
});

test("check --schema prints a JSON Schema for editors", async () => {
  const { code, out } = await run(["check", "--schema", "resource"]).ended;

  expect(JSON.parse(out)).toMatchObject({ type: "object", required: expect.arrayContaining(["object"]) });
  expect(code).toBe(0);
  expect(await run(["check", "--schema", "nonsense"]).ended).toMatchObject({
    code: 1,
    err: expect.stringContaining("resource, pack, surface, example"),
  });
});

test("openapi prints a description of what clients see", async () => {
  const { code, out } = await run(["openapi"]).ended;

  expect(JSON.parse(out)).toMatchObject({ openapi: "3.1.1", paths: { "/vm/instances": { get: {} } } });
  expect(code).toBe(0);
});

describe("explain", () => {
  test("prints the v4 call as curl, and sends nothing", async () => {
    const call = "GET /vm/instances?page=2";
    const { code, out } = await run(["explain", call, "-H", 'X-Filter: {"datacenter": "newark"}']).ended;

    expect(out).toContain(`curl -g "$V4"'/v4/vm/instances?page=2&page_size=25'`);
    expect(out).toContain(`-H 'X-Filter: {"region":"us-east"}'`);
    expect(code).toBe(0);
  });

  test.each([
    [["GET /vm/instances", "-H", "nonsense"], '-H "nonsense" is not "Name: value"'],
    [["POST /vm/instances", "-d", "{"], "-d is not valid JSON"],
    [["GET /vm/instances", "--frequency", "2"], "--frequency"],
  ])("%j is rejected with a message", async (args, message) => {
    const { code, err } = await run(["explain", ...args]).ended;

    expect(err).toContain(message);
    expect(err).not.toMatch(/^ +at /m);
    expect(code).toBe(1);
  });
});

test("sandbox runs v4 alone, until a signal", async () => {
  const sandbox = run(["sandbox", "--port", "0"], { cwd: createFolder() });
  const [, url = "", token = ""] = await sandbox.waitForOutput(/^v4 sandbox +(\S+)[^]*^ +full +(\S+)$/m);

  const response = await fetch(`${url}/v4/vm/instances`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ data: expect.any(Array), page: 1 });

  sandbox.signal("SIGTERM");
  expect(await sandbox.ended).toMatchObject({ code: 0, signal: null, err: "" });
});
