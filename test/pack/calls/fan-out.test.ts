/** How many calls of the upstream one request can cause. */
import { describe, expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";
import type { SmallPack } from "../../support/small-pack.ts";

async function start(pack: SmallPack): Promise<SmallGateway> {
  const gateway = await startSmallGateway(pack);
  return gateway;
}

const range = (length: number): string[] => Array.from({ length }, (_, index) => `p${index}`);

/** A route whose response has the parts that the body names. */
const PARTS: SmallPack = {
  client: { responses: { error: { message: "$message", field: "$field" } } },
  book: {
    fields: { id: "id", parts: { read: "$count($calls.parts)", write: "$value" } },
    inputs: { pages: { upstream: "items" } },
    bodies: {
      create: {
        schema: { type: "object", properties: { pages: { type: "array", items: { type: "string" } } } },
      },
    },
    routes: [
      {
        client: "POST /books",
        upstream: "POST /items",
        body: "create",
        calls: [{ name: "parts", upstream: "GET /parts/{each}", each: "$request.items" }],
      },
    ],
  },
};

/** A route whose response counts the rows of a related list, in pages of one row. */
const ROWS: SmallPack = {
  upstream: {
    pagination: { page: { parameter: "page" }, size: { parameter: "size", maximum: 1 } },
    responses: { list: { data: "$items", total: "$total" } },
  },
  book: {
    fields: { id: "id", rows: { read: "$count($calls.rows)", write: "$value" } },
    routes: [
      {
        client: "GET /books/:id",
        upstream: "GET /items/{id}",
        calls: [{ name: "rows", upstream: "GET /rows", all_pages: true }],
      },
    ],
  },
};

/** The same, with a number of pages. */
const CONTRADICTING: SmallPack = {
  ...ROWS,
  upstream: { ...ROWS.upstream, responses: { list: { data: "$items", pages: "$pages", total: "$total" } } },
};

describe("one request makes a limited number of calls", () => {
  test("`each`: one for each different value", async () => {
    const { send, service } = await start(PARTS);
    service.respondWith(json(200, { id: 7 }));
    const pages = Array.from({ length: 5000 }, (_, index) => `p${index % 2}`);
    const { status, body } = await send("POST /books", { body: { pages } });
    expect([status, body]).toEqual([200, { id: 7, parts: 5000 }]);
    expect(service.calls.map(({ path }) => path).toSorted()).toEqual(["/items", "/parts/p0", "/parts/p1"]);
  });

  test("`each`: for 100 values, and none for more", async () => {
    const { send, service } = await start(PARTS);
    service.respondWith(json(200, { id: 7 }));
    const rejected = await send("POST /books", { body: { pages: range(101) } });
    expect([rejected.status, rejected.body]).toEqual([
      400,
      { message: "Must be at most 100 different values.", field: "pages" },
    ]);
    expect(service.calls).toEqual([]);
    expect((await send("POST /books", { body: { pages: range(100) } })).status).toBe(200);
    expect(service.calls).toHaveLength(101);
  });

  test("`all_pages`: 100, also where the first page says that there are more", async () => {
    const { send, service } = await start(ROWS);
    service.respondWith((call, response) =>
      json(200, call.path.startsWith("/rows") ? { data: [{ id: 1 }], total: 900 } : { id: 7 })(
        call,
        response,
      ),
    );
    expect((await send("GET /books/7")).status).toBe(200);
    expect(service.calls.length).toBeLessThanOrEqual(101);
  });

  test("`all_pages`: ends where the total contradicts the number of pages", async () => {
    const { send, service } = await start(CONTRADICTING);
    service.respondWith((call, response) =>
      json(200, call.path.startsWith("/rows") ? { data: [], pages: 3, total: 0 } : { id: 7 })(call, response),
    );
    expect((await send("GET /books/7")).status).toBe(200);
    expect(service.calls.length).toBeLessThanOrEqual(4);
  });

  test("`repeat`: 100, or the pack is rejected", async () => {
    const repeat = { until: "done", interval_ms: 10, timeout_ms: 1001 };
    const calls = [{ at: "before", upstream: "GET /jobs/{id}", repeat }];
    const route = { client: "POST /books/:id/start", upstream: "POST /items/{id}/start", calls };
    await expect(start({ book: { routes: [{ ...route, response: "none" }] } })).rejects.toThrow(
      "a call is sent 100 times at most",
    );
  });
});
