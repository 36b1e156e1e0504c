import { describe, expect, test } from "vitest";
import { loadPack } from "../../../src/mapping/load/load-pack.ts";
import { sendToLibrary } from "./library-gateway.ts";
import { faultsOf, withPack, type Edit } from "./pack-folder.ts";

const book = (from: string, to: string): Edit => ({ file: "book.yaml", from, to });
const dialect = (from: string, to: string): Edit => ({ file: "pack.yaml", from, to });

const diagnosticsOf = (edit: Edit): string[] =>
  faultsOf(edit).map(({ file, line, message }) => `${file}:${line}: ${message}`);

describe("check reports a value that can never work", () => {
  test.each([
    ["a status of 50000", dialect("other: 500", "other: 50000"), "29: must be at most 599"],
    ["a status of 7", dialect("alpha: 503", "alpha: 7"), "27: must be at least 200"],
    ["a header with a space", dialect("X-Where", "X Where"), "34: is not the name of a header"],
    ["another header with a space", dialect("X-True-Status", "X True"), "11: is not the name of a header"],
    ["a scheme with a space", dialect("scheme: Token", "scheme: My Token"), "16: is not a scheme"],
    ["a prefix without a slash", dialect("prefix: /old", "prefix: old"), "6: is not the start of a path"],
    ["a page size above the largest", dialect("page_size: 10", "page_size: 51"), "9: a page of 51 is larger"],
    [
      "a query in the path of a route",
      book("GET /books,", "GET /books?x=1,"),
      "31: the path of a route has no query",
    ],
    ["a fragment in a v4 path", book("v4: POST /items", "v4: POST /items#x"), "37: a path has no fragment"],
    [
      "a required member that is no property",
      book("required: [shelf]", "required: [shelv]"),
      '23: "shelv" is not a property of this schema; did you mean "shelf"?',
    ],
    [
      "a required member of a condition that is no property",
      book("required: [shelf]", "anyOf: [{ required: [shelf] }, { required: [shelv] }]"),
      '23: "shelv" is not a property of this schema; did you mean "shelf"?',
    ],
    [
      "a property with a dot",
      book("title: { type: string, maxLength: 9 }", "location.room: { type: string }"),
      '25: the property "location.room" has a dot in its name, so no member is ever found under it; write a nested object: location: { type: object, properties: { room: … } }',
    ],
    [
      "a broken expression for writing a field that is in no body",
      book("type: date-time, filter", "type: date-time, write: '$value +', filter"),
      "11: not JSONata",
    ],
    [
      "an unknown value kind of an input that is in no body",
      book("  writer: {", "  other: { v4: x, as: stat }\n  writer: {"),
      '14: unknown value kind "stat"; did you mean "state"?',
    ],
    [
      "a body of a route that sends a GET to v4",
      book("v4: POST /items, body", "v4: GET /items, body"),
      '37: "body" has no effect',
    ],
    [
      "a prerequisite of a list that is fetched completely",
      { file: "tray.yaml", from: "v4: GET /store,", to: "v4: GET /store, first: [tray]," },
      '"first" has no effect',
    ],
  ] as const)("%s", (_what, edit, message) =>
    expect(diagnosticsOf(edit)).toEqual([expect.stringContaining(message)]),
  );
});

describe("check reports one mistake once", () => {
  test.each([
    [
      "one field that is indented less",
      book("  title:  { v4: name", "title:  { v4: name"),
      "7: All mapping items must start",
    ],
    ["a key that is indented less", dialect("  scheme: key\n", "scheme: key\n"), "pack.yaml:7: "],
    [
      "a map whose keys are not indented",
      dialect("v4:\n  prefix: /api/new\n  scheme: Token\n", "v4:\nprefix: /api/new\nscheme: Token\n"),
      "compare the indentation",
    ],
    [
      "a rule that is indented like the schema around it",
      book("      properties:\n        title", "    properties:\n        title"),
      '24: unknown key "properties"',
    ],
    [
      "two files with the same object",
      { file: "tray.yaml", from: "object: tray", to: "object: book" },
      'tray.yaml:2: book.yaml has the object "book" already',
    ],
    [
      "a value kind that is invalid and used",
      dialect("{ in: available, out: lent }, otherwise", "5, otherwise"),
      "must be a map or a string, but is a number",
    ],
    [
      "a route whose only source is invalid",
      book("v4: POST /items, body", "refuse: 5, body"),
      "37: must be a string or a map, but is a number",
    ],
    [
      "a required key under a similar name",
      dialect("page: page", "pag: page"),
      'unknown key "pag"; did you mean "page"?',
    ],
    [
      "a file that is no map",
      { file: "shelf.yaml", from: "object: shelf", to: "- object: shelf" },
      "shelf.yaml:2: ",
    ],
  ] as const)("%s", (_what, edit, message) =>
    expect(diagnosticsOf(edit)).toEqual([expect.stringContaining(message)]),
  );

  test("an empty map whose keys follow at its own level says what to indent", () => {
    const text = "errors: { list: problems, reason: text, field: at }";
    expect(diagnosticsOf(dialect(text, "errors:\nlist: problems\nreason: text\nfield: at"))).toEqual([
      'pack.yaml:23: "errors" is empty; indent "list", "reason", "field" further: these keys are at its own level',
    ]);
  });
});

