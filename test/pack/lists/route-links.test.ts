/** Links of a list whose route says itself whether they have a host. */
import { expect, test } from "@jest/globals";
import { json } from "../../support/fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";

const OTHER = { path: "absolute", absolute: "path" } as const;
const PREFIX = { path: "", absolute: "https://books.example" } as const;

test.each(["path", "absolute"] as const)(
  "a route differs from the %s links of the pack, and other lists do not",
  async (links) => {
    const pagination = { page: { parameter: "page" }, size: 1 };
    const list = { upstream: "GET /items", response: "list" };
    const gateway = await startSmallGateway(
      {
        client: {
          pagination: { ...pagination, links },
          responses: { list: { items: "$items", next: "$next_link" } },
        },
        upstream: {
          pagination: { page: { parameter: "page" }, size: { parameter: "size", maximum: 1 } },
          responses: { list: { items: "$items", total: "$total" } },
        },
        book: {
          routes: [
            { client: "GET /books", ...list },
            { client: "GET /other", ...list, pagination: { client: { ...pagination, links: OTHER[links] } } },
          ],
        },
      },
      { PUBLIC_URL: "https://books.example" },
    );
    gateway.service.respondWith(json(200, { items: [{ id: 1 }], total: 2 }));
    const [books, other] = [await gateway.send("GET /books"), await gateway.send("GET /other")];
    expect([books.body.next, other.body.next]).toEqual([
      `${PREFIX[links]}/books?page=2`,
      `${PREFIX[OTHER[links]]}/other?page=2`,
    ]);
  },
);
