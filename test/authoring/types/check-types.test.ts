/** `check --laws --new`: the fields of a pack against the types of both documents. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { runCommandLine } from "../../../src/app/cli/program.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { captureCommands } from "../../support/command-output.ts";
import { withPack, type Edit } from "../../pack/load/pack-folder.ts";

type Json = Readonly<Record<string, unknown>>;

const printed = captureCommands();

let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
});

/** An operation that answers with a schema. */
const answering = (schema: Json): Json => ({
  responses: { 200: { description: "ok", content: { "application/json": { schema } } } },
});

const list = (name: string, items: Json): Json => ({
  type: "object",
  properties: {
    [name]: { type: "array", items },
    page: { type: "integer" },
    last_page: { type: "integer" },
    total: { type: "integer" },
  },
});

/** The new library's document: items with some members, and shelves. */
const newDocument = (
  members: Json,
  { required = ["id", ...Object.keys(members)], ...schemas }: Json = {},
): Json => ({
  openapi: "3.1.0",
  paths: {
    "/items": { get: answering(list("rows", { $ref: "#/components/schemas/Item" })) },
    "/items/{number}": { get: answering({ $ref: "#/components/schemas/Item" }) },
    "/places": {
      get: answering(
        list("rows", { type: "object", properties: { id: { type: "string" }, room: { type: "string" } } }),
      ),
    },
  },
  components: {
    schemas: {
      Item: { type: "object", required, properties: { id: { type: "integer" }, ...members } },
      ...schemas,
    },
  },
});

/** The old library's document: books with some members. */
const oldDocument = (members: Json, required: readonly string[] = []): Json => ({
  openapi: "3.0.3",
  paths: { "/books/{number}": { get: answering({ type: "object", required, properties: members }) } },
});

interface Checked {
  readonly code: number;
  readonly output: string;
  readonly folder: string;
}

/** Checks the library's pack with documents. A text is the document itself. */
function checkLibrary(
  documents: { readonly new?: Json | string; readonly old?: Json | string },
  { flags = [], edits = [] }: { readonly flags?: readonly string[]; readonly edits?: readonly Edit[] } = {},
): Promise<Checked & { readonly cases: readonly Json[] }> {
  const files = Object.entries(documents).flatMap(([side, document]) => {
    const file = join(folder, `${side}.json`);
    writeFileSync(file, typeof document === "string" ? document : JSON.stringify(document));
    return [`--${side}`, file];
  });
  return withPack(edits, async (pack) => {
    const code = await runCommandLine(["check", pack, "--laws", ...files, ...flags]);
    const output = printed();
    const cases = [...output.matchAll(/^wrote (.*)$/gm)].map(
      ([, file = ""]) => parse(readFileSync(file, "utf8")) as Json,
    );
    return { code, output, folder: pack, cases };
  });
}

/** The verdicts of the fields of a book, by `--format json`. */
async function verdicts(
  ...[documents, options]: Parameters<typeof checkLibrary>
): Promise<Readonly<Record<string, Json>>> {
  const { output } = await checkLibrary(documents, {
    ...options,
    flags: ["--format", "json", ...(options?.flags ?? [])],
  });
  const { types } = JSON.parse(output) as { types: { fields: Json[] } };
  return Object.fromEntries(
    types.fields.map((field) => [String(field["field"]).replace("book.", ""), field]),
  );
}

const NAME = { name: { type: "string" } };

