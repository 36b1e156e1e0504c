/** Members of bodies that have the values that clients read before: ids, and objects of catalogs. */
import { describe, expect, test } from "@jest/globals";
import { sendToLibrary } from "./library-gateway.ts";

const SLOT = "{ type: object, properties: { shelf: { type: string }, row: { type: integer } } }";

const files = {
  "chest.yaml": `
object: chest
list: chests
fields:
  code: id
  title: name
  shelf: { upstream: place, catalog: shelf, accepts: [object] }
  shelves: { upstream: places, catalog: shelf, accepts: [object] }
  slot: { upstream: slot, object: slot }
  slots: { upstream: slots, object: slot }
bodies:
  edit:
    schema:
      type: object
      properties:
        title: { type: string }
        shelf: { enum: [A] }
        shelves: { type: array, items: { type: string } }
        slot: ${SLOT}
        slots: { type: array, items: ${SLOT} }
  strict:
    client: { unknown: reject }
    schema:
      type: object
      properties: { title: { type: string }, slot: { type: object, properties: { row: { type: integer } } } }
routes:
  - { client: "GET /chests/:number", scope: books:look, upstream: "GET /chests/{number}" }
  - { client: "PUT /chests/:number", scope: books:write, upstream: "PATCH /chests/{number}", body: edit, read_route: "GET /chests/:number", only_changes: true }
  - { client: "PATCH /chests/:number", scope: books:write, upstream: "PUT /chests/{number}", body: edit, read_route: "GET /chests/:number" }
  - { client: "POST /chests/:number", scope: books:write, upstream: "PUT /chests/{number}", body: strict, read_route: "GET /chests/:number" }
`,
  "slot.yaml": `
object: slot
fields:
  shelf: { upstream: place, catalog: shelf }
  row: row
`,
};

const CHEST = {
  id: 1,
  name: "old",
  place: "B",
  places: ["A", "B"],
  slot: { place: "A", row: 1 },
  slots: [{ place: "B", row: 2 }],
};
const PLACES = { rows: [{ id: "A", room: "attic" }, { id: "B" }], page: 1, last_page: 1, total: 2 };

const send = (method: string, body: unknown) =>
  sendToLibrary({ files, readsCatalogs: true }, { method, path: "/old/chests/1", body }, (call) => [
    200,
    call.startsWith("GET /api/new/places") ? PLACES : CHEST,
  ]);

/** The bodies that v4 gets of a write. */
async function sentBodies(method: string, body: unknown): Promise<unknown[]> {
  const { status, sent } = await send(method, body);
  expect(status).toBe(200);
  return sent.flatMap((request) => request.body ?? []);
}

const [A, B] = [
  { code: "A", room: "attic" },
  { code: "B", room: "lost" },
];

describe('with "only_changes" the upstream does not get', () => {
  test.each([
    ["the same id of a catalog", { shelf: "B" }],
    ["the object of a catalog that the client has read", { shelf: B }],
    ["a list of them", { shelves: [A, B] }],
    ["a list of their ids", { shelves: ["A", "B"] }],
    ["a nested object with an id", { slot: { shelf: "A", row: 1 } }],
    ["a list of nested objects with ids", { slots: [{ shelf: "B", row: 2 }] }],
  ])("%s", async (_case, body) => {
    expect(await sentBodies("PUT", { title: "new", ...body })).toEqual([{ name: "new" }]);
  });
});

test('with "only_changes" the upstream gets another id of a catalog', async () => {
  expect(await sentBodies("PUT", { shelf: A, shelves: ["B"], slot: { shelf: "B", row: 1 } })).toEqual([
    { place: "A", places: ["B"], slot: { place: "B" } },
  ]);
});

test("the object of a catalog that the schema does not allow can be sent back unchanged", async () => {
  expect(await sentBodies("PATCH", { title: "new", shelf: B })).toEqual([{ name: "new" }]);
});

describe("where unknown members are errors", () => {
  test.each<[string, object, object]>([
    ["an unknown member", { title: "new", code: 1 }, { name: "new" }],
    ["an object of a catalog", { title: "new", shelf: B, shelves: [A, B] }, { name: "new" }],
    ["an unknown member inside a changed object", { slot: { shelf: A, row: 2 } }, { slot: { row: 2 } }],
    [
      "an unknown member inside an unchanged object",
      { title: "new", slot: { shelf: A, row: 1 } },
      { name: "new" },
    ],
  ])("%s can be sent back unchanged", async (_case, body, sent) => {
    expect(await sentBodies("POST", body)).toEqual([sent]);
  });

  test.each([
    ["an unknown member", { title: "new", code: 2 }],
    ["an unknown member inside an object", { slot: { shelf: B, row: 2 } }],
    ["a member that the object does not have", { title: "new", colour: null }],
  ])("%s with another value is an error", async (_case, body) => {
    expect((await send("POST", body)).status).toBe(400);
  });
});
