import { describe, expect, test } from "@jest/globals";
import { faultsOf } from "../load/pack-folder.ts";
import { sendToLibrary } from "../load/library-gateway.ts";

const reader = `
object: reader
list: readers
fields:
  name: full_name
  home: { upstream: address, object: home }
  past: { upstream: former_addresses, object: home }
bodies:
  join:
    schema:
      type: object
      properties:
        name: { type: string }
        home: { type: object }
        past: { type: array, items: { type: object } }
routes:
  - { client: POST /readers, scope: books:write, upstream: POST /people, body: join }
`;

const home = `
object: home
fields:
  street: line1
  kind:   { upstream: type, values: state }
  shelf:  { upstream: shelf_id, catalog: shelf, accepts: [object] }
  size:   { upstream: rooms, write: '$value + 1' }
`;

const files = { "reader.yaml": reader, "home.yaml": home };

/** The catalog of shelves has one entry. */
const v4 = (call: string): readonly [number, unknown] =>
  call.startsWith("GET /api/new/places")
    ? [200, { rows: [{ id: "B/2", room: "attic" }], page: 1, last_page: 1, total: 1 }]
    : [200, {}];

const join = (body: unknown) => sendToLibrary({ files }, { method: "POST", path: "/old/readers", body }, v4);

describe("an object inside a request body", () => {
  test("is translated by the rules of its own fields, also in lists; other members are not sent", async () => {
    const { status, sent } = await join({
      name: "Emma",
      home: { street: "Hill 1", kind: "available", colour: "red" },
      past: [{ street: "Dale 2", size: 3 }, { kind: "lent" }],
    });
    expect(status).toBe(200);
    expect(sent.at(-1)).toEqual({
      call: "POST /api/new/people",
      body: {
        full_name: "Emma",
        address: { line1: "Hill 1", type: "in" },
        former_addresses: [{ line1: "Dale 2", rooms: 4 }, { type: "out" }],
      },
    });
  });

  test("with values that cannot be translated is an error that names the members", async () => {
    const { status, body, sent } = await join({
      home: { size: "x" },
      past: [{ street: "Dale 2", size: "y" }],
    });
    expect([status, body]).toEqual([
      400,
      {
        problems: [
          { at: "home.size", text: "Not a valid value." },
          { at: "past.size", text: "Not a valid value." },
        ],
      },
    ]);
    expect(sent).toEqual([]);
  });

  test("gets alpha's names in errors of v4", async () => {
    const refused = { problems: [{ text: "line1 is too long", at: "address.line1" }] };
    const { body } = await sendToLibrary(
      { files },
      { method: "POST", path: "/old/readers", body: { home: { street: "x" } } },
      () => [400, refused],
    );
    expect(body).toEqual({ problems: [{ at: "home.street", text: "line1 is too long" }] });
  });
});

describe("check reports a member of a nested schema", () => {
  test("that no field of the object maps to v4", () => {
    const faults = faultsOf(
      {
        file: "book.yaml",
        from: "writer: { upstream: author_id }",
        to: "writer: { upstream: author, object: shelf }",
      },
      {
        file: "book.yaml",
        from: "writer: { type: integer }",
        to: "writer: { type: object, properties: { room: { type: string }, door: { type: string } } }",
      },
    );
    expect(faults.map(({ message }) => message)).toEqual([
      '"writer.door" is in the schema, but no field or input maps it to the upstream; if only expressions read it: an input with send: false; if it is a query parameter of the upstream: an input that to_path names, and ?name={name} in the route\'s upstream',
    ]);
  });
});
