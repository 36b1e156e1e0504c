/** `check --laws --new`: whatever the new API may respond, clients get values of the types of the old API. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { runCommandLine } from "../../../src/cli/program.ts";
import { captureCommands } from "../../support/command-output.ts";
import { withPack, type Edit } from "../mapping/pack-folder.ts";

const printed = captureCommands();

const DOCUMENTS = "test/unit/tools/laws";
const NEW = join(DOCUMENTS, "new-library.openapi.yaml");
const OLD = join(DOCUMENTS, "old-library.openapi.yaml");
const documents = mkdtempSync(join(tmpdir(), "documents-"));
afterAll(() => rmSync(documents, { recursive: true }));

/** A document with one text in place of another. */
function changed(file: string, from: string, to: string): string {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
  const path = join(documents, "changed.openapi.yaml");
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  return path;
}

/** Checks a pack with changes in it. `use` gets its folder and what was printed. */
const check = (
  edits: readonly Edit[],
  flags: readonly string[],
  use: (folder: string, output: string) => unknown = () => undefined,
): Promise<{ readonly code: number; readonly output: string }> =>
  withPack(edits, async (folder) => {
    const code = await runCommandLine(["check", folder, "--laws", ...flags]);
    const output = printed();
    await use(folder, output);
    return { code, output };
  });

const BOTH = ["--new", NEW, "--old", OLD];
/** Golden cases of the pack have no lost book. */
const NULL_STATE: Edit = {
  file: "book.yaml",
  from: "values: state, filter: true",
  to: "values: state, read: 'status = \"lost\" ? null : $value', filter: true",
};

describe("check --laws with documents of both APIs", () => {
  test("says of each field that it holds, or in how many cases nothing broke it", async () => {
    const { code, output } = await check([], BOTH);
    expect(output).toMatch(/^type: book\.title: no counterexample in \d+ cases$/m);
    expect(output).toContain("type: book.state: holds: all values were tried\n");
    expect(output).toContain("types of the old document: 15 verdicts, 0 counterexamples\n");
    expect(code).toBe(0);
  });

  test("prints the smallest JSON that breaks a type", async () => {
    const { code, output } = await check([NULL_STATE], BOTH);
    expect(output).toContain(
      'type: book.state in GET /books/:number: GET /items/{id} with {"id":1,"status":"lost","location":{"shelf_id":"a"},' +
        '"cost":{"pence":1},"bought":"2026-01-02T03:04:05"} gives null, expected one of "available", "lent", "unknown"\n',
    );
    expect(code).toBe(1);
  });

  test("finds a value that only a second call gives", async () => {
    const old = changed(OLD, "lent_to: { type: string }", "lent_to: { type: string, minLength: 1 }");
    const { output } = await check([], ["--new", NEW, "--old", old]);
    expect(output).toContain(
      'book.lent_to in GET /books/:number: GET /items/{id}/loan with {"reader":""} gives "", expected minLength 1\n',
    );
  });

  test.each([
    [
      "null where it is allowed",
      "pence: { type: integer, minimum: 0 }",
      "pence: { type: [integer, 'null'] }",
      "book.price",
    ],
    [
      "null, as OpenAPI 3.0 allows it",
      "bought: { type: string,",
      "bought: { nullable: true, type: string,",
      "book.since",
    ],
    ["a member that may be missing", "cost, bought]", "cost]", "book.since"],
    ["a long text", "maxLength: 60, pattern", "maxLength: 61, pattern", "book.title"],
    [
      "the other type of a union",
      "id: { type: integer, minimum: 1 }",
      "id: { oneOf: [{ type: integer }, { type: string }] }",
      "book.number",
    ],
    [
      "the other type of a list of types",
      "id: { type: integer, minimum: 1 }",
      "id: { type: [integer, string] }",
      "book.number",
    ],
    [
      "a type of a part of several",
      "id: { type: integer, minimum: 1 }",
      "id: { allOf: [{ type: number }, { minimum: 1 }] }",
      "book.number",
    ],
  ])("tries %s", async (_what, from, to, field) => {
    const { output } = await check([], ["--new", changed(NEW, from, to), "--old", OLD]);
    const broken = [...output.matchAll(/^type: (\S+) in /gm)].map(([, name]) => name);
    expect(broken).toEqual([field]);
  });

  test("tries a word that the new document does not have", async () => {
    const now = changed(NEW, "[in, out, lost]", "[in, out]");
    const old = join(documents, "old.openapi.yaml");
    writeFileSync(old, readFileSync(OLD, "utf8").replace("lent, unknown]", "lent]"));
    const { output } = await check([], ["--new", now, "--old", old]);
    expect(output).toMatch(/type: book\.state in .*"status":"u".* gives "unknown"/);
  });

  test("expects what the pack says of itself without an old document", async () => {
    const { output } = await check([], ["--new", NEW]);
    expect(output).toContain("types of the pack's own description:");
    expect(output).toMatch(/^type: book\.since: no counterexample/m);
    expect(output).toContain("type: shelf.room: not tested: the new document has none of its responses\n");
  });
});

