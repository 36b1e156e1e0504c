/** `alpha-gateway init --old --new`, in this process: what a draft has, and what becomes of documents that nobody should trust. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { toVisibleText } from "../../../src/base/text/visible-text.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { summarizePack } from "../../../src/pack/load/pack-summary.ts";
import { v4Document } from "../../spec/v4-document.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { sampleRecord } from "../../audit/record/sample-record.ts";

const printed = captureCommands();
let top: string;
beforeEach(() => {
  top = temporaryFolder();
});

const pack = (): string => join(top, "pack");

function save(name: string, content: unknown): string {
  const file = join(top, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

const init = (old: string, now: string, ...flags: string[]): Promise<number> =>
  runCommandLine(["init", pack(), "--old", old, "--new", now, ...flags]);

const read = (name: string): string => readFileSync(join(pack(), name), "utf8");

type Schema = Readonly<Record<string, unknown>>;

const json = (schema: Schema): Schema => ({
  description: "",
  content: { "application/json": { schema } },
});

/** A document with a list, an object and an edit of it. */
const libraryDocument = (path: string, properties: Schema, openapi = "3.1.0"): Schema => ({
  openapi,
  info: { title: "A library", version: "1" },
  servers: [{ url: "https://{host}/{version}", variables: { version: { default: "v1" } } }],
  paths: {
    [path]: {
      get: {
        parameters: [{ name: "sort", in: "query", schema: { type: "string" } }],
        responses: { 200: json({ type: "array", items: { $ref: "#/components/schemas/Book" } }) },
      },
    },
    [`${path}/{id}`]: {
      get: { responses: { 200: json({ $ref: "#/components/schemas/Book" }) } },
      put: {
        requestBody: json({ $ref: "#/components/schemas/Book" }),
        responses: { 200: json({ $ref: "#/components/schemas/Book" }) },
      },
    },
    [`${path}/{id}/cover`]: { delete: { responses: { 204: { description: "" } } } },
  },
  components: { schemas: { Book: { type: "object", properties } } },
});

const text = { type: "string" };
const OLD = libraryDocument("/books", {
  id: { type: "integer" },
  page_count: { type: "integer" },
  state: { type: "string", enum: ["on_loan", "on_shelf"] },
  shelf: text,
  binding: text,
});
const NEW = libraryDocument("/items/books", {
  id: { type: "integer" },
  pageCount: { type: "integer" },
  loanState: { type: "string", enum: ["ON_LOAN", "ON_SHELF", "LOST"] },
  shelf: { type: "integer" },
});

const fieldsOf = (object: string): Readonly<Record<string, string | null>> => {
  const found = summarizePack(loadPack(pack())).objects.find(({ name }) => name === object);
  return Object.fromEntries((found?.fields ?? []).map(({ name, v4 }) => [name, v4]));
};

const routes = (): string[] =>
  summarizePack(loadPack(pack())).routes.map(({ alpha, v4 }) => `${alpha} = ${v4}`);

const openPoints = (): string[] =>
  (loadPack(pack()).surface?.openPoints ?? []).map(({ name, usage }) => `${name}: ${usage}`);

