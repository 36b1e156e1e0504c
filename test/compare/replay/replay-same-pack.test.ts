/** What the gateway has recorded is no change under the same pack, wherever its responses have their objects. */
import { describe, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { Replay, type ReplayResult } from "../../../src/compare/replay/replay-record.ts";
import { RECORDING } from "../../support/gateway.ts";
import type { RequestOptions } from "../../support/request.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { writeSmallPack, type SmallPack } from "../../support/small-pack.ts";

const SHELF = {
  list: "shelves",
  fields: { id: "id", room: "room" },
  catalog: { upstream: [{ request: "GET /places" }], stub: '{ "id": $id, "room": "unknown" }' },
};
const FIELDS = { id: "id", shelf: { upstream: "place", catalog: "shelf" } };

const packOf = (client: object, route: object = {}): SmallPack => ({
  client,
  book: {
    fields: FIELDS,
    routes: [{ client: "GET /books/:id", upstream: "GET /items/{id}", ...route }],
  },
  others: { shelf: SHELF },
});

const BOOK = { id: 1, place: "p1" };
const HAD = { headers: { "if-none-match": '"1"' } };

/** Sends a request, and replays its record under the same pack. */
async function replayOf(
  pack: SmallPack,
  call: string,
  options?: RequestOptions,
): Promise<{ status: number; result: ReplayResult }> {
  const gateway = await startSmallGateway(pack, RECORDING);
  gateway.service.respondWith(({ path, headers }, response) => {
    const isCurrent = headers["if-none-match"] === '"1"';
    response.writeHead(isCurrent ? 304 : 200, { etag: '"1"', "content-type": "application/json" });
    response.end(isCurrent ? "" : JSON.stringify(path === "/items" ? [BOOK] : BOOK));
  });
  const { status } = await gateway.send(call, options);
  // The catalog could not be read. The record is that of a time at which it could.
  const record: AuditRecord = JSON.parse((await gateway.lastRecord()).replace('"unknown"', '"hall"'))
    .records[0];
  return { status, result: await new Replay(loadPack(writeSmallPack(pack))).run(record) };
}

const LIST = { client: "GET /books", upstream: "GET /items", response: "list" };

test.each<[string, SmallPack, string]>([
  ["an object without a wrapper", packOf({}), "GET /books/1"],
  [
    "an object in a wrapper",
    packOf({ responses: { object: { data: { $name: "$object" } } } }),
    "GET /books/1",
  ],
  ["a list", packOf({}, LIST), "GET /books"],
  ["a list with wrapped items", packOf({ responses: { item: { $name: "$object" } } }, LIST), "GET /books"],
  [
    "a list of another shape than those of the pack",
    packOf({}, { ...LIST, envelope: { client: { list: { found: "$items" } } } }),
    "GET /books",
  ],
  [
    "results for many ids",
    packOf(
      {},
      {
        client: "GET /some",
        bulk: {
          parameter: "id",
          ids: '$split($query.ids, ",")',
          most: 3,
          success: { id: "$id", book: "$object" },
          list: { results: "$items" },
        },
      },
    ),
    "GET /some?ids=1",
  ],
])("an entry of a catalog is not compared in %s", async (_, pack, call) => {
  expect(await replayOf(pack, call)).toMatchObject({
    status: 200,
    result: { kind: "same", uncompared: ["shelf"] },
  });
});

test("a 304 is inconclusive: the version that the client had is not recorded", async () => {
  const headers = { request: { "If-None-Match": "If-None-Match" }, response: { ETag: "ETag" } };
  expect(await replayOf(packOf({ headers }), "GET /books/1", HAD)).toEqual({
    status: 304,
    result: {
      kind: "inconclusive",
      reason: "the client had this version already, by a header, and headers are not recorded",
    },
  });
});

describe("a recorded form runs again as a form", () => {
  const FORM = "application/x-www-form-urlencoded";
  const schema = {
    type: "object",
    properties: { title: { type: "string" }, pages: { type: "integer" }, tags: { type: "array" } },
  };
  const formPack = (...types: readonly string[]): SmallPack => ({
    client: { bodies: { media_types: types } },
    book: {
      fields: { id: "id", title: "name", pages: "size", tags: "labels" },
      bodies: { write: { schema } },
      routes: [{ client: "POST /books", upstream: "POST /items/new", body: "write" }],
    },
  });
  const form = (raw: string): RequestOptions => ({ raw, headers: { "content-type": FORM } });
  const JSON_TYPE = "application/json";

  test.each<[string, SmallPack, RequestOptions]>([
    ["where clients send forms alone", formPack(FORM), form("title=Emma&pages=12&tags[]=a&tags[]=b")],
    ["where a form is the first type", formPack(FORM, JSON_TYPE), form("title=Emma&pages=12")],
    ["where a form is another type, by its brackets", formPack(JSON_TYPE, FORM), form("title=A&tags[]=b")],
    ["and JSON as JSON where a form is the first type", formPack(FORM, JSON_TYPE), { body: { pages: 12 } }],
  ])("%s", async (_, pack, options) => {
    expect(await replayOf(pack, "POST /books", options)).toEqual({
      status: 200,
      result: { kind: "same", exact: true },
    });
  });
});
