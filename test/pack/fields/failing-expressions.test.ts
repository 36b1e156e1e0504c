import { describe, expect, test } from "@jest/globals";
import { readExamples } from "../../../src/authoring/examples/example.ts";
import { runExamples } from "../../support/run-examples.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { sendToLibrary } from "../load/library-gateway.ts";
import { withPack, type Edit } from "../load/pack-folder.ts";

const field = (to: string): Edit => ({
  file: "book.yaml",
  from: "lent_to: { read: '$calls.loan.reader'",
  to,
});

const readBook = (edit: Edit, book: object) =>
  sendToLibrary({ edits: [edit] }, { method: "GET", path: "/old/books/5" }, () => [200, book]);

const buy = (edit: Edit, body: object) =>
  sendToLibrary(
    { edits: [edit] },
    { method: "POST", path: "/old/books", body: { title: "Emma", shelf: "A", ...body } },
  );

describe("an expression that fails while a response is read", () => {
  test("is a 500 whose body names the field, and whose warning names file, line, keys and cause", async () => {
    const { status, body, context } = await readBook(field("lent_to: { read: 'name + 1'"), { name: "Emma" });
    expect([status, body]).toEqual([
      500,
      {
        problems: [
          { text: "The service could not process this request (example): lent_to could not be translated." },
        ],
      },
    ]);
    expect(context.warnings).toEqual([
      expect.stringMatching(/^book\.yaml:11: fields\.lent_to\.read: the left side of an arithmetic operator/),
    ]);
  });

  test("of a value kind names the field that uses the kind, too", async () => {
    const { body, context } = await readBook(
      { file: "pack.yaml", from: "'$value / $rate'", to: "'$uppercase($value)'" },
      { cost: { pence: 5 } },
    );
    expect(body).toMatchObject({ problems: [{ text: expect.stringContaining(": price could not") }] });
    expect(context.warnings).toEqual([
      expect.stringMatching(/^pack\.yaml:\d+: values\.pounds\.read \(for book\.yaml:10: fields\.price\): /),
    ]);
  });

  test("of an inherited field names the file that has the field", async () => {
    const { context } = await sendToLibrary(
      {
        edits: [field("lent_to: { read: 'name + 1'")],
        files: {
          "novel.yaml":
            'object: novel\nextends: book\nfields: {}\nroutes:\n  - { client: "GET /novels/:number", scope: books:look, upstream: "GET /items/{number}" }\n',
        },
      },
      { method: "GET", path: "/old/novels/5" },
      () => [200, { name: "Emma" }],
    );
    expect(context.warnings).toEqual([expect.stringMatching(/^book\.yaml:11: fields\.lent_to\.read: /)]);
  });

  test("leaves no rejection of another one unhandled, which fails later", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      // The interpreter runs the first one: its error comes when the second one has failed.
      const late = `late: { read: '[$late := "late"] & $error("late")' }`;
      const { status, context } = await readBook(field(`${late}\n  lent_to: { read: 'name + 1'`), {
        name: "Emma",
      });
      expect(status).toBe(500);
      expect(context.warnings).toEqual([expect.stringContaining("fields.lent_to.read")]);
      // Node reports a rejection when all promises of the turn have settled.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off("unhandledRejection", note);
    }
    expect(unhandled).toEqual([]);
  });

  test("is part of the diagnostic of a golden case", async () => {
    const messages = await withPack([field("lent_to: { read: 'name + 1'")], async (folder) => {
      const pack = loadPack(folder);
      const { examples, catalogs } = readExamples(folder, []);
      const read = examples.filter(({ source }) => source.file.endsWith("book/read.yaml"));
      return (await runExamples(pack, read, catalogs)).map(({ message }) => message);
    });
    expect(messages).toEqual([
      expect.stringMatching(/status is 500, .*; book\.yaml:11: fields\.lent_to\.read/),
    ]);
  });
});

describe("an expression that fails on a value of the client", () => {
  const refused = (at: string) => [400, { problems: [{ at, text: "Not a valid value." }] }];

  test("while a member is written is a 400 that names the member, and a warning for the operator", async () => {
    const failing = await buy(
      {
        file: "book.yaml",
        from: "writer: { upstream: author_id }",
        to: "writer: { upstream: author_id, write: '$value + $path' }",
      },
      { writer: 5 },
    );
    expect([failing.status, failing.body]).toEqual(refused("writer"));
    expect(failing.context.warnings).toEqual([
      expect.stringMatching(/^book\.yaml:15: inputs\.writer\.write: /),
    ]);
  });

  test("while a value kind is written is a 400 that names the member", async () => {
    const { status, body, context } = await buy(
      { file: "book.yaml", from: "price: { type: number, minimum: 0 }", to: "price: {}" },
      { price: "much" },
    );
    expect([status, body]).toEqual(refused("price"));
    expect(context.warnings).toEqual([
      expect.stringMatching(/^pack\.yaml:\d+: values\.pounds\.write \(for book\.yaml:10: fields\.price\): /),
    ]);
  });

  test("in a check of a body is a 400 that names the field of the check", async () => {
    const { status, body } = await buy(
      {
        file: "book.yaml",
        from: "    set: { origin: gateway }",
        to: "    checks: [{ field: title, message: 'title > 5 ? \"long\"' }]\n    set: { origin: gateway }",
      },
      {},
    );
    expect([status, body]).toEqual(refused("title"));
  });

  test.each([
    ["of a prerequisite", { file: "pack.yaml", from: "'$exists(writer)'", to: "'title > 5'" }],
    [
      "of a route",
      {
        file: "book.yaml",
        from: "  - { client: POST /books,",
        to: "  - { client: POST /books, when: 'title > 5', scope: books:write, upstream: POST /lists, body: buy }\n  - { client: POST /books,",
      },
    ],
  ])("in the condition %s is a 400", async (_of, edit) => {
    const { status, body, context } = await buy(edit, {});
    expect([status, body]).toEqual([
      400,
      { problems: [{ text: "The body has a value that is not valid." }] },
    ]);
    expect(context.warnings).toEqual([expect.stringMatching(/^(pack|book)\.yaml:\d+: .*when: /)]);
  });
});
