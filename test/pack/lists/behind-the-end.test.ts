/** The previous page of one behind the end of a list. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";

test.each([
  ["last", 9, 3],
  ["before", 9, 8],
  ["none", 9, null],
  ["before", 3, 2],
  ["none", 3, 2],
  ["none", 1, null],
])("is with %s of page %i of 3 the page %j", async (behind, page, previous) => {
  const upstream = {
    pagination: { page: { parameter: "page" }, size: { parameter: "size", maximum: 2 } },
    responses: { list: { rows: "$items", total: "$total" } },
  };
  const gateway = await startSmallGateway({
    client: {
      pagination: { page: { parameter: "page" }, size: 2, behind_end: behind },
      responses: { list: { books: "$items", previous: "$previous_page" } },
    },
    upstream,
    book: { routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }] },
  });
  const rows = page > 3 ? [] : page === 3 ? [{ id: 5 }] : [{ id: 1 }, { id: 2 }];
  gateway.service.respondWith(json(200, { rows, total: 5 }));
  expect((await gateway.send(`GET /books?page=${page}`)).body.previous).toBe(previous);
});