describe("a draft", () => {
  test("has the fields and routes that are the same, each with confidence and reason, and passes check", async () => {
    const code = await init(save("old.json", OLD), save("new.yaml", stringify(NEW)));
    expect([code, printed()]).toEqual([0, expect.stringContaining("4 routes, 1 object, 3 fields")]);
    expect(fieldsOf("book")).toEqual({ id: "id", page_count: "pageCount", state: "loanState" });
    expect(routes()).toEqual([
      "GET /books = GET /v1/items/books",
      "GET /books/:id = GET /v1/items/books/{id}",
      "PUT /books/:id = PUT /v1/items/books/{id}",
      "DELETE /books/:id/cover = DELETE /v1/items/books/{id}/cover",
    ]);
    expect(read("book.yaml")).toMatch(
      /^ {2}page_count: "pageCount" # 0\.\d\d: name differs by its spelling only, same type \(integer\)$/m,
    );
    expect(read("book.yaml")).toMatch(
      /^ {2}state: "loanState" # 0\.\d\d: .*the same words in both enumerations/m,
    );
    expect(read("book.yaml")).toMatch(
      /^ {2}# 0\.\d\d: same method, .*% of the fields are alike\n {2}- client: "GET \/books"$/m,
    );
  });

  test("has open points for the rest, which check lists until the pack maps them", async () => {
    await init(save("old.json", OLD), save("new.json", NEW));
    expect(openPoints()).toEqual([
      "book.shelf: 3 routes",
      "book.binding: 3 routes",
      "GET /books: sort: a query parameter, 1 route",
      "PUT /books/:id: shelf: a member of the body, 1 route",
      "PUT /books/:id: binding: a member of the body, 1 route",
    ]);
    expect(printed()).toContain("open points 5:\n  book.shelf: 3 routes\n");
    writeFileSync(
      join(pack(), "book.yaml"),
      read("book.yaml").replace("fields:\n", 'fields:\n  shelf: { const: null, loss: "not known" }\n'),
    );
    expect(await runCommandLine(["check", pack(), "--format", "json"])).toBe(0);
    const report = printed().slice(printed().lastIndexOf('{\n  "problems"'));
    const { summary } = JSON.parse(report) as {
      readonly summary: { readonly openPoints: readonly object[] };
    };
    expect(summary.openPoints).toHaveLength(4);
    expect(summary.openPoints[0]).toEqual({ name: "book.binding", usage: "3 routes" });
  });

  test("translates requests at once", async () => {
    await init(save("old.json", OLD), save("new.json", NEW));
    const body = '{"page_count":3,"binding":"paper"}';
    const code = await runCommandLine(["explain", "--mappings-dir", pack(), "PUT /v1/books/7", "-d", body]);
    expect([code, printed()]).toEqual([0, expect.stringContaining("/v1/items/books/7")]);
    expect(printed()).toContain('{"pageCount":3}');
  });

  test("of the same document twice has all of it under the same names", async () => {
    const file = save("v4.json", v4Document());
    expect(await init(file, file)).toBe(0);
    const { objects, routes: all } = summarizePack(loadPack(pack()));
    expect(
      all.filter(({ alpha, v4 }) => alpha.replaceAll(/:(\w+)/g, "{$1}") !== v4.replace("/v4", "")),
    ).toEqual([]);
    expect(objects.flatMap(({ fields }) => fields.filter(({ name, v4 }) => name !== v4))).toEqual([]);
    expect(printed()).toMatch(/surface: (\d+) of \1 routes mapped, (\d+) of \2 fields mapped/);
  });

  test("of two documents that have nothing in common claims nothing, and passes check", async () => {
    const other = libraryDocument("/weather/stations", {
      id: { type: "integer" },
      altitude: { type: "number" },
    });
    const { paths } = other as { paths: Record<string, Schema> };
    const rainfall = { [`/weather/stations/{id}/rainfall`]: paths["/weather/stations"] };
    expect(await init(save("old.json", OLD), save("new.json", { ...other, paths: rainfall }))).toBe(0);
    expect(routes()).toEqual([]);
    expect(openPoints()).toContain("GET /books: 1 route");
  });

  test("claims nothing of two enumerations without a common word", async () => {
    const words = (...all: string[]) => ({ title: text, state: { type: "string", enum: all } });
    const [old, now] = [libraryDocument("/books", words("open")), libraryDocument("/books", words("A", "B"))];
    expect(await init(save("old.json", old), save("new.json", now))).toBe(0);
    expect(fieldsOf("book")).toEqual({ title: "title" });
    expect(openPoints()).toContain("book.state: 3 routes");
  });

  test("claims nothing where two new fields are as good", async () => {
    const old = libraryDocument("/books", { id: text, author: text, size: text });
    const now = libraryDocument("/books", { id: text, first_author: text, second_author: text, size: text });
    expect(await init(save("old.json", old), save("new.json", now))).toBe(0);
    expect(fieldsOf("book")).toEqual({ id: "id", size: "size" });
  });

  test("leaves out a parameter that all old paths begin with", async () => {
    const old = libraryDocument("/{tenant}/books", { id: text, title: text, size: text });
    const now = libraryDocument("/books", { id: text, title: text, size: text });
    expect(await init(save("old.json", old), save("new.json", now))).toBe(0);
    expect(routes()).toEqual([
      "GET /:tenant/books = GET /v1/books",
      "GET /:tenant/books/:id = GET /v1/books/{id}",
      "PUT /:tenant/books/:id = PUT /v1/books/{id}",
      "DELETE /:tenant/books/:id/cover = DELETE /v1/books/{id}/cover",
    ]);
  });

  test.each([
    ["claims nothing of amounts and codes without a unit or a format in common", "", "", { id: "id" }],
    [
      "claims amounts and codes with a unit or a format in common",
      "In cents. ISO 3166",
      "The value in cents, by ISO 3166",
      { id: "id", balance: "balance", country: "country" },
    ],
  ])("%s", async (_what, ofOld, ofNew, fields) => {
    const members = (description: string, others: Schema): Schema => ({
      id: text,
      ...others,
      balance: { type: "number", description },
      country: { ...text, description },
    });
    const old = libraryDocument("/books", members(ofOld, { binding: { type: "boolean" } }));
    const now = libraryDocument("/books", members(ofNew, {}));
    expect(await init(save("old.json", old), save("new.json", now))).toBe(0);
    expect(fieldsOf("book")).toEqual(fields);
    for (const name of ["balance", "country"])
      expect(openPoints().includes(`book.${name}: 3 routes`)).toBe(!Object.hasOwn(fields, name));
  });

  test("reads OpenAPI 3.0, with null as it says it", async () => {
    const nullable = { type: "string", nullable: true };
    const old = libraryDocument("/books", { id: text, note: nullable, title: text }, "3.0.3");
    expect(await init(save("old.yaml", stringify(old)), save("new.json", old))).toBe(0);
    expect(loadPack(pack()).surface?.objects.get("book")?.get("note")).toMatchObject({
      name: "string",
      nullable: true,
    });
  });

  test("ignores extensions, which may name the fields of the new API", async () => {
    const named = (name: string) => ({ type: "string", "x-new-field": name });
    const old = libraryDocument("/books", {
      id: text,
      title: named("alpha"),
      author: text,
      kind: named("beta"),
    });
    const now = libraryDocument("/books", { id: text, alpha: text, author: text, beta: text, other: text });
    expect(await init(save("old.json", old), save("new.json", now))).toBe(0);
    expect(fieldsOf("book")).not.toMatchObject({ kind: "beta" });
  });
});

