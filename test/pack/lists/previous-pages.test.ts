/** Pages before a cursor, over HTTP. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

const LIST = { client: "GET /books", upstream: "GET /items", response: "list" };
const SIZE = { parameter: "limit", default: 2, maximum: 10 };
const IDS = {
  pagination: { cursor: { parameter: "starting_after", item: "id", before: "ending_before" }, size: SIZE },
  responses: { list: { data: "$items", has_more: "$has_more" } },
};
const LINKS = {
  pagination: { cursor: { parameter: "after", before: "before" }, size: SIZE, link_header: true },
};
const UPSTREAM = {
  pagination: { cursor: { parameter: "c" }, size: { parameter: "n", maximum: 3 } },
  responses: { list: { rows: "$items", next: "$next_cursor", previous: "$previous_cursor" } },
};

async function start(client: object, upstream: object = {}): Promise<SmallGateway> {
  const gateway = await startSmallGateway({ client, upstream, book: { routes: [LIST] } });
  return gateway;
}

const rows = (...ids: number[]) => ids.map((id) => ({ id, name: `No. ${id}` }));
const books = (...ids: number[]) => ids.map((id) => ({ id, title: `No. ${id}` }));

test("the page before an item is found in a list without pages", async () => {
  const { send, service } = await start(IDS);
  service.respondWith(json(200, rows(1, 2, 3, 4)));
  expect((await send("GET /books?ending_before=4")).body).toEqual({ data: books(2, 3), has_more: true });
  expect((await send("GET /books?ending_before=3")).body).toEqual({ data: books(1, 2), has_more: false });
  expect((await send("GET /books?ending_before=2")).body).toEqual({ data: books(1), has_more: false });
  expect((await send("GET /books?ending_before=1")).body).toEqual({ data: [], has_more: false });
});

test("links lead to the page before and to the next one, each with one cursor", async () => {
  const { send, service } = await start(LINKS, UPSTREAM);
  service.respondWith(json(200, { rows: rows(5, 6), next: "n", previous: "p" }));
  const { headers } = await send("GET /books?lang=de&limit=2&before=x");
  expect(service.calls.map(({ path }) => path)).toEqual(["/items?c=x&n=2"]);
  expect(headers.get("link")?.split(", ")).toEqual([
    '</books?lang=de&limit=2>; rel="first"',
    '</books?lang=de&limit=2&before=p>; rel="prev"',
    '</books?lang=de&limit=2&after=n>; rel="next"',
  ]);
});

test("one page of clients comes from several pages before the cursor, in the order of the list", async () => {
  const { send, service } = await start(LINKS, UPSTREAM);
  service.respondWith(
    json(200, { rows: rows(4, 5, 6), next: "n6", previous: "p4" }),
    json(200, { rows: rows(2, 3), next: "n3", previous: "p2" }),
  );
  const { body, headers } = await send("GET /books?limit=5&before=p7");
  expect(body).toEqual(books(2, 3, 4, 5, 6));
  expect(service.calls.map(({ path }) => path)).toEqual(["/items?c=p7&n=3", "/items?c=p4&n=2"]);
  expect(headers.get("link")).toContain('&before=p2>; rel="prev"');
  expect(headers.get("link")).toContain('&after=n6>; rel="next"');
});

test("a cursor of the upstream that looks like a marked one stays what it is", async () => {
  const client = {
    pagination: { cursor: { parameter: "cursor" }, size: SIZE },
    responses: { list: { data: "$items", next: "$next_cursor", previous: "$previous_cursor" } },
  };
  const { send, service } = await start(client, {
    ...UPSTREAM,
    pagination: { ...UPSTREAM.pagination, cursor: { parameter: "c", before: "b" } },
  });
  service.respondWith(json(200, { rows: rows(1, 2), next: "prev:1", previous: "next:2" }));
  const { body } = await send("GET /books?cursor=a");
  for (const cursor of [body.next, body.previous]) await send(`GET /books?cursor=${cursor}`);
  expect(service.calls.map(({ path }) => path)).toEqual([
    "/items?c=a&n=2",
    "/items?c=prev%3A1&n=2",
    "/items?b=next%3A2&n=2",
  ]);
});

test.each([
  ["ending_before=9", "ending_before names none of the items that can be found."],
  ["ending_before=", "ending_before must have 1 to 1000 characters."],
  [`ending_before=${"9".repeat(2000)}`, "ending_before must have 1 to 1000 characters."],
  ["ending_before=1&ending_before=2", "ending_before must be given once."],
  ["ending_before=1&starting_after=2", "Only one of starting_after and ending_before can be given."],
])("%s is a 400", async (query, message) => {
  const { send, service } = await start(IDS);
  service.respondWith(json(200, rows(1, 2)));
  const { status, body } = await send(`GET /books?${query}`);
  expect([status, body]).toEqual([400, { message }]);
});

test.each(["before=x", "before=b2Zmc2V0OjA", "after=x"])(
  "%s is a 400 where the gateway writes the cursors",
  async (query) => {
    const { send, service } = await start(LINKS);
    service.respondWith(json(200, rows(1, 2)));
    const { status, body } = await send(`GET /books?${query}`);
    expect([status, body]).toEqual([
      400,
      { message: `${query.split("=")[0]} is not a cursor of this list.` },
    ]);
  },
);

test.each([
  ["more items than asked for", { rows: rows(1, 2, 3), next: "n", previous: null }],
  ["the same cursor again", { rows: rows(1), next: "n", previous: "x" }],
])("a page before a cursor with %s is a 500", async (_what, body) => {
  const { send, service } = await start(LINKS, UPSTREAM);
  service.respondWith(json(200, body));
  expect((await send("GET /books?limit=2&before=x")).status).toBe(500);
});
