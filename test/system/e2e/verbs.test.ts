import { afterEach, describe, expect, test } from "vitest";
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
    [["check", "--help"], "alpha-gateway check [DIR]"],
    [["explain", "--help"], "alpha-gateway explain 'METHOD /path'"],
    [["report", "--help"], "alpha-gateway report [--format"],
    [["export", "--help"], "alpha-gateway export [--format"],
    [["replay", "--help"], "alpha-gateway replay --from"],
    [["openapi", "--help"], "alpha-gateway openapi [DIR]"],
    [["sandbox", "--help"], "alpha-gateway sandbox"],
  ])("%j", async (args, told) => {
    const { code, out, err } = await run(args).ended;

    expect(out).toContain(told);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("serve lists every setting with its default", async () => {
    const { out } = await run(["serve", "--help"]).ended;

    expect(out).toMatch(/^ {2}--port +PORT +8080$/m);
    expect(out).toMatch(/^ {2}--rate-limit-create +RATE_LIMIT_CREATE +10\/30$/m);
    expect(out).toMatch(/^ {2}--admin-token +ADMIN_TOKEN +unset$/m);
  });
});

test.each(["sreve", "constructor", "--port"])("there is no verb %s", async (verb) => {
  const { code, out, err } = await run([verb]).ended;

  expect(err).toContain(`There is no verb "${verb}".`);
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("check finds no fault in the pack that comes along, and prints what it covers", async () => {
  const { code, out } = await run(["check"]).ended;

  expect(out).toMatch(
    /^\d+ routes, \d+ objects, \d+ fields\nfields by class: .+\nsurface: \d+ of \d+ routes answered, (\d+) of \1 fields named\n/,
  );
  expect(out).toMatch(/^ {2}POST \/feedback +400 This call has no counterpart/m);
  expect(out).toMatch(/\nexpressions compiled \d+, interpreted 0\n\d+ examples passed\n$/);
  expect(code).toBe(0);
});

test("check tells each fault with its line and a hint, and ends with 1", async () => {
  const folder = createFolder();
  cpSync("test/fixtures/library-pack", folder, { recursive: true });
  const book = join(folder, "book.yaml");
  writeFileSync(book, readFileSync(book, "utf8").replace("as: state", "as: stat"));
  const wrong = await run(["check", folder]).ended;
  expect(wrong.out).toMatch(
    /book\.yaml:\d+:\d+: unknown value kind "stat"\n +\d+ \| .+\n +\| +\^\n +hint: did you mean "state"\?/,
  );
  expect(wrong.out).toMatch(/\n1 fault\n$/);
  expect(wrong.code).toBe(1);

  writeFileSync(book, readFileSync(book, "utf8").replace("as: stat", "as: state"));
  writeFileSync(join(folder, "surface.yaml"), "objects: { book: { blurb: string } }\nroutes: []\n");
  const silent = await run(["check", folder]).ended;
  expect(silent.out).toContain('surface.yaml:1:20: the pack does not name the field "blurb" of book');
  expect(silent.code).toBe(1);
});

test("check --schema prints what editors complete from", async () => {
  const { code, out } = await run(["check", "--schema", "resource"]).ended;

  expect(JSON.parse(out)).toMatchObject({ type: "object", required: expect.arrayContaining(["object"]) });
  expect(code).toBe(0);
  expect(await run(["check", "--schema", "nonsense"]).ended).toMatchObject({
    code: 1,
    err: expect.stringContaining("pack, resource, surface, example"),
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

    expect(out).toContain(`curl "$V4"'/v4/vm/instances?page=2&page_size=25'`);
    expect(out).toContain(`-H 'X-Filter: {"region":"us-east"}'`);
    expect(code).toBe(0);
  });

  test.each([
    [["GET /vm/instances", "-H", "nonsense"], '-H "nonsense" is not "Name: value"'],
    [["POST /vm/instances", "-d", "{"], "-d is not JSON"],
    [["GET /vm/instances", "--frequency", "2"], "--frequency"],
  ])("%j is refused in a line", async (args, told) => {
    const { code, err } = await run(["explain", ...args]).ended;

    expect(err).toContain(told);
    expect(err).not.toMatch(/^ +at /m);
    expect(code).toBe(1);
  });
});

test("sandbox runs v4 alone, until a signal", async () => {
  const sandbox = run(["sandbox", "--port", "0"], { cwd: createFolder() });
  const [, url = "", token = ""] = await sandbox.waitForOutput(/^v4 sandbox +(\S+)[^]*^ +full +(\S+)$/m);

  const answer = await fetch(`${url}/v4/vm/instances`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ data: expect.any(Array), page: 1 });

  sandbox.signal("SIGTERM");
  expect(await sandbox.ended).toMatchObject({ code: 0, signal: null, err: "" });
});
