/** Members of bodies that have the values that clients read before: ids, and objects of catalogs. */
import { describe, expect, test } from "@jest/globals";
import { sendToLibrary } from "../load/library-gateway.ts";

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

test('the upstream receives a changed id of a catalog with "only_changes"', async () => {
  expect(await sentBodies("PUT", { shelf: A, shelves: ["B"], slot: { shelf: "B", row: 1 } })).toEqual([
    { place: "A", places: ["B"], slot: { place: "B" } },
  ]);
});

describe('with "only_changes" values are written from the whole body', () => {
  const parcel = `
object: parcel
list: parcels
fields:
  unit: unit
  count:
    upstream: pieces
    read: 'unit = "dozen" ? pieces / 12 : pieces'
    write: '$body.unit = "dozen" ? $value * 12 : $value'
  place:
    upstream: coords
    read: '{ "lat": $number($substringBefore($value, ",")), "lng": $number($substringAfter($value, ",")) }'
    write: '$string($value.lat) & "," & $string($value.lng)'
  box: { upstream: case, object: box }
  from: since
  until: until
  format: paper
  shelf: shelf
  note: remark
bodies:
  edit:
    checks: [{ field: until, message: 'from > until ? "Ends before it begins."' }]
    schema:
      type: object
      properties:
        unit: { type: string }
        count: { type: integer }
        place: { type: object, properties: { lat: { type: integer }, lng: { type: integer } } }
        box: { type: object, properties: { wide: { type: integer }, high: { type: integer } } }
        from: { type: integer }
        until: { type: integer }
        note: { type: string }
  place:
    to_path: { shelf: shelf }
    schema: { type: object, required: [shelf], properties: { shelf: { type: integer }, note: { type: string } } }
  print:
    default: { paper: plain }
    schema: { type: object, properties: { format: { type: string }, note: { type: string } } }
routes:
  - { client: "GET /parcels/:number", scope: books:look, upstream: "GET /parcels/{number}" }
  - { client: "PUT /parcels/:number", scope: books:write, upstream: "PATCH /parcels/{number}", body: edit, read_route: "GET /parcels/:number", only_changes: true }
  - { client: "POST /parcels/:number", scope: books:write, upstream: "PATCH /parcels/{number}", body: edit, read_route: "GET /parcels/:number", only_changes: true, calls: [unit] }
  - { client: "PUT /parcels/:number/note", scope: books:write, upstream: "PATCH /shelves/{shelf}/parcels/{number}", body: place, read_route: "GET /parcels/:number", only_changes: true }
  - { client: "PATCH /parcels/:number", scope: books:write, upstream: "PATCH /parcels/{number}", body: print, read_route: "GET /parcels/:number", only_changes: true }
`;
  const box = `
object: box
fields:
  wide: w
  high: { upstream: h, read: 'w = 2 ? h / 10 : h', write: 'wide = 2 ? $value * 10 : $value' }
`;
  const unit = {
    file: "pack.yaml",
    from: "\ncalls:\n",
    to: `
calls:
  unit: { at: before, upstream: "GET /units/{unit}", checks: [{ field: count, message: 'count > $response.most ? "Too many."' }] }
`,
  };
  const PARCEL = {
    id: 1,
    unit: "dozen",
    pieces: 24,
    coords: "1,2",
    case: { w: 2, h: 30 },
    since: 3,
    until: 5,
    paper: "large",
    shelf: 4,
    remark: "old",
  };
  const changes = { edits: [unit], files: { "parcel.yaml": parcel, "box.yaml": box } };

  async function edit(call: string, body: unknown, current: object = {}) {
    const [method = "", path = ""] = call.split(" ");
    const {
      status,
      sent,
      body: answer,
    } = await sendToLibrary(changes, { method, path: `/old${path}`, body }, (call) => [
      200,
      call.startsWith("GET /api/new/units") ? { most: 5 } : { ...PARCEL, ...current },
    ]);
    return { status, answer, sent: sent.flatMap((request) => request.body ?? []), calls: sent };
  }

  test.each<[string, object, object]>([
    ["a value that depends on an unchanged member", { unit: "dozen", count: 3 }, { pieces: 36 }],
    [
      "an unchanged value that depends on a changed member",
      { unit: "one", count: 2 },
      { unit: "one", pieces: 2 },
    ],
    ["a change without the member that depends on it", { unit: "one" }, { unit: "one" }],
    ["an unchanged value without the member it depends on", { count: 2, note: "new" }, { remark: "new" }],
    ["an object of which a member has changed", { place: { lat: 1, lng: 3 } }, { coords: "1,3" }],
    [
      "a nested value that depends on an unchanged member",
      { box: { wide: 2, high: 4 } },
      { case: { h: 40 } },
    ],
    [
      "an unchanged nested value that depends on a changed member",
      { box: { wide: 5, high: 3 } },
      { case: { w: 5, h: 3 } },
    ],
  ])("%s", async (_case, body, sent) => {
    expect(await edit("PUT /parcels/1", body)).toMatchObject({ status: 200, sent: [sent] });
  });

  test("checks compare a changed member with an unchanged one", async () => {
    const { status, answer, sent } = await edit("PUT /parcels/1", { from: 3, until: 2 });
    expect([status, sent]).toEqual([400, []]);
    expect(JSON.stringify(answer)).toContain("Ends before it begins.");
  });

  test("an unchanged object is not an error, even if it breaks a check", async () => {
    const body = { from: 9, until: 5, note: "old" };
    expect(await edit("PUT /parcels/1", body, { since: 9 })).toMatchObject({ status: 200, sent: [] });
  });

  test("calls before the main call have unchanged members in their paths and checks", async () => {
    const { status, calls } = await edit("POST /parcels/1", { unit: "dozen", count: 3 });
    expect(status).toBe(200);
    expect(calls.map(({ call }) => call)).toContain("GET /api/new/units/dozen");
    expect((await edit("POST /parcels/1", { unit: "dozen", count: 6 })).status).toBe(400);
    expect((await edit("POST /parcels/1", { unit: "dozen", count: 2, note: "new" })).sent).toEqual([
      { remark: "new" },
    ]);
  });

  test("an unchanged value is in the path of the upstream, and not in its body", async () => {
    const { sent, calls } = await edit("PUT /parcels/1/note", { shelf: 4, note: "new" });
    expect([calls.at(-1)?.call, sent]).toEqual(["PATCH /api/new/shelves/4/parcels/1", [{ remark: "new" }]]);
  });

  test("a member that the client sends back unchanged is not replaced by a default", async () => {
    expect((await edit("PATCH /parcels/1", { format: "large", note: "new" })).sent).toEqual([
      { remark: "new" },
    ]);
    expect((await edit("PATCH /parcels/1", { note: "new" })).sent).toEqual([
      { remark: "new", paper: "plain" },
    ]);
  });
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