describe("with recorded calls", () => {
  let ids = 0;
  function call(target: string): AuditRecord {
    const [method = "", path = ""] = target.split(" ");
    ids += 1;
    return {
      ...sampleRecord(`r${ids}`, { client: "c1", lane: "legacy", accepted: true }),
      alpha: { method, path, query: "", route: null, filter: null, status: 200 },
      v4: [],
    };
  }
  const calls = [
    "DELETE /v1/books/1/cover",
    "DELETE /v1/books/2/cover",
    "GET /v1/books",
    "PUT /v1/books/1",
    "PUT /v1/books/1",
    "PUT /v1/books/2",
    "GET /v1/other",
  ];
  const expected = [
    "PUT /books/:id: 3 calls",
    "DELETE /books/:id/cover: 2 calls",
    "GET /books: 1 call",
    "GET /books/:id: 0 calls",
  ];
  const unrelated = libraryDocument("/x", { a: { type: "boolean" } });
  const now = { ...unrelated, paths: { "/x": { get: { responses: { 204: { description: "" } } } } } };
  const openRoutes = (): string[] => openPoints().filter((point) => /^[A-Z]/.test(point));

  test("of an NDJSON export, open points are sorted by calls", async () => {
    const records = save("calls.ndjson", calls.map((each) => `${JSON.stringify(call(each))}\n`).join(""));
    expect(await init(save("old.json", OLD), save("new.json", now), "--from", records)).toBe(0);
    expect(openRoutes()).toEqual(expected);
  });

  test("that can't be read, nothing is written", async () => {
    const records = save("calls.ndjson", "{broken\n");
    expect(await init(save("old.json", OLD), save("new.json", NEW), "--from", records)).toBe(1);
    expect([printed(), existsSync(pack())]).toEqual([expect.stringMatching(/^AG_/), false]);
  });
});