describe("check --laws --golden", () => {
  test("writes a golden case that fails until the pack is mended, and changes none that is there", async () => {
    await check([NULL_STATE], [...BOTH, "--golden"], async (folder) => {
      const file = join(folder, "examples/book/counterexample-book-state.yaml");
      const text = readFileSync(file, "utf8");
      expect(await runCommandLine(["check", folder])).toBe(1);
      expect(printed()).toContain('body.state is null, expected "available"');

      writeFileSync(file, text.replace("state: available", "state: unknown"));
      const book = join(folder, "book.yaml");
      writeFileSync(book, readFileSync(book, "utf8").replace(NULL_STATE.to, NULL_STATE.from));
      expect(await runCommandLine(["check", folder, "--laws", ...BOTH, "--golden"])).toBe(0);
      expect(readFileSync(file, "utf8")).toContain("state: unknown");
    });
  });

  test("writes none where nothing breaks", async () => {
    await check([], [...BOTH, "--golden"], (folder) =>
      expect(existsSync(join(folder, "examples/book/counterexample-book-state.yaml"))).toBe(false),
    );
  });
});

describe("check --laws --format json", () => {
  test("has the verdict on each field, and a problem for each counterexample", async () => {
    const { code, output } = await check([NULL_STATE], [...BOTH, "--format", "json"]);
    const { problems, types } = JSON.parse(output);
    expect(problems).toEqual([
      expect.objectContaining({ code: "type", message: expect.stringMatching(/^book\.state in /) }),
    ]);
    expect(types).toContainEqual({
      subject: "book",
      field: "state",
      verdict: "counterexample",
      cases: expect.any(Number),
      reason: null,
      file: null,
      counterexample: {
        route: "GET /books/:number",
        call: "GET /items/{id}",
        value: expect.objectContaining({ status: "lost" }),
        actual: null,
        expected: 'one of "available", "lent", "unknown"',
      },
    });
    expect(new Set(types.map(({ verdict }: { verdict: string }) => verdict))).toEqual(
      new Set(["counterexample", "no-counterexample", "not-tested"]),
    );
    expect(code).toBe(1);
  });

  test("has a document that can't be read as a problem", async () => {
    const { code, output } = await check([], ["--new", "no-such-file.yaml", "--format", "json"]);
    expect([code, JSON.parse(output).problems]).toEqual([
      1,
      [
        expect.objectContaining({
          code: "unreadable",
          message: expect.stringContaining("no-such-file.yaml"),
        }),
      ],
    ]);
  });
});

describe("documents that check can't use", () => {
  test.each([
    ["without the new document", ["--old", OLD], "--old needs --new"],
    ["for golden cases alone", ["--golden"], "--golden needs --new"],
  ])("are an error %s", async (_what, flags, message) => {
    const { code, output } = await check([], flags);
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
  });

  test("belong to --laws", async () => {
    expect(await runCommandLine(["check", "test/fixtures/library-pack", "--new", NEW])).toBe(1);
    expect(printed()).toContain("--new, --old and --golden belong to --laws");
  });

  test.each([
    ["no OpenAPI document", "openapi: 3.1.0", "swagger: '2.0'", "It is no OpenAPI 3 document"],
    ["no YAML", "openapi: 3.1.0", "openapi: [", "can't be read"],
    [
      "a reference that leads nowhere",
      "#/components/schemas/Item",
      "#/components/schemas/Nothing",
      "can't be read",
    ],
  ])("are an error with their name: %s", async (_what, from, to, message) => {
    const file = changed(NEW, from, to);
    const { code, output } = await check([], ["--new", file]);
    expect([code, output]).toEqual([1, expect.stringContaining(`AG_OPENAPI_UNREADABLE: ${file}`)]);
    expect(output).toContain(message);
  });

  test("have no pattern that takes for ever", async () => {
    const slow = "pattern: '^(([a-z])+.)+[A-Z]([a-z])+$'";
    const old = changed(OLD, "maxLength: 60", slow);
    expect((await check([], ["--new", NEW, "--old", old])).output).toMatch(/^type: book\.title/m);
    const now = changed(NEW, 'pattern: "^[^\\\\n]*$"', slow);
    expect((await check([], ["--new", now, "--old", OLD])).output).toMatch(/^type: book\.title/m);
  });

  test("may describe more than can be tried", async () => {
    const members = Array.from({ length: 3000 }, (_, index) => `m${index}: { type: string }`).join(
      "\n        ",
    );
    const wide = changed(
      NEW,
      "id: { type: integer, minimum: 1 }",
      `id: { type: integer }\n        ${members}`,
    );
    const { output } = await check([], ["--new", wide, "--old", OLD]);
    expect(output).toMatch(/^type: book\.state: no counterexample in \d+ cases$/m);
  });
});
