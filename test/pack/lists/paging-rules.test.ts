/** A client that follows the pages of its own style gets every item of the upstream once, in order. */
import { describe, expect, test } from "@jest/globals";
import { itemsFrom, loadPagingPack, openPagingGateway, UPSTREAMS, type Side } from "./paging-packs.ts";

type Gateway = ReturnType<typeof openPagingGateway>;
type Response = Awaited<ReturnType<Gateway["get"]>>;

interface StyledClient extends Side {
  /** The query of the first page. */
  readonly first: string;
  /** The query of the page after a response; undefined after the last one. */
  readonly next: (response: Response, page: number) => string | undefined;
}

const size = { parameter: "limit", default: 3, maximum: 20 };

const CLIENTS: Readonly<Record<string, StyledClient>> = {
  "pages from 0": {
    pagination: { page: { parameter: "page", first: 0 }, size: 3 },
    list: { data: "$items", more: "$has_more" },
    first: "",
    next: ({ body }, page) => (body.more ? `page=${page}` : undefined),
  },
  "pages with their numbers": {
    pagination: { page: { parameter: "page" }, size },
    list: { page: "$page", next: "$next_page", data: "$items", size: "$size", count: "$count" },
    first: "limit=4",
    next: ({ body }) => (body.next === null ? undefined : `limit=4&page=${body.next}`),
  },
  "large pages": {
    pagination: { page: { parameter: "page" }, size },
    list: { data: "$items", more: "$has_more" },
    first: "limit=16",
    next: ({ body }, page) => (body.more ? `limit=16&page=${page + 1}` : undefined),
  },
  offsets: {
    pagination: { offset: { parameter: "skip" }, size },
    list: { data: "$items", next: "$next_offset" },
    first: "skip=0&limit=5",
    next: ({ body }) => (body.next === null ? undefined : `skip=${body.next}&limit=5`),
  },
  "opaque cursors": {
    pagination: { cursor: { parameter: "cursor" }, size },
    list: { data: "$items", next: "$next_cursor" },
    first: "limit=5",
    next: ({ body }) => (body.next === null ? undefined : `limit=5&cursor=${encodeURIComponent(body.next)}`),
  },
  "ids of items": {
    pagination: { cursor: { parameter: "starting_after", item: "id" }, size },
    list: { object: "list", data: "$items", has_more: "$has_more" },
    first: "limit=5",
    next: ({ body }) => (body.has_more ? `limit=5&starting_after=${body.data.at(-1).id}` : undefined),
  },
  "links in a header": {
    pagination: { page: { parameter: "page[number]" }, size, link_header: true },
    list: { data: "$items" },
    first: "limit=6",
    next: ({ headers }) => /<\/things\?([^>]*)>; rel="next"/.exec(headers["link"] ?? "")?.[1],
  },
  "no pages": { list: { data: "$items" }, first: "", next: () => undefined },
};

const TOTALS = [0, 1, 7, 12, 29];

async function followAll(gateway: Gateway, { first, next }: StyledClient): Promise<unknown[]> {
  const items: unknown[] = [];
  let query: string | undefined = first;
  for (let page = 1; query !== undefined; page += 1) {
    const response: Response = await gateway.get(`/things${query === "" ? "" : `?${query}`}`);
    if (response.status !== 200) throw new Error(JSON.stringify(response.body));
    items.push(...response.body.data);
    query = next(response, page);
    if (page > 40) throw new Error("pages without an end");
  }
  return items;
}

describe.each(Object.entries(CLIENTS))("clients with %s", (_client, client) => {
  test.each(Object.entries(UPSTREAMS))(
    "get every item of an upstream with %s",
    async (_upstream, upstream) => {
      const pack = loadPagingPack(client, upstream);
      for (const total of TOTALS) {
        const gateway = openPagingGateway(pack, upstream.respond(total));
        const expected = itemsFrom(0, total, total).map(({ id }) => ({ id: `t_${id}` }));
        expect({ total, items: await followAll(gateway, client) }).toEqual({ total, items: expected });
      }
    },
  );
});