/** A document with more than 10 MB: 1000 other lists. */
function largeDocument({ paths, ...document }: Schema): string {
  const lists = Array.from({ length: 1000 }, (_, n) => {
    const names = Array.from({ length: 130 }, (__, field) => [
      `member_${n}_${field}_of_it`,
      { type: "string", description: "d".repeat(20) },
    ]);
    const answer = json({ type: "object", properties: Object.fromEntries(names) });
    return [`/list${n}`, { get: { responses: { 200: answer } } }];
  });
  const large = JSON.stringify({
    ...document,
    paths: { ...(paths as object), ...Object.fromEntries(lists) },
  });
  expect(large.length).toBeGreaterThan(10_000_000);
  return large;
}

describe("a document that can't be used is an error, and nothing is written", () => {
  test.each([
    ["broken JSON", '{"openapi": "3.1.0", ', "can't be read"],
    ["broken YAML", "paths: [a", "can't be read"],
    ["an empty file", "", "can't be read"],
    ["a list", "[]", "can't be read"],
    ["Swagger 2", { swagger: "2.0", paths: {} }, "It is no OpenAPI 3 document"],
    ["no operations", { openapi: "3.1.0", paths: {} }, "no operation that a pack can have"],
    [
      "a reference to a file elsewhere",
      { openapi: "3.1.0", paths: { "/a": { $ref: "../../etc/x.json" } } },
      "can't be read",
    ],
    ["a reference to nothing", libraryDocument("/a", { b: { $ref: "#/nowhere" } }), "#/nowhere"],
    ["values that are nested too deep", `${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`, "nested"],
    ["more than 24 MB", `{"a":"${"x".repeat(25 * 1024 * 1024)}"}`, "more than 24 MB"],
  ])("%s", async (_, content, message) => {
    const [file, other] = [save("document.json", content), save("other.json", NEW)];
    for (const files of [[file, other] as const, [other, file] as const]) {
      const before = printed().length;
      expect(await init(...files)).toBe(1);
      expect(printed().slice(before)).toContain("AG_OPENAPI_UNREADABLE");
      expect(printed().slice(before)).toContain(message);
      expect(existsSync(pack())).toBe(false);
    }
  });

  test("one that is not there", async () => {
    expect(await init(join(top, "none.json"), save("new.json", NEW))).toBe(1);
    expect(printed()).toContain("none.json can't be read");
  });

  test("more operations than a document may have", async () => {
    const operation = { get: { responses: { 204: { description: "" } } } };
    const paths = Object.fromEntries(Array.from({ length: 3001 }, (_, n) => [`/path${n}`, operation]));
    expect(await init(save("old.json", { openapi: "3.1.0", paths }), save("new.json", NEW))).toBe(1);
    expect(printed()).toContain("more than 3000 operations");
  });

  test("a draft that would be larger than a pack may be, of a document with 10 MB", async () => {
    expect(await init(save("old.json", largeDocument({ openapi: "3.1.0" })), save("new.json", NEW))).toBe(1);
    expect(printed()).toContain("The draft would be larger than a pack");
    expect(existsSync(pack())).toBe(false);
  });
});

test("a new document with 10 MB is compared with a small one", async () => {
  expect(await init(save("old.json", OLD), save("new.json", largeDocument(NEW)))).toBe(0);
  expect(routes()).toHaveLength(4);
});

