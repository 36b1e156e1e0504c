/** The codes of an invalid page: its size is a part of it, unless the pack has another code for that, and so are its limits. */
import { afterEach, expect, test } from "@jest/globals";
import { startSmallGateway, type SmallGateway } from "../../support/small-gateway.ts";

let gateway: SmallGateway | undefined;
afterEach(() => gateway?.stop());

const pagination = { page: { parameter: "page" }, size: { parameter: "size", maximum: 10 } };

const start = (codes: Readonly<Record<string, string>>, error: object, named: object = {}) =>
  startSmallGateway({
    client: {
      pagination: { ...pagination, size: { ...pagination.size, default: 5 } },
      responses: { error, list: { items: "$items" } },
    },
    upstream: { pagination, responses: { list: { items: "$items", total: "$total" } } },
    pack: { errors: { validation: { codes, ...named } } },
    book: { routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }] },
  });

test.each<[codes: Readonly<Record<string, string>>, ofSize: string]>([
  [{ page: "bad_page", default: "bad" }, "bad_page"],
  [{ page: "bad_page", size: "bad_size", default: "bad" }, "bad_size"],
  [{ default: "bad" }, "bad"],
])("with %o an invalid size has %s", async (codes, ofSize) => {
  gateway = await start(codes, { code: "$code" });
  expect((await gateway.send("GET /books?size=none")).body).toEqual({ code: ofSize });
  expect((await gateway.send("GET /books?page=none")).body).toEqual({ code: codes["page"] ?? "bad" });
});

test.each<[query: string, fields: Readonly<Record<string, string>>]>([
  ["page=none", { page: "no_number" }],
  ["page=0", { page: "bad_limit" }],
  ["page=-1", { page: "bad_limit" }],
  ["page=1&page=2", { page: "no_number" }],
  ["size=none", { size: "no_number" }],
  ["size=0", { size: "too_much" }],
  ["size=11", { size: "too_much" }],
  ["page=x&size=11", { page: "no_number", size: "too_much" }],
])("?%s has the codes of its rules, per parameter", async (query, fields) => {
  const codes = { page: "no_number", page_range: "bad_limit", size: "no_number", size_range: "too_much" };
  gateway = await start(codes, { fields: { $field: "$code" } }, { query: { field: "parameter" } });
  expect((await gateway.send(`GET /books?${query}`)).body).toEqual({ fields });
});
