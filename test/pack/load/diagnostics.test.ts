import { describe, expect, test } from "@jest/globals";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { formatDiagnostic, PackError } from "../../../src/base/files/diagnostic.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { faultsOf, withPack } from "./pack-folder.ts";

/** Line and column, from 1, of a text in a file of the library's pack after one replacement. */
function placeOf(file: string, from: string, to: string, at: string): { line: number; column: number } {
  const text = readFileSync(`examples/library/pack/${file}`, "utf8").replace(from, () => to);
  const offset = text.indexOf(from === at ? to : at);
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

describe("a fault of a pack prevents the start, and is reported with file, line and column", () => {
  // name | file | replaced text | replacement | location of the diagnostic | message
  test.each([
    [
      "an unknown key of a file",
      "book.yaml",
      "list: books",
      "lists: books",
      "lists: books",
      'unknown key "lists"; did you mean "list"? there are: object, extends, upstream_object, list',
    ],
    [
      "an unknown key of a field",
      "book.yaml",
      "filter: true, aliases",
      "fliter: true, aliases",
      "fliter",
      'unknown key "fliter"; did you mean "filter"?',
    ],
    [
      "an unknown key of a route",
      "book.yaml",
      "response: list }",
      "response: list, respone: 1 }",
      "respone: 1",
      'unknown key "respone"',
    ],
    [
      "a missing key",
      "pack.yaml",
      "{ parameter: page }, size: 10",
      "{}, size: 10",
      "{}",
      'the key "parameter" is missing',
    ],
    [
      "a wrong type",
      "pack.yaml",
      "size: 10 }",
      "size: ten }",
      "ten",
      "must be a number or a map, but is a string",
    ],
    [
      "an unknown value kind",
      "book.yaml",
      "values: state",
      "values: stat",
      "stat, filter",
      'unknown value kind "stat"; did you mean "state"? there are: state, pounds, tray_kind',
    ],
    [
      "an unknown catalog",
      "book.yaml",
      "catalog: shelf",
      "catalog: shelve",
      "shelve,",
      'unknown catalog "shelve"; did you mean "shelf"? there are: shelf',
    ],
    [
      "an unknown object",
      "book.yaml",
      "number: id",
      "number: { upstream: id, object: boook }",
      "boook",
      'unknown object "boook"; did you mean "book"? there are: book, shelf',
    ],
    [
      "an unknown body",
      "book.yaml",
      "body: buy",
      "body: by",
      "by,",
      'unknown body "by"; did you mean "buy"? there are: buy',
    ],
    ["an unknown part", "book.yaml", "[stock]", "[stok]", "stok", 'unknown part "stok"'],
    ["an unknown call", "book.yaml", "[author]", "[autor]", "autor", 'unknown call "autor"'],
    [
      "an unknown scope",
      "book.yaml",
      "scope: books:write, calls",
      "scope: book:write, calls",
      "book:write",
      "is not public, token, or resource:level",
    ],
    [
      "an unknown level",
      "book.yaml",
      "scope: books:write, calls",
      "scope: books:wipe, calls",
      "books:wipe",
      "is not public, token, or resource:level",
    ],
    [
      "a route shown by none",
      "book.yaml",
      "body: buy, response",
      "body: buy, read_route: GET /boks, response",
      "GET /boks",
      'there is no route "GET /boks"',
    ],
    [
      "an upstream path parameter that the client's path lacks",
      "book.yaml",
      "upstream: GET /items/{number}\n",
      "upstream: GET /items/{id}\n",
      "GET /items/{id}",
      "unknown name {id}; there are: number",
    ],
    [
      "a path parameter that the upstream's path does not know",
      "book.yaml",
      "client: GET /books/:number",
      "client: GET /books/:nr",
      "GET /items/{number}",
      "unknown name {number}; there are: nr",
    ],
    [
      "an invalid call",
      "book.yaml",
      "upstream: POST /items",
      "upstream: SEND /items",
      "SEND",
      "is not METHOD /path",
    ],
    [
      "routes that overlap",
      "book.yaml",
      "client: POST /books,",
      "client: GET /books,",
      "GET /books, scope: books:write",
      "another route serves GET requests for the same paths",
    ],
    [
      "a field without a source",
      "book.yaml",
      "number: id",
      "number: { filter: true }",
      "{ filter: true }",
      'a field needs "upstream", "read" or "const"',
    ],
    [
      "a member of a schema that no rule knows",
      "book.yaml",
      "writer: { type: integer }",
      "editor: { type: string }",
      "type: object",
      '"editor" is in the schema',
    ],
    [
      "an invalid schema",
      "book.yaml",
      "type: number, minimum: 0",
      "type: numbr",
      "numbr",
      "not a JSON Schema",
    ],
    [
      "an invalid schema of a member",
      "book.yaml",
      "writer: { type: integer }",
      "writer: null",
      "null",
      "not a JSON Schema",
    ],
    [
      "an invalid schema of a part",
      "pack.yaml",
      "    schema: { properties: { pin: { type: string } } }",
      "    schema: { properties: [] }",
      "[] }",
      "not a JSON Schema",
    ],
    [
      "operators that do the same",
      "pack.yaml",
      "gte: $min",
      "gte: $more",
      "and: $all",
      "two operators have the spelling $more",
    ],
    [
      "a key that stands twice",
      "book.yaml",
      "  number: id",
      "  number: id\n  number: id",
      "number: id\n  title",
      "Map keys must be unique",
    ],
    [
      "an alias of nothing",
      "book.yaml",
      "number: id",
      "number: *id",
      "*id",
      "there is no anchor &id before this alias",
    ],
    [
      "a map within itself",
      "book.yaml",
      "number: id",
      "number: &id { upstream: *id }",
      "*id",
      "*id is inside the value that it repeats",
    ],
    [
      "a key that is a list",
      "book.yaml",
      "number: id",
      "[number]: id",
      "[number]",
      "a key can't be a map or a list",
    ],
    [
      "a key that repeats a map",
      "book.yaml",
      "number: id",
      "number: &id { upstream: id }\n  *id : id",
      "*id",
      "a key can't be a map or a list",
    ],
    ["a tag", "book.yaml", "number: id", "number: !!set { id }", "!!set", "Unresolved tag"],
    [
      "a list that is nested without end",
      "book.yaml",
      "number: id",
      `number: ${"[".repeat(196)}here${"]".repeat(196)}`,
      "here",
      "values are nested more than 200 levels deep",
    ],
    [
      "aliases of aliases, which multiply",
      "book.yaml",
      "number: id",
      `number: [&a [], &b [${"*a, ".repeat(100)}], &c [${"*b, ".repeat(50)}], *c]`,
      "*c",
      "the aliases of this file repeat more than 10000 values",
    ],
  ])("%s", (_what, file, from, to, at, message) => {
    const faults = faultsOf({ file, from, to });
    const { line, column } = placeOf(file, from, to, at);
    expect(faults).toContainEqual({ file, line, column, message: expect.stringContaining(message) });
  });

  test("a filter by a value that can't be translated to the upstream", () => {
    const faults = faultsOf({
      file: "pack.yaml",
      from: "{ read: { in: available, out: lent }, otherwise: unknown }",
      to: "{ read: $uppercase($value) }",
    });
    const place = { file: "book.yaml", line: 8, message: expect.stringContaining('"state" has no table') };
    expect(faults).toEqual([expect.objectContaining(place)]);
  });

  test("all faults of all files are reported together", () => {
    const faults = faultsOf(
      { file: "book.yaml", from: "values: state", to: "values: stat" },
      { file: "book.yaml", from: "catalog: shelf", to: "catalog: shelve" },
      { file: "shelf.yaml", from: "response: list", to: "response: lists" },
      { file: "pack.yaml", from: "'$value / $rate'", to: "'$value /'" },
    );
    expect(faults.map(({ file }) => file).sort()).toEqual([
      "book.yaml",
      "book.yaml",
      "pack.yaml",
      "shelf.yaml",
    ]);
  });

  test("a fault in a route hides no fault in the file's fields; an unreadable file has no further faults", () => {
    const route = { file: "book.yaml", from: "response: list }", to: "response: lists }" };
    const field = { file: "book.yaml", from: "values: state", to: "values: stat" };
    expect(faultsOf(route, field).map(({ message }) => message)).toEqual([
      '"lists" is not allowed here; did you mean "list"? there are: list, object, none, file',
      expect.stringContaining('unknown value kind "stat"'),
    ]);
    const lost = { file: "shelf.yaml", from: "object: shelf", to: "object: shelf\nobject: shelf" };
    expect(faultsOf(lost).map(({ message }) => message)).toEqual([
      "Map keys must be unique; remove one of the two, or rename it",
    ]);
  });

  test("a fault is printed with its line, a caret and a hint", () => {
    const edit = { file: "book.yaml", from: "values: state", to: "values: stat" };
    const text = withPack([edit], (folder) => {
      try {
        loadPack(folder);
        return "";
      } catch (error) {
        return (error as Error).message.replaceAll(`${folder}/`, "");
      }
    });
    const [, place = "", line = "", caret = "", hint = ""] = text.split("\n");
    expect(place).toMatch(/^book\.yaml:\d+:\d+: unknown value kind "stat"$/);
    expect(line.slice(caret.indexOf("^"))).toMatch(/^stat,/);
    expect(caret).toMatch(/^ +\| +\^$/);
    expect(hint).toBe('  hint: did you mean "state"? there are: state, pounds, tray_kind');
  });

  test("a fault in a long line is printed with the text around it, without control characters", () => {
    const formatted = formatDiagnostic({
      file: "a.yaml",
      line: 7,
      column: 301,
      message: "wrong",
      excerpt: `${"\u001b[2J\t".padEnd(300, "x")}here${"y".repeat(300)}`,
    });
    const [, line = "", caret = ""] = formatted.split("\n");
    expect(line.slice(caret.indexOf("^"))).toMatch(/^here/);
    expect(line.length).toBeLessThan(130);
    expect(formatted).not.toMatch(/[^\P{Cc}\n]/u);
  });

  test("a folder without pack.yaml and a missing folder are reported", () => {
    expect(() => loadPack("examples")).toThrow("there is no pack.yaml in this folder");
    expect(() => loadPack("examples/nowhere")).toThrow("can't be read");
  });
});

describe("an invalid expression", () => {
  const inField = (expression: string) =>
    faultsOf({ file: "book.yaml", from: "'$calls.loan.reader'", to: expression });
  const line = 11;
  const start = "  lent_to: { read: '".length + 1;

  test.each([
    ["that does not parse", "'a + '", 4, "not JSONata: Unexpected end of expression"],
    [
      "with a variable that nobody sets",
      "'a & $lone'",
      4,
      "unknown variable or function $lone; in addition to JSONata's own functions there are $value, $calls, $values",
    ],
    ["with a function that runs text as code", "'$eval(a)'", 0, "$eval can't be used"],
    ["with a clock", "'$now()'", 0, "$now can't be used"],
    ["with a die", "'a + $random()'", 4, "$random can't be used"],
    ["whose list collapses when it has one member", "'items[kind = \"x\"]'", 4, "write [ … ] around it"],
    ["whose mapped list collapses", "'items.{ \"a\": b }'", 6, "write [ … ] around it"],
    ["whose sorted list collapses", "'items^(a)'", 5, "write [ … ] around it"],
    ["whose list collapses inside an object", '\'{ "x": items.{ "a": b } }\'', 13, "write [ … ] around it"],
    ["whose list collapses in a branch", "'a ? items[b] : c'", 9, "write [ … ] around it"],
    ["that keeps one member, but not none", "'items[]'", 0, "write [ … ] around it"],
  ])("%s", (_what, expression, offset, message) => {
    const [fault] = inField(expression);
    expect(fault).toMatchObject({ file: "book.yaml", line, message: expect.stringContaining(message) });
    expect(Math.abs((fault?.column ?? 0) - start - offset)).toBeLessThanOrEqual(1);
  });

  test.each([
    "'[items[kind = \"x\"]]'",
    "'items[kind = \"x\"][0]'",
    "'items^(>a)[0].name'",
    "'$sum(items.price)'",
    "'a.b.c'",
  ])("%s is a warning, and the pack loads", (expression) => expect(inField(expression)).toEqual([]));

  test("in a block of several lines is reported with its own line", () => {
    const [fault] = faultsOf({
      file: "pack.yaml",
      from: "  pounds: { read: '$value / $rate', write: '$round($value * $rate)' }",
      to: "  pounds:\n    read: |\n      (\n        $x := $value;\n        $x / $nothing\n      )",
    });
    expect(fault).toMatchObject({
      file: "pack.yaml",
      line: 67,
      column: 14,
      message: expect.stringContaining("$nothing"),
    });
  });
});

/** What `check` prints of a book.yaml in a small pack: place, problem and hint. */
function problemsOf(book: string, pack = "format: 2\nclient: {}\nupstream: {}\n"): string[] {
  const folder = mkdtempSync(join(tmpdir(), "mistakes-"));
  try {
    writeFileSync(join(folder, "pack.yaml"), pack);
    writeFileSync(join(folder, "book.yaml"), book);
    loadPack(folder);
    return [];
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return error.diagnostics.map(
      ({ file, line, column, message, hint = "" }) =>
        `${basename(file)}:${line}:${column}: ${message}${hint && `; ${hint}`}`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the mistakes of a first pack are reported with what to write", () => {
  const FIELDS = "object: book\nlist: books\nfields:\n  id: id\n  title: name\n";
  const ROUTES = "routes:\n  - { client: GET /books, upstream: GET /items, response: list }\n";

  test("a hint fits the method of routes that overlap", () => {
    const twice = `routes:\n${"  - { client: GET /books/:id, upstream: 'GET /items/{id}' }\n".repeat(2)}`;
    expect(problemsOf(FIELDS + twice)).toEqual([
      `book.yaml:8:15: another route serves GET requests for the same paths; add a condition to all but the last of them: when: '$query.kind = "new"'`,
    ]);
  });

  test("a parameter of a page that filters have as well is reported with what to remove", () => {
    const client =
      "{ filters: { parameter: '{field}' }, pagination: { page: { parameter: title }, size: 5 } }";
    const pack = `format: 2\nclient: ${client}\nupstream: { filters: { parameter: '{field}' } }\n`;
    const fields = FIELDS.replace("title: name", "title: { upstream: name, filter: true }");
    expect(problemsOf(fields + ROUTES, pack).join("\n")).toContain(
      'name it in one place: "filter: true" of a field makes its parameter',
    );
  });

  test.each([
    [
      "a line that is indented too far",
      FIELDS.replace("  title", "   title") + ROUTES,
      "book.yaml:4:7: Nested mappings are not allowed in compact mappings; a key has a value or keys below it: compare the indentation of the next line",
    ],
    [
      "a tab",
      FIELDS.replace("  id", "\tid") + ROUTES,
      "book.yaml:4:1: Tabs are not allowed as indentation; indent with spaces",
    ],
    [
      "a path without quotes between braces",
      `${FIELDS}routes:\n  - { client: GET /books/:id, upstream: GET /items/{id} }\n`,
      'book.yaml:7:52: Unexpected flow-map-start at node end; write it in quotes, because of the braces: "GET /items/{id}"',
    ],
    [
      "a path without quotes between braces, with more behind them",
      `${FIELDS}routes:\n  - { client: GET /books/:id, upstream: GET /a/{id}/b.json }\n`,
      'book.yaml:7:48: Unexpected flow-map-start at node end; write it in quotes, because of the braces: "GET /a/{id}/b.json"',
    ],
    [
      "a name that the client's path does not have",
      `${FIELDS}routes:\n  - { client: GET /books, upstream: "GET /items/{id}" }\n`,
      "book.yaml:7:37: unknown name {id}; the client's path has no parameter, such as /:id",
    ],
    [
      "a field that is there twice",
      `${FIELDS}  title: label\n${ROUTES}`,
      "book.yaml:6:3: Map keys must be unique; remove one of the two, or rename it",
    ],
    [
      "a merge key",
      `${FIELDS}routes:\n  - &list { client: GET /books, upstream: GET /items, response: list }\n  - <<: *list\n    client: GET /works\n`,
      'book.yaml:8:5: the merge key "<<" of YAML is not supported; write the keys of both maps here; an alias (*name) repeats a whole value',
    ],
    ["an empty file", "", "book.yaml:1:1: must be a map, but is empty; it needs the keys object"],
    [
      "a list in place of a map",
      `object: book\nlist: books\nfields:\n  - id: id\n${ROUTES}`,
      "book.yaml:4:3: must be a map, but is a list; write its keys without hyphens",
    ],
    [
      "a map in place of a list",
      `${FIELDS}routes:\n  client: GET /books\n`,
      "book.yaml:7:3: must be a list, but is a map; start each entry with a hyphen",
    ],
  ])("%s", (_what, book, expected) => expect(problemsOf(book)).toEqual([expected]));

  test.each([
    [
      "a number",
      "fields: { id: 3 }",
      'must be a map, but is a number; if it is a text, write it in quotes: "3"',
    ],
    [
      "a number with a zero at its end, in a key of a field",
      "fields: { id: { upstream: 1.10 } }",
      'must be a string, but is a number; if it is a text, write it in quotes: "1.10"',
    ],
    [
      "a boolean",
      "fields: { id: { upstream: id, loss: true } }",
      'must be a string, but is a boolean; if it is a text, write it in quotes: "true"',
    ],
  ])("%s where a text is needed", (_what, fields, expected) =>
    expect(problemsOf(`object: book\n${fields}\n`)).toEqual([expect.stringContaining(expected)]),
  );

  test("a version that is a number, and a date, which is a text without quotes", () => {
    const upstream =
      "upstream: { version: { header: X-Version, value: 3 }, headers: { X-Date: 2026-01-02 } }";
    expect(problemsOf(FIELDS + ROUTES, `format: 2\nclient: {}\n${upstream}\n`)).toEqual([
      'pack.yaml:3:50: must be a string, but is a number; if it is a text, write it in quotes: "3"',
    ]);
  });
});