test("schemas that contain themselves are read once", async () => {
  const tree = {
    type: "object",
    properties: {
      name: text,
      parent: { $ref: "#/components/schemas/Tree" },
      children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
    },
  };
  const twisted = { allOf: [{ $ref: "#/components/schemas/Twisted" }], properties: { title: text } };
  const { components: _, ...library } = libraryDocument("/books", {});
  const book = {
    type: "object",
    properties: {
      id: text,
      tree: { $ref: "#/components/schemas/Tree" },
      twisted: { $ref: "#/components/schemas/Twisted" },
    },
  };
  const file = save("old.json", {
    ...library,
    components: { schemas: { Book: book, Tree: tree, Twisted: twisted } },
  });
  const code = await init(file, file);
  expect([code, printed()]).toEqual([0, expect.stringContaining("4 routes")]);
  expect(fieldsOf("tree")).toMatchObject({ name: "name", children: "children" });
});

test.each([
  ["named", (name: string) => ({ $ref: `#/components/schemas/${name}` })],
  ["listed", (name: string) => ({ type: "array", items: { $ref: `#/components/schemas/${name}` } })],
])("schemas that lead to each other on very many ways are read once (%s)", async (_, refer) => {
  const levels = 40;
  const schemas = Array.from({ length: levels }, (__, level) => {
    const next =
      level + 1 < levels ? { left: refer(`Level${level + 1}`), right: refer(`Level${level + 1}`) } : {};
    return [
      level === 0 ? "Book" : `Level${level}`,
      { type: "object", properties: { [`own${level}`]: text, ...next } },
    ];
  });
  const file = save("old.json", {
    ...libraryDocument("/books", {}),
    components: { schemas: Object.fromEntries(schemas) },
  });
  const code = await init(file, file);
  expect([code, printed()]).toEqual([0, expect.stringContaining("4 of 4 routes mapped")]);
});

test("inline objects that are nested deep are read once", async () => {
  let nested: Schema = { type: "object", properties: { last: text } };
  for (let level = 0; level < 60; level += 1)
    nested = { type: "object", properties: { inner: nested, other: text } };
  const file = save("old.json", libraryDocument("/books", { id: text, nested }));
  const code = await init(file, file);
  expect([code, printed()]).toEqual([0, expect.stringContaining("4 of 4 routes mapped")]);
});

/** Names and texts that YAML, shapes, paths, terminals or JavaScript read as something else. */
const NASTY = [
  "a\nb: c",
  "a: b",
  "# x",
  "'",
  '"',
  "*/",
  "%TAG",
  "{{ x }}",
  "&anchor",
  "*alias",
  "!tag",
  "- x",
  "? x",
  "~",
  "|",
  ">",
  "@x",
  "null",
  "true",
  "1",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "$items",
  "$object",
  "$list",
  "$name",
  "a\u2028b",
  "\u202eabc",
  "\u0000",
  "\u001b[31m",
  "a\tb",
  " ",
  "",
  "a b",
  "[x]",
  "a.b",
  "x`y",
  "${x}",
  "$(x)",
  "\ud800",
  "ключ",
  "pack",
  "surface",
  "accepted-differences",
  "../../etc/passwd",
  "GET /x",
  "a%2fb",
  "a".repeat(900),
  "examples",
];

