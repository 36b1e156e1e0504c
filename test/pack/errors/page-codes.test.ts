/** The code of an invalid page: its size is a part of it, unless the pack has another code for that. */
import { afterEach, expect, test } from "@jest/globals";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway | undefined;
afterEach(() => gateway?.stop());

const pagination = { page: { parameter: "page" }, size: { parameter: "size", maximum: 10 } };

test.each<[codes: Readonly<Record<string, string>>, ofSize: string]>([
  [{ page: "bad_page", default: "bad" }, "bad_page"],
  [{ page: "bad_page", size: "bad_size", default: "bad" }, "bad_size"],
  [{ default: "bad" }, "bad"],
])("with %o an invalid size has %s", async (codes, ofSize) => {
  gateway = await startSmallGateway({
    client: {
      pagination: { ...pagination, size: { ...pagination.size, default: 5 } },
      responses: { error: { code: "$code" }, list: { items: "$items" } },
    },
    upstream: { pagination, responses: { list: { items: "$items", total: "$total" } } },
    pack: { errors: { validation: { codes } } },
    book: { routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }] },
  });
  expect((await gateway.send("GET /books?size=none")).body).toEqual({ code: ofSize });
  expect((await gateway.send("GET /books?page=none")).body).toEqual({ code: codes["page"] ?? "bad" });
});