test("a page of a search in a POST body comes from several upstream pages, too", async () => {
  const upstream = UPSTREAMS["pages with totals"];
  const client = CLIENTS["large pages"];
  if (!upstream || !client) throw new Error("the styles are gone");
  const route = { upstream: "POST /items/search", search: { p: "$p", n: "$n" } };
  const gateway = openPagingGateway(loadPagingPack(client, upstream, route), upstream.respond(9));
  const { body } = await gateway.get("/things?limit=8");
  expect(body).toEqual({ data: itemsFrom(0, 8, 9).map(({ id }) => ({ id: `t_${id}` })), more: true });
  expect(gateway.takeSent()).toEqual([
    'POST /items/search {"p":1,"n":7}',
    'POST /items/search {"p":2,"n":7}',
  ]);
});

const cursorPages = (item?: string): Side => ({
  pagination: { cursor: { parameter: "after", ...(item !== undefined && { item }) }, size },
  list: item === undefined ? { data: "$items", next: "$next_cursor" } : { data: "$items", more: "$has_more" },
});
const offsetPages: Side = {
  pagination: { offset: { parameter: "skip" }, size },
  list: { data: "$items", total: "$total" },
};
const upstreamSize = { parameter: "n", maximum: 10 };

test("a client's page as large as the upstream's has a next cursor that is a member of an item", async () => {
  const upstream = UPSTREAMS["ids of items without a word about further ones"];
  if (!upstream) throw new Error("the style is gone");
  const gateway = openPagingGateway(loadPagingPack(cursorPages(), upstream), upstream.respond(9));
  expect((await gateway.get("/things?limit=7")).body.next).toBe("7");
  expect((await gateway.get("/things?limit=7&after=7")).body).toEqual({
    data: [{ id: "t_8" }, { id: "t_9" }],
    next: null,
  });
});

/** JSON with an integer that no double holds. */
const exact = (digits: string): unknown =>
  (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits);

describe("cursors that are numbers above 2^53 keep their digits", () => {
  const [first, second] = ["12345678901234567890", "12345678901234567891"];
  const respond = (query: URLSearchParams) => {
    const isSecond = query.get("c") === first;
    const id = exact(isSecond ? second : first);
    return { body: { rows: [{ id }], next: isSecond ? null : exact(first), more: !isSecond } };
  };

  test.each<[string, object, unknown]>([
    ["in a list", { parameter: "c" }, { rows: "$items", next: "$next_cursor" }],
    ["in an item", { parameter: "c", item: "id" }, { rows: "$items", more: "$has_more" }],
  ])("%s", async (_where, cursor, list) => {
    const pack = loadPagingPack(cursorPages(), { pagination: { cursor, size: upstreamSize }, list });
    const gateway = openPagingGateway(pack, respond);
    expect((await gateway.get("/things?limit=1")).body.next).toBe(first);
    expect((await gateway.get(`/things?limit=1&after=${first}`)).body.next).toBe(null);
  });
});

