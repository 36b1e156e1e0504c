/** A client that follows the pages of its own style back to the first one gets every item once, in order. */
import { describe, expect, test } from "@jest/globals";
import { PackError } from "../../../src/base/files/diagnostic.ts";
import { itemsFrom, loadPagingPack, openPagingGateway, UPSTREAMS, type Side } from "./paging-packs.ts";

type Response = Awaited<ReturnType<ReturnType<typeof openPagingGateway>["get"]>>;

interface StyledClient extends Side {
  /** The query of the page behind a response, and of the one before; undefined without one. */
  readonly next: (response: Response) => string | undefined;
  readonly previous: (response: Response) => string | undefined;
}

const size = { parameter: "limit", default: 5, maximum: 20 };
const linkOf =
  (relation: string) =>
  ({ headers }: Response): string | undefined =>
    new RegExp(`</things\\?limit=\\d+&([^>]*)>; rel="${relation}"`).exec(headers["link"] ?? "")?.[1];
const cursorIn =
  (parameter: string, name: string) =>
  ({ body }: Response) =>
    body[name] === null ? undefined : `${parameter}=${encodeURIComponent(body[name])}`;

/** Clients with opaque cursors need cursors of the upstream in both directions, if it has cursors at all. */
const CLIENTS: Readonly<Record<string, StyledClient>> = {
  "ids of items": {
    pagination: { cursor: { parameter: "starting_after", item: "id", before: "ending_before" }, size },
    list: { data: "$items", has_more: "$has_more" },
    next: ({ body }) => (body.has_more ? `starting_after=${body.data.at(-1).id}` : undefined),
    // `has_more` of the last page is about the other direction.
    previous: ({ body }) => (body.data.length > 0 ? `ending_before=${body.data[0].id}` : undefined),
  },
  "opaque cursors in one parameter": {
    pagination: { cursor: { parameter: "cursor" }, size },
    list: { data: "$items", next: "$next_cursor", previous: "$previous_cursor" },
    next: cursorIn("cursor", "next"),
    previous: cursorIn("cursor", "previous"),
  },
  "opaque cursors in two parameters": {
    pagination: { cursor: { parameter: "after", before: "before" }, size },
    list: { data: "$items", next: "$next_cursor", previous: "$previous_cursor" },
    next: cursorIn("after", "next"),
    previous: cursorIn("before", "previous"),
  },
  "links in a header": {
    pagination: { cursor: { parameter: "after", before: "before" }, size, link_header: true },
    list: { data: "$items" },
    next: linkOf("next"),
    previous: linkOf("prev"),
  },
};

const isForwardOnly = (upstream: string): boolean =>
  /cursors?|ids/.test(upstream) && !upstream.includes("directions");

describe.each(Object.entries(CLIENTS))("clients with %s", (name, client) => {
  const isPossible = (upstream: string): boolean => name === "ids of items" || !isForwardOnly(upstream);

  test.each(Object.entries(UPSTREAMS).filter(([upstream]) => isPossible(upstream)))(
    "go to the end of a list with %s, and back",
    async (_upstream, upstream) => {
      const pack = loadPagingPack(client, upstream);
      for (const total of [0, 1, 12, 29])
        for (const limit of total > 12 ? [9] : [2, 5]) {
          const gateway = openPagingGateway(pack, upstream.respond(total));
          const get = async (query?: string): Promise<Response> => {
            const response = await gateway.get(
              `/things?limit=${limit}${query === undefined ? "" : `&${query}`}`,
            );
            expect(response).toMatchObject({ status: 200 });
            return response;
          };
          const expected = itemsFrom(0, total, total).map(({ id }) => ({ id: `t_${id}` }));
          let response = await get();
          const forward = [...response.body.data];
          for (let query = client.next(response); query !== undefined; query = client.next(response)) {
            response = await get(query);
            forward.push(...response.body.data);
          }
          expect({ total, forward }).toEqual({ total, forward: expected });
          const back = [...response.body.data];
          for (
            let query = client.previous(response);
            query !== undefined;
            query = client.previous(response)
          ) {
            response = await get(query);
            back.unshift(...response.body.data);
            expect(response.body.data.length).toBeLessThanOrEqual(limit);
          }
          expect({ total, back }).toEqual({ total, back: expected });
          // The first page leads forward again. Clients with ids of items know the way back only.
          const { length } = response.body.data;
          const leadsOn = name !== "ids of items" && length > 0 && length < total;
          const second = leadsOn ? (await get(client.next(response))).body.data : [];
          expect(second).toEqual(leadsOn ? expected.slice(length, length + limit) : []);
        }
    },
  );

  const impossible = Object.entries(UPSTREAMS).filter(([upstream]) => !isPossible(upstream));
  for (const [title, upstream] of name === "links in a header" ? [] : impossible)
    test(`are an error of the pack with ${title}`, () => {
      expect(() => loadPagingPack(client, upstream)).toThrow(PackError);
    });
});

test("the upstream gets the cursor of the page before, and is read towards the start of the list", async () => {
  const [client, upstream] = [CLIENTS["ids of items"], UPSTREAMS["ids of items in both directions"]];
  if (!client || !upstream) throw new Error("the styles are gone");
  const gateway = openPagingGateway(loadPagingPack(client, upstream), upstream.respond(29));
  const { body } = await gateway.get("/things?limit=9&ending_before=t_20");
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(
    [11, 12, 13, 14, 15, 16, 17, 18, 19].map((id) => `t_${id}`),
  );
  expect(body.has_more).toBe(true);
  expect(gateway.takeSent()).toEqual(["GET /items?before=20&n=7", "GET /items?before=13&n=2"]);
});