/** A document that has such a name in each place that has one. */
function nastyDocument(shift: number): Schema {
  const nasty = (index: number): string => NASTY[(index + shift) % NASTY.length] ?? "";
  const schema = { $ref: "#/components/schemas/Thing" };
  const members = NASTY.map((name, index) => {
    const described = { description: nasty(index), title: nasty(index) };
    const list = { type: "array", items: { type: "object", properties: { [name]: text, id: text } } };
    return [
      name,
      index % 3 === 0
        ? { ...text, enum: NASTY, ...described }
        : index % 3 === 1
          ? list
          : { type: nasty(index), ...described },
    ] as const;
  });
  const properties = Object.fromEntries(members);
  const paths = NASTY.flatMap((name, index) => {
    const wrapped = { type: "object", properties: { [name]: { ...schema } } };
    const parameters = [
      { name, in: "query" },
      { name, in: "header" },
      { name, in: name },
    ];
    return [
      [
        `/${name}`,
        {
          get: {
            operationId: name,
            tags: [name],
            parameters,
            responses: {
              200: json({ type: "object", properties: { [name]: { type: "array", items: schema } } }),
            },
          },
        },
      ],
      [`/${name}/{${name}}`, { get: { responses: { [index % 5 === 0 ? name : "200"]: json(wrapped) } } }],
      [
        `/items${index}/{p}`,
        {
          put: {
            requestBody: json({ type: "object", properties: { [name]: text, id: text } }),
            responses: {
              200: json({
                type: "object",
                properties: { [name]: { type: "object", properties: { [name]: text, ok: text } } },
              }),
            },
          },
        },
      ],
    ] as const;
  });
  return {
    openapi: "3.1.0",
    info: { title: nasty(0), version: nasty(1) },
    servers: [{ url: `https://host/${nasty(2)}` }],
    security: [{ [nasty(3)]: [nasty(4)] }],
    paths: Object.fromEntries([
      ...paths,
      ["/things", { get: { responses: { 200: json({ type: "array", items: schema }) } } }],
    ]),
    components: {
      securitySchemes: { [nasty(3)]: { type: "apiKey", in: "header", name: nasty(5) } },
      schemas: {
        Thing: { type: "object", required: NASTY, properties },
        ...Object.fromEntries(
          NASTY.filter((name) => name !== "Thing").map((name) => [
            name,
            { type: "object", properties: { [name]: text } },
          ]),
        ),
      },
    },
  };
}

describe("names and texts of documents", () => {
  const KEYS = new Set([
    "format",
    "client",
    "upstream",
    "objects",
    "routes",
    "open",
    "object",
    "list",
    "upstream_list",
    "fields",
    "inputs",
    "bodies",
  ]);

  test.each([0, 1, 7, 20, 33])("become no keys, comments or files of their own (%i)", async (shift) => {
    const code = await init(save("old.json", nastyDocument(0)), save("new.json", nastyDocument(shift)));
    expect([code, printed()]).toEqual([0, expect.stringContaining("open points")]);
    for (const name of readdirSync(pack()).filter((each) => each.endsWith(".yaml"))) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*\.yaml$/);
      const content = read(name);
      expect(Object.keys(parse(content) as object).filter((key) => !KEYS.has(key))).toEqual([]);
      expect(toVisibleText(content)).toBe(content);
      for (const [comment] of content.matchAll(/ # 0\..*$/gm))
        expect(comment).toMatch(/^ # 0\.\d\d: [\w ,%;."/()$-]+$/);
    }
    expect(readdirSync(top).sort()).toEqual(["new.json", "old.json", "pack"]);
  });
});

describe("a command that can't mean anything is an error, and nothing is written", () => {
  test.each([
    [["--old", "a.json"], "--old and --new belong together"],
    [["--new", "a.json"], "--old and --new belong together"],
    [["--from", "records.ndjson"], "--old and --new belong together"],
    [["--old", "a.json", "--new", "b.json", "--object", "book"], "--object is for a pack without documents"],
    [
      ["--old", "a.json", "--new", "b.json", "--client-path", "/x"],
      "--client-path is for a pack without documents",
    ],
  ])("init %j", async (flags, message) => {
    expect(await runCommandLine(["init", pack(), ...flags])).toBe(1);
    expect([printed(), existsSync(pack())]).toEqual([expect.stringContaining(message), false]);
  });

  test("init of a folder that has something in it", async () => {
    mkdirSync(pack());
    writeFileSync(join(pack(), "mine.txt"), "mine");
    expect(await init(save("old.json", OLD), save("new.json", NEW))).toBe(1);
    expect([printed(), readdirSync(pack())]).toEqual([expect.stringContaining("is not empty"), ["mine.txt"]]);
  });
});