describe("types by counterexample", () => {
  test("print the smallest answer that gives a client another type", async () => {
    const { code, output } = await checkLibrary({
      new: newDocument({ name: { type: ["string", "null"] }, status: { type: "string" } }),
      old: oldDocument({ title: { type: "string" } }),
    });
    expect(code).toBe(1);
    expect(output).toContain(
      'type: book.title: {"name":null} of GET /items/{} gives null, expected string (GET /books/:number)\n',
    );
  });

  test("print how many cases had none, and what holds for all values", async () => {
    const { code, output } = await checkLibrary({
      new: newDocument({ ...NAME, status: { enum: ["in", "out"] } }),
      old: oldDocument({ title: { type: "string" }, state: { type: "string" } }),
    });
    expect(code).toBe(0);
    expect(output).toMatch(/^book\.title: no counterexample in \d+ cases \(GET \/books\/:number\)$/m);
    expect(output).toMatch(/^book\.state: holds \(GET \/books\/:number\)$/m);
    expect(output).toMatch(/^types: 3 fields in \d+ cases: 1 hold, 2 without a counterexample, 0 with one$/m);
  });

  test.each<[string, Json, Json, unknown]>([
    [
      "an unknown word",
      { status: { enum: ["in", "out"] } },
      { state: { enum: ["available", "lent"] } },
      "unknown",
    ],
    ["null of 3.0", { name: { type: "string", nullable: true } }, { title: { type: "string" } }, null],
    [
      "the second type of several",
      { name: { type: ["string", "integer"] } },
      { title: { type: "string" } },
      expect.any(Number),
    ],
    [
      "an alternative",
      { name: { oneOf: [{ type: "string" }, { type: "boolean" }] } },
      { title: { type: "string" } },
      true,
    ],
    [
      "an alternative of any",
      { name: { anyOf: [{ type: "string" }, { type: "null" }] } },
      { title: { type: "string" } },
      null,
    ],
    [
      "a part of all",
      { name: { allOf: [{ type: ["string", "null"] }, { maxLength: 9 }] } },
      { title: { type: "string" } },
      null,
    ],
    ["an empty text", { name: { type: "string" } }, { title: { type: "string", minLength: 1 } }, ""],
    [
      "the longest text",
      { name: { type: "string", maxLength: 40 } },
      { title: { type: "string", maxLength: 39 } },
      "x".repeat(40),
    ],
    [
      "the largest number",
      { name: { type: "integer", maximum: 500 } },
      { title: { type: "integer", maximum: 499 } },
      500,
    ],
    [
      "a format",
      { name: { type: "string", format: "uuid" } },
      { title: { type: "string", format: "date" } },
      expect.any(String),
    ],
  ])("find %s", async (_what, members, expected, actual) => {
    const found = await verdicts({ new: newDocument(members), old: oldDocument(expected) });
    expect(Object.values(found).filter(({ verdict }) => verdict === "counterexample")).toEqual([
      expect.objectContaining({
        counterexample: expect.objectContaining({ actual, route: "GET /books/:number" }),
      }),
    ]);
  });

  test("find a member that may be missing", async () => {
    const documents = {
      new: newDocument(NAME, { required: ["id"] }),
      old: oldDocument({ title: { type: "string" } }),
    };
    expect(await verdicts(documents)).toMatchObject({
      title: { counterexample: { answer: {}, actual: null } },
    });
  });

  test("take a member for required where its object requires none", async () => {
    const documents = {
      new: newDocument(NAME, { required: [] }),
      old: oldDocument({ title: { type: "string" } }),
    };
    expect(await verdicts(documents)).toMatchObject({ title: { verdict: "no-counterexample" } });
  });

  test("need no old document: what the pack says about a field is its type", async () => {
    const found = await verdicts({ new: newDocument({ bought: { type: "string" } }) });
    expect(found).toMatchObject({
      since: { verdict: "no-counterexample", routes: ["GET /books", "GET /books/:number"] },
      "GET /books found": { verdict: "no-counterexample" },
    });
  });

  test("find an expression that fails", async () => {
    const edit = {
      file: "book.yaml",
      from: "number: id",
      to: "number: { upstream: id, read: $abs($value) }",
    };
    const documents = {
      new: newDocument({ id: { type: ["string", "integer"] } }, { required: ["id"] }),
      old: oldDocument({ number: {} }),
    };
    expect(await verdicts(documents, { edits: [edit] })).toMatchObject({
      book: { counterexample: { answer: { id: expect.any(String) } } },
    });
  });

  test.each(["GET /places", "GET /places?kind=shelf"])(
    "try the ids of a catalog that is read by %s",
    async (request) => {
      const edit = { file: "shelf.yaml", from: "request: GET /places", to: `request: ${request}` };
      const location = { type: "object", properties: { shelf_id: { type: "string" } } };
      // "lost" is the room of all shelves that the catalog does not have.
      const shelf = { type: "object", properties: { room: { enum: ["lost", "attic"] } } };
      const documents = { new: newDocument({ ...NAME, location }), old: oldDocument({ shelf }) };
      expect(await verdicts(documents, { edits: [edit] })).toMatchObject({
        "shelf.room": { counterexample: { answer: { location: { shelf_id: "A1" } }, actual: "hall" } },
      });
    },
  );

  test("keep a counterexample as a golden case, which fails until the pack is corrected", async () => {
    const documents = {
      new: newDocument({ name: { type: ["string", "null"] } }),
      old: oldDocument({ title: { type: "string" } }),
    };
    const { cases, output } = await checkLibrary(documents, { flags: ["--golden"] });
    expect(output).toMatch(/^wrote .*examples\/book\/counterexample-book-title\.yaml$/m);
    expect(cases).toEqual([
      expect.objectContaining({
        title: "Counterexample of book.title: string",
        request: expect.stringMatching(/^GET \/books\/\d+$/),
        upstream: [
          {
            request: expect.stringMatching(/^GET \/items\/\d+$/),
            response: { status: 200, body: { name: null } },
          },
        ],
        response: { status: 200, body: expect.objectContaining({ title: "" }) },
      }),
    ]);
  });

  test("are bounded for schemas that contain themselves", async () => {
    const node = {
      type: "object",
      properties: { next: { $ref: "#/components/schemas/Node" }, label: { type: "string" } },
    };
    const found = await verdicts({
      new: newDocument({ ...NAME, tree: { $ref: "#/components/schemas/Node" } }, { Node: node }),
      old: oldDocument({ title: { type: "string" } }),
    });
    expect(found).toMatchObject({ title: { verdict: "no-counterexample" } });
  });

  test("are bounded for objects that are nested deeply", async () => {
    let nested: Json = { type: "string" };
    for (let level = 0; level < 50; level += 1)
      nested = { type: "object", required: ["part"], properties: { part: nested } };
    const found = await verdicts({
      new: newDocument({ ...NAME, nested }),
      old: oldDocument({ title: { type: "string" }, nested }),
    });
    expect(found).toMatchObject({ title: { verdict: "no-counterexample" } });
  });

  test("do not wait for a pattern", async () => {
    const found = await verdicts({
      new: newDocument({ name: { type: "string", pattern: "^(x+x+)+y$" } }),
      old: oldDocument({ title: { type: "string" } }),
    });
    expect(found).toMatchObject({ title: { verdict: "no-counterexample" } });
  });

  test("report a pattern that can't be run in linear time", async () => {
    const { output } = await checkLibrary({
      new: newDocument({ name: { type: "string", pattern: String.raw`^(x)\1$` } }),
      old: oldDocument({ title: { type: "string" } }),
    });
    expect(output).toContain("not tested: pattern ^(x)\\1$: it can't be run in linear time\n");
  });

  test.each([
    ["is no JSON", "{"],
    ["is no OpenAPI 3 document", JSON.stringify({ swagger: "2.0", paths: {} })],
    [
      "has a reference to nothing",
      JSON.stringify(newDocument({ name: { $ref: "#/components/schemas/None" } })),
    ],
  ])("report a document that %s", async (_what, document) => {
    const { code, output } = await checkLibrary({ new: document });
    expect([code, output]).toEqual([1, expect.stringContaining("AG_OPENAPI_UNREADABLE: ")]);
  });

  test("report a document of another service", async () => {
    const { code, output } = await checkLibrary({
      new: { openapi: "3.1.0", paths: { "/pets": { get: answering({}) } } },
    });
    expect([code, output]).toEqual([1, expect.stringContaining("AG_OPENAPI_OTHER_SERVICE: ")]);
  });

  test.each<[string, readonly string[]]>([
    ["--old needs --new", ["--laws", "--old", "old.json"]],
    ["--golden needs --new", ["--laws", "--golden"]],
    ["--new needs --laws", ["--new", "new.json"]],
  ])("say that %s", async (message, flags) => {
    expect(await runCommandLine(["check", "examples/library/pack", ...flags])).toBe(1);
    expect(printed()).toContain(message);
  });
});