describe("instead of a list without some items, clients get a 500", () => {
  const opaque = { pagination: { cursor: { parameter: "c" }, size: upstreamSize } };
  const ids = { pagination: { cursor: { parameter: "c", item: "key" }, size: upstreamSize } };
  const pages = { pagination: { page: { parameter: "p" }, size: upstreamSize } };
  const items = (count: number) => itemsFrom(0, count, count);

  test.each<[string, Side, Side, unknown]>([
    [
      "a page with more items than asked for",
      cursorPages(),
      { ...opaque, list: { rows: "$items", next: "$next_cursor" } },
      { rows: items(10), next: "a" },
    ],
    [
      "a numbered page that the upstream has cut, with a total",
      offsetPages,
      { ...pages, list: { rows: "$items", total: "$total" } },
      { rows: items(2), total: 40 },
    ],
    [
      "one with a number of pages",
      cursorPages("id"),
      { ...pages, list: { rows: "$items", pages: "$pages" } },
      { rows: items(2), pages: 20 },
    ],
    [
      "one with a next page",
      cursorPages("id"),
      { ...pages, list: { rows: "$items", next: "$next_page" } },
      { rows: items(2), next: 2 },
    ],
    [
      "a part of a list for which the pack has no pages",
      offsetPages,
      { list: { rows: "$items", total: "$total" } },
      { rows: items(2), total: 40 },
    ],
    [
      "items that follow without a cursor",
      cursorPages(),
      { ...opaque, list: { rows: "$items", next: "$next_cursor", more: "$has_more" } },
      { rows: items(2), next: null, more: true },
    ],
    [
      "a link to the next page without a cursor",
      cursorPages(),
      { ...opaque, list: { rows: "$items", next: "$next_link" } },
      { rows: items(2), next: "/items?d=1" },
    ],
    [
      "a link to the next page with an endless cursor",
      cursorPages(),
      { ...opaque, list: { rows: "$items", next: "$next_link" } },
      { rows: items(2), next: `/items?c=${"c".repeat(1001)}` },
    ],
    [
      "a last item without the member that is the cursor",
      cursorPages(),
      { ...ids, list: { rows: "$items", more: "$has_more" } },
      { rows: items(2), more: true },
    ],
  ])("for %s", async (_what, client, upstream, body) => {
    const gateway = openPagingGateway(loadPagingPack(client, upstream), () => ({ body }));
    expect((await gateway.get("/things?limit=5")).status).toBe(500);
  });
});

describe("a total that the upstream leaves out of its headers", () => {
  const client = { ...CLIENTS["pages with their numbers"]!, list: { data: "$items", total: "$total" } };
  const paged = {
    pagination: {
      offset: { parameter: "offset" },
      size: { parameter: "limit", maximum: 5 },
      total_header: "X-Total",
    },
    list: "$items",
  };
  const things = (count: number) => Array.from({ length: count }, (_, id) => ({ id }));
  const get = (upstream: Side, rows: number, query: string) =>
    openPagingGateway(loadPagingPack(client, upstream), (sent) => ({
      body: things(rows).slice(
        Number(sent.get("offset")),
        Number(sent.get("offset")) + Number(sent.get("limit")),
      ),
    })).get(`/things${query}`);

  test("is an error, since clients would not find it", async () => {
    const { status } = await get(paged, 9, "?limit=2");
    expect(status).toBe(500);
  });

  test("is counted on the last page", async () => {
    const { status, body } = await get(paged, 9, "?limit=5&page=2");
    expect([status, body.data.length, body.total]).toEqual([200, 4, 9]);
  });

  test("is counted where clients get all pages", async () => {
    const all = { list: { data: "$items", total: "$total" } };
    const pack = loadPagingPack(all, {
      ...paged,
      pagination: { ...paged.pagination, total_header: undefined },
    });
    const gateway = openPagingGateway(pack, (sent) => ({
      body: things(12).slice(
        Number(sent.get("offset")),
        Number(sent.get("offset")) + Number(sent.get("limit")),
      ),
    }));
    const { status, body } = await gateway.get("/things");
    expect([status, body.data.length, body.total]).toEqual([200, 12, 12]);
  });
});

/** A list that the upstream pages by numbers or offsets, with its total. */
const pagedList = (style: "page" | "offset", maximum: number): Side => ({
  pagination: { [style]: { parameter: "p" }, size: { parameter: "n", maximum } },
  list: { rows: "$items", total: "$total" },
});

/** Responds with pages that have at most a number of items, whatever size the gateway asks for. */
const respondInPages =
  (style: "page" | "offset", most: number, total: number) =>
  (query: URLSearchParams): { body: unknown } => {
    const [position, count] = [Number(query.get("p")), Math.min(most, Number(query.get("n")))];
    return {
      body: { rows: itemsFrom(style === "page" ? (position - 1) * count : position, count, total), total },
    };
  };

const UNPAGED: Side = { list: { data: "$items", total: "$total" } };
const idsFrom = (start: number, count: number) =>
  itemsFrom(start, count, Infinity).map(({ id }) => ({ id: `t_${id}` }));

