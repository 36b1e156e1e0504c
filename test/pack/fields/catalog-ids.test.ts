/** Ids of a catalog that are not the upstream's. */
import { describe, expect, test } from "@jest/globals";
import { sendToLibrary } from "../load/library-gateway.ts";
import { faultsOf } from "../load/pack-folder.ts";

const kinds = (kind: string) => ({
  file: "pack.yaml",
  from: "values:\n",
  to: `values:\n  place_id: ${kind}\n`,
});
const ids = (more = "") => ({
  file: "shelf.yaml",
  from: "  hidden_prefix",
  to: `  ids: place_id\n  ${more}hidden_prefix`,
});
const fields = [
  { file: "shelf.yaml", from: "code: id", to: "code: { upstream: id, values: place_id }" },
  {
    file: "book.yaml",
    from: "  shelf:  {",
    to: "  at: { upstream: at, catalog: shelf, id_only: true }\n  shelf:  {",
  },
];
const EXPRESSIONS =
  "{ read: '\"p-\" & $lowercase($value)', write: '$uppercase($substringAfter($value, \"p-\"))' }";
const PLACES = { rows: [{ id: "A", room: "attic" }, { id: "CELLAR/1" }], page: 1, last_page: 1, total: 2 };

const send = (method: string, path: string, body?: unknown, kind = EXPRESSIONS, at: unknown = "A") =>
  sendToLibrary(
    { edits: [kinds(kind), ids(), ...fields], readsCatalogs: true },
    { method, path, ...(body !== undefined && { body }) },
    (call) => [
      200,
      call.startsWith("GET /api/new/places")
        ? PLACES
        : {
            id: 1,
            name: "Emma",
            at,
            location: { shelf_id: "A" },
            rows: [],
            page: 1,
            last_page: 1,
            total: 0,
          },
    ],
  );

describe.each([
  ["expressions", EXPRESSIONS],
  ["a table", "{ read: { A: p-a } }"],
  ["a table and an expression", "{ read: { A: p-a }, write: '$uppercase($substringAfter($value, \"p-\"))' }"],
])("ids of a catalog that are translated by %s", (_case, kind) => {
  test("are read", async () => {
    const { body } = await send("GET", "/old/books/1", undefined, kind);
    expect(body).toMatchObject({ at: "p-a", shelf: { code: "p-a", room: "attic" } });
    expect((await send("GET", "/old/shelves/p-a", undefined, kind)).body).toEqual({
      code: "p-a",
      room: "attic",
    });
  });

  test("are read in a list", async () => {
    const { body } = await send("GET", "/old/books/1", undefined, kind, ["A", null, "A"]);
    expect(body).toMatchObject({ at: ["p-a", null, "p-a"] });
  });

  test("are written", async () => {
    const { status, sent } = await send("POST", "/old/books", { shelf: "p-a" }, kind);
    expect([status, sent.at(-1)?.body]).toEqual([
      200,
      { origin: "gateway", name: "untitled", location: { shelf_id: "A" } },
    ]);
  });

  test.each(["A", "a", "p-A", "p-b"])("are refused where no object has one: %s", async (shelf) => {
    expect((await send("POST", "/old/books", { shelf }, kind)).body).toEqual({
      problems: [{ at: "shelf", text: "No such thing" }],
    });
  });
});

test("the member with the id of a row can be another one than in the upstream's other objects", async () => {
  const { status, body, sent } = await sendToLibrary(
    {
      edits: [
        { file: "shelf.yaml", from: "  hidden_prefix", to: "  id: slug\n  hidden_prefix" },
        { file: "shelf.yaml", from: "code: id", to: "code: slug" },
      ],
      readsCatalogs: true,
    },
    { method: "POST", path: "/old/books", body: { shelf: "A" } },
    (call) => [
      200,
      call.startsWith("GET /api/new/places")
        ? { ...PLACES, rows: [{ id: 1, slug: "A", room: "attic" }] }
        : { id: 1, location: { shelf_id: "A" } },
    ],
  );
  expect([status, sent.at(-1)?.body]).toMatchObject([200, { location: { shelf_id: "A" } }]);
  expect(body).toMatchObject({ shelf: { code: "A", room: "attic" } });
});

describe("a pack is invalid", () => {
  test.each([
    ["an expression without the other direction", "{ read: $lowercase($value) }"],
    ["a table of numbers", "{ read: { 1: one } }"],
    ["an expression that is interpreted", "{ read: $lowercase($value), write: '[$value]@$x.$x' }"],
  ])("if a catalog has ids by %s", (_case, kind) => {
    expect(faultsOf(kinds(kind), ids()).map(({ message }) => message)).toEqual([
      '"place_id" needs a table of texts, or a "read" and a "write" that can be compiled: both directions',
    ]);
  });

  test("if a closed catalog has no table of its ids", () => {
    const message = '"closed" needs "ids" with a table: the ids that there are';
    expect(faultsOf(kinds(EXPRESSIONS), ids("closed: true\n  "))).toEqual([
      expect.objectContaining({ file: "shelf.yaml", message }),
    ]);
    expect(
      faultsOf({ file: "shelf.yaml", from: "  hidden_prefix", to: "  closed: true\n  hidden_prefix" }),
    ).toEqual([expect.objectContaining({ file: "shelf.yaml", message })]);
  });
});