describe("types by counterexample, where a document and a pack differ", () => {
  test("do not mistake another call's operation for one that the document lacks", async () => {
    const document = newDocument({ status: { type: "string", enum: ["out"] } });
    const { output } = await checkLibrary({
      new: document,
      old: oldDocument({ lent_to: { type: "string" } }),
    });
    expect(output).toMatch(
      /^not tested: GET \/books\/:number: the new document has no GET \/api\/new\/items\/\d+\/loan/m,
    );
  });

  test.each([
    ["an object with the value", "holds"],
    ["no object with the value", "no-counterexample"],
  ])("say whether a type holds if the golden case has %s: %s", async (what, verdict) => {
    const documents = {
      new: newDocument({ ...NAME, status: { enum: ["in", "out"] } }),
      old: {
        openapi: "3.0.3",
        paths: {
          "/books": {
            get: answering(list("books", { type: "object", properties: { state: { type: "string" } } })),
          },
        },
      },
    };
    const file = "examples/book/list.yaml";
    const row =
      "{ id: 1, name: The sea, status: gone, location: { shelf_id: A1 }, cost: { pence: 250 }, bought: 2020-01-02T03:04:05.678Z }";
    const book =
      "\n      - { number: 1, title: The sea, state: unknown, shelf: { code: A1, room: hall }, price: 2.5, lent_to: nobody, since: 2020-01-02T03:04:05 }";
    const edits = [
      { file, from: row, to: "" },
      { file, from: book, to: " []" },
    ];
    const isEmpty = what.startsWith("no");
    expect((await verdicts(documents, { edits: isEmpty ? edits : [] }))["state"]).toMatchObject({ verdict });
  });

  test("compare words with values of all types that their place has", async () => {
    const { title } = await verdicts({
      new: newDocument({ name: { enum: ["none", 1] } }),
      old: oldDocument({ title: { type: ["string", "integer"], enum: ["none", 1] } }),
    });
    expect(title?.["counterexample"]).not.toMatchObject({ actual: 1 });
  });

  test("say that a type holds only if all values were tried", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 800 }, (_, index) => [`m${index}`, { type: "string" }]),
    );
    const documents = {
      new: newDocument({ ...many, status: { type: "string", enum: ["in", "out"] } }),
      old: oldDocument({ state: { type: "string", enum: ["available", "lent", "unknown"] } }),
    };
    expect((await verdicts(documents))["state"]).toMatchObject({ verdict: "no-counterexample" });
  });

  test("do not say that a type holds if a value leads to a call that the golden case does not have", async () => {
    const file = "examples/book/read.yaml";
    const call = {
      file,
      from: "\n  - request: GET /items/7/loan\n    response:\n      body: { reader: Ada }",
      to: "",
    };
    const edits = [
      call,
      { file, from: "status: out", to: "status: in" },
      { file, from: "state: lent", to: "state: available" },
      { file, from: "lent_to: Ada", to: "lent_to: nobody" },
    ];
    const documents = {
      new: newDocument({ ...NAME, status: { enum: ["in", "out"] } }),
      old: oldDocument({ state: { type: "string" } }),
    };
    expect(await verdicts(documents, { edits })).toMatchObject({
      state: { verdict: "no-counterexample" },
    });
  });

  test("try texts that are no time where the pack reads one and the document describes something else", async () => {
    const documents = {
      new: newDocument({ bought: { type: "string", maxLength: 20 } }),
      old: oldDocument({
        since: { type: "string", nullable: true, pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$` },
      }),
    };
    expect((await verdicts(documents))["since"]).toMatchObject({
      verdict: "counterexample",
      counterexample: { actual: "text" },
    });
  });

  test("have no format but those that are known", async () => {
    const documents = {
      new: newDocument({ name: { type: "string", format: "constructor" } }),
      old: oldDocument({ title: { type: "string", format: "toString" } }),
    };
    expect((await verdicts(documents))["title"]).toMatchObject({ verdict: "no-counterexample" });
  });
});