describe("a client without pages gets all rows that the gateway has in memory", () => {
  test("of a list that the gateway filters, also more than the upstream's `max_items`", async () => {
    const pack = loadPagingPack(UNPAGED, pagedList("page", 50), { aggregate: { max_items: 1500 } });
    const { status, body } = await openPagingGateway(pack, respondInPages("page", 50, 1200)).get("/things");
    expect([status, body]).toEqual([200, { data: idsFrom(0, 1200), total: 1200 }]);
  });

  test("or a 500 for a list that is longer than what is read of it", async () => {
    const pack = loadPagingPack(UNPAGED, pagedList("page", 50), { aggregate: { max_items: 1199 } });
    const { status } = await openPagingGateway(pack, respondInPages("page", 50, 1200)).get("/things");
    expect(status).toBe(500);
  });

  test("of a catalog, also more than 100 pages of the upstream's other lists", async () => {
    const pack = loadPagingPack(
      UNPAGED,
      pagedList("page", 5),
      { catalog: true, upstream: undefined },
      {
        catalog: { upstream: [{ request: "GET /items", pagination: "none" }], stub: '{ "id": $id }' },
        routes: [],
      },
    );
    const rows = itemsFrom(0, 800, 800).map(({ id }) => ({ id: `${id}` }));
    const gateway = openPagingGateway(pack, () => ({ body: { rows, total: 800 } }));
    await gateway.readCatalogs();
    const { status, body } = await gateway.get("/things");
    expect([status, body]).toEqual([200, { data: idsFrom(0, 800), total: 800 }]);
  });

  test("and one with pages reaches those behind `max_items` of an upstream with cursors", async () => {
    const upstream = UPSTREAMS["opaque cursors"];
    if (!upstream) throw new Error("the style is gone");
    const cursors = { ...upstream, pagination: { ...upstream.pagination, max_items: 7 } };
    const pages = { pagination: { page: { parameter: "page" }, size: 5 }, list: { data: "$items" } };
    const pack = loadPagingPack(pages, cursors, { aggregate: { max_items: 100 } });
    const { status, body } = await openPagingGateway(pack, upstream.respond(29)).get("/things?page=4");
    expect([status, body]).toEqual([200, { data: idsFrom(15, 5) }]);
  });
});

describe.each(["page", "offset"] as const)("a list that the gateway reads as a whole, by %s", (style) => {
  const read = (respond: (query: URLSearchParams) => { body: unknown }) => {
    const pack = loadPagingPack(UNPAGED, pagedList(style, 100), { aggregate: { max_items: 1000 } });
    return openPagingGateway(pack, respond).get("/things");
  };

  test.each([120, 320])(
    "is a 500 where the upstream's pages are shorter than the pack says, never a part of %i items",
    async (total) => {
      expect((await read(respondInPages(style, 50, total))).status).toBe(500);
    },
  );

  test("is a 500 where its pages are longer and more follow, never some items twice", async () => {
    const respond = (query: URLSearchParams) => {
      const position = Number(query.get("p"));
      return {
        body: { rows: itemsFrom(style === "page" ? (position - 1) * 200 : position, 200, 450), total: 450 },
      };
    };
    expect((await read(respond)).status).toBe(500);
  });

  test.each([0, 99, 100, 101, 250])("has a last page of any size: %i items", async (total) => {
    const { body } = await read(respondInPages(style, 100, total));
    expect(body).toEqual({ data: idsFrom(0, total), total });
  });

  test("may come in one page that is longer than the pack says", async () => {
    const { body } = await read(() => ({ body: { rows: itemsFrom(0, 130, 130), total: 130 } }));
    expect(body).toEqual({ data: idsFrom(0, 130), total: 130 });
  });

  test("ends where the upstream has fewer items by then", async () => {
    let total = 350;
    const { status, body } = await read((query) => {
      const answer = respondInPages(style, 100, total)(query);
      total = 180;
      return answer;
    });
    expect([status, body]).toEqual([200, { data: idsFrom(0, 180), total: 180 }]);
  });
});
