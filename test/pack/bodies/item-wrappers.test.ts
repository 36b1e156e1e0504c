/** Wrappers around the items of lists, over HTTP. */
import { describe, expect, test } from "@jest/globals";
import { RECORDING, type TestSettings } from "../../support/gateway.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

const LIST = { client: "GET /books", upstream: "GET /items", response: "list" };
const CLIENT = { responses: { item: { kind: "$name", $name: "$object" } } };
const UPSTREAM = { responses: { item: { data: { $name: "$object" } } } };

async function start(pack: SmallPack, settings: TestSettings = {}): Promise<SmallGateway> {
  const book = { upstream_object: "item", routes: [LIST], ...pack.book };
  const gateway = await startSmallGateway({ ...pack, book }, settings);
  return gateway;
}

const upstreamItem = (id: number) => ({ links: [], data: { item: { id, name: `No. ${id}` } } });
const clientItem = (id: number) => ({ kind: "book", book: { id, title: `No. ${id}` } });

describe("items in wrappers", () => {
  test.each([
    ["written one behind the other", {}],
    ["each with a resource of its own", { routes: [{ ...LIST, one_of: [{ object: "book" }] }] }],
  ])("are unwrapped and wrapped: %s", async (_what, book) => {
    const { send, service } = await start({ client: CLIENT, upstream: UPSTREAM, book });
    for (const ids of [[], [1], [1, 2, 3]]) {
      service.respondWith(json(200, ids.map(upstreamItem)));
      const { status, body } = await send("GET /books");
      expect([status, body]).toEqual([200, ids.map(clientItem)]);
    }
  });

  test("are written by clients' shape alone, or read by the upstream's alone", async () => {
    const wraps = await start({ client: CLIENT });
    wraps.service.respondWith(json(200, [{ id: 1, name: "No. 1" }]));
    expect((await wraps.send("GET /books")).body).toEqual([clientItem(1)]);
    await wraps.stop();
    const unwraps = await start({ upstream: UPSTREAM });
    unwraps.service.respondWith(json(200, [upstreamItem(1)]));
    expect((await unwraps.send("GET /books")).body).toEqual([{ id: 1, title: "No. 1" }]);
  });

  test("have the cursors inside of their wrappers, and several upstream pages become one page", async () => {
    const { send, service } = await start({
      client: {
        pagination: {
          cursor: { parameter: "after", item: "id" },
          size: { parameter: "limit", default: 3, maximum: 3 },
        },
        responses: { ...CLIENT.responses, list: { data: "$items", more: "$has_more" } },
      },
      upstream: {
        pagination: { cursor: { parameter: "from", item: "id" }, size: { parameter: "n", maximum: 2 } },
        responses: { ...UPSTREAM.responses, list: { rows: "$items" } },
      },
    });
    const rows = (...ids: number[]) => json(200, { rows: ids.map(upstreamItem) });
    service.respondWith(rows(2, 3), rows(4, 5));
    const { body } = await send("GET /books?after=1");
    expect(body).toEqual({ data: [2, 3, 4].map(clientItem), more: true });
    expect(service.calls.map(({ path }) => path)).toEqual(["/items?from=1&n=2", "/items?from=3&n=2"]);
  });

  test("are searched for a cursor inside of their wrappers", async () => {
    const { send, service } = await start({
      client: {
        pagination: { cursor: { parameter: "after", item: "id" }, size: 2 },
        responses: { ...CLIENT.responses, list: { data: "$items", more: "$has_more" } },
      },
      upstream: UPSTREAM,
    });
    service.respondWith(json(200, [1, 2, 3, 4].map(upstreamItem)));
    const { body } = await send("GET /books?after=2");
    expect(body).toEqual({ data: [3, 4].map(clientItem), more: false });
  });

  test("are explained by their paths in both wrappers", async () => {
    const { send, service, explainLast } = await start({ client: CLIENT, upstream: UPSTREAM }, RECORDING);
    service.respondWith(json(200, [upstreamItem(1)]));
    await send("GET /books");
    expect((await explainLast()).answer).toContainEqual(
      expect.objectContaining({
        field: "[0].book.title",
        value: "No. 1",
        v4: expect.objectContaining({ field: "[0].data.item.name", value: "No. 1" }),
      }),
    );
  });
});

describe("an item of the upstream that is invalid makes the list invalid", () => {
  const text = JSON.stringify(upstreamItem(1));
  test.each([
    ["without a wrapper", '{"id":1,"name":"a"}'],
    ["with an empty wrapper", '{"data":{}}'],
    ["with a wrapper around a number", '{"data":{"item":7}}'],
    ["with a wrapper around a list", '{"data":{"item":[]}}'],
    ["with a wrapper that is a text", '{"data":"item"}'],
    ["that is null", "null"],
    ["with two objects", '{"data":{"item":{"id":1},"item":{"id":2}}}'],
    ["with two wrappers", '{"data":{"item":{"id":1}},"data":{"item":{"id":2}}}'],
  ])("%s", async (_what, item) => {
    const { send, service } = await start({ client: CLIENT, upstream: UPSTREAM });
    for (const items of [item, `${text},${item}`, `${item},${text}`]) {
      service.respondWith(plain(200, `[${items}]`, { "content-type": "application/json" }));
      expect((await send("GET /books")).status).toBe(500);
    }
    service.respondWith(json(200, [upstreamItem(1)]));
    expect((await send("GET /books")).body).toEqual([clientItem(1)]);
  });
});