describe("check words a problem for authors", () => {
  test.each([
    [
      "an unknown keyword",
      book("maxLength: 9", "maxlength: 9"),
      '25: not a JSON Schema: unknown keyword "maxlength"; did you mean "maxLength"?',
    ],
    [
      "a wrong value of a keyword",
      book("maxLength: 9", "maxLength: nine"),
      "25: not a JSON Schema: must be integer",
    ],
    [
      "an unknown type",
      book("type: number, minimum", "type: numbr, minimum"),
      '27: not a JSON Schema: "numbr" is not allowed here; did you mean "number"?',
    ],
    [
      "an unknown format",
      book("{ type: integer }", "{ type: string, format: dat }"),
      '28: unknown format "dat"; there are: ip',
    ],
    [
      "a pattern that is none",
      book("{ type: integer }", "{ type: string, pattern: '(' }"),
      "28: not a regular expression of a pack",
    ],
    ["an empty name", dialect("page: page", "page: ''"), "17: must not be empty"],
    ["a number below the smallest", dialect("largest: 50", "largest: 0"), "18: must be above 0"],
    [
      "a value of a wrong type",
      dialect("'$value / $rate'", "5"),
      "must be a map or a string, but is a number",
    ],
    [
      "a wrong value inside one form of a key",
      book("v4: POST /items, body", "refuse: { reason: x, status: 402 }, body"),
      "37: status: 402 is not allowed here",
    ],
    ["a number that JSON does not have", book("origin: gateway", "origin: .inf"), "19: is not a JSON value"],
    [
      "a missing key with a simple value",
      dialect("  scheme: key\n", ""),
      'the key "scheme" is missing; scheme: ',
    ],
    [
      "a missing key with a map",
      dialect("  page_size: { parameter: per_page, largest: 50 }\n", ""),
      'the key "page_size" is missing; page_size: { parameter: …, largest: … }',
    ],
  ] as const)("%s", (_what, edit, message) => {
    const found = diagnosticsOf(edit);
    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found[0]).not.toMatch(/strict mode|expected string|Invalid input/);
  });
});

describe("paths to v4", () => {
  const listOf = (rows: readonly unknown[]) =>
    [200, { rows, page: 1, last_page: 1, total: rows.length }] as const;
  const get = (path: string, ...edits: Edit[]) =>
    sendToLibrary({ edits }, { method: "GET", path }, () => listOf([]));

  test("of a list with its own query get the page as further parameters", async () => {
    const { sent } = await get("/old/books?page=2", book("v4: GET /items,", "v4: 'GET /items?kind=book',"));
    expect(sent.map(({ call }) => call)).toEqual(["GET /api/new/items?kind=book&page=2&per_page=10"]);
    const tray = { file: "tray.yaml", from: "v4: GET /store,", to: "v4: 'GET /store?all=1'," };
    const collected = await get("/old/every-tray", tray);
    expect(collected.sent.map(({ call }) => call)).toEqual(["GET /api/new/store?all=1&page=1&per_page=50"]);
  });

  test("with a query need the same scopes of native requests as without it", () => {
    const pack = withPack([book("v4: GET /items,", "v4: 'GET /items?kind=book',")], loadPack);
    expect(pack.v4Access("GET", "/api/new/items")?.required).toEqual([{ resource: "books", level: 0 }]);
  });

  test.each(["/", "/api/new/", "/api/new"])("with the prefix %s have no empty segment", async (prefix) => {
    const { sent } = await get("/old/books", dialect("prefix: /api/new", `prefix: ${prefix}`));
    expect(sent[0]?.call).toBe(`GET ${prefix === "/" ? "" : "/api/new"}/items?page=1&per_page=10`);
  });

  test("of a GET may use the response of a prerequisite", async () => {
    const edits = [
      dialect("v4: \"GET /crates/{number}\", when: '$exists(stands)'", 'v4: "GET /crates/{number}"'),
      book(
        "- alpha: GET /books/:number\n    scope: books:look\n    v4: GET /items/{number}\n",
        "- alpha: GET /books/:number\n    scope: books:look\n    first: [tray]\n    v4: GET /items/{tray.item}\n",
      ),
    ];
    const { sent, status } = await sendToLibrary({ edits }, { method: "GET", path: "/old/books/5" }, (call) =>
      call.includes("crates") ? [200, { item: 7 }] : [200, { id: 7 }],
    );
    expect([status, sent.map(({ call }) => call)]).toEqual([
      200,
      ["GET /api/new/crates/5", "GET /api/new/items/7"],
    ]);
  });
});

test("an alpha prefix of / serves routes at the top", async () => {
  const { status } = await sendToLibrary(
    { edits: [dialect("prefix: /old", "prefix: /")] },
    { method: "GET", path: "/books/5" },
    () => [200, { id: 5 }],
  );
  expect(status).toBe(200);
});
