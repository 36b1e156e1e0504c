/** The client's query: the parameters that the upstream gets, and the record of the others. */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { faultsOfSmallPack } from "../../support/small-pack-faults.ts";
import type { SmallPack } from "../../support/small-pack.ts";

let gateway: GatewayWithFakeV4;
beforeAll(async () => {
  gateway = await startGatewayWithFakeV4({ ...RECORDING, MAPPINGS_DIR: "examples/billing/pack" });
  gateway.v4.respondWith(json(200, { id: 3, status: "draft" }));
});

const headers = { authorization: "Bearer good" };

test("parameters that the pack defines are translated, and the record contains the names of the others", async () => {
  const { status } = await request(gateway.app, "GET /invoices/3/preview?days=2&color=red&good=1&lang=de", {
    headers,
  });
  expect(status).toBe(200);
  expect(gateway.v4.calls.at(-1)?.path).toBe(
    "/v2/invoices/3/drafts?final=false&locale=de&dueHours=48&copy=false",
  );
  expect((await gateway.readLastRecord()).alpha.ignored).toEqual(["color", "good"]);
});

test("filters in the query are those of the upstream, with its values", async () => {
  gateway.v4.respondWith(json(200, { content: [], totalElements: 0 }));
  const filter = "created[gte]=1700000000&state=paid&sort=-created&q=a%20b%26c";
  const { status, body } = await request(gateway.app, `GET /invoices?${filter}`, { headers });
  expect([status, body]).toEqual([200, { invoices: [], count: 0 }]);
  expect(gateway.v4.calls.at(-1)?.path).toBe(
    "/v2/invoices?page=1&size=2&min.createdAt=2023-11-14T22:13:20.000Z" +
      "&status=SETTLED&status=WRITTEN_OFF&text=a%20b%26c&order=createdAt,desc",
  );
});

test("a list without a filter has the client's default filter and order", async () => {
  gateway.v4.respondWith(json(200, { content: [], totalElements: 0 }));
  await request(gateway.app, "GET /reminders?page=2", { headers });
  expect(gateway.v4.calls.at(-1)?.path).toBe(
    "/v2/reminders?page=2&size=2&status=O&status=L&due=EVER&order=createdAt,desc",
  );
});

test("a value that means no filter is not sent", async () => {
  await request(gateway.app, "GET /reminders?state=all&sort=created", { headers });
  expect(gateway.v4.calls.at(-1)?.path).toBe("/v2/reminders?page=1&size=2&due=EVER&order=createdAt,asc");
  const { status, body } = await request(gateway.app, "GET /reminders?state=lost", { headers });
  expect([status, body]).toEqual([
    400,
    { errors: [{ param: "state", message: "state must be one of open, late, sent, or all." }] },
  ]);
});

test("a request without unknown parameters has none of them in its record", async () => {
  await request(gateway.app, "GET /invoices?state=open", { headers });
  expect((await gateway.readLastRecord()).alpha).not.toHaveProperty("ignored");
});

test("expressions read the defaults of parameters that a request does not have", async () => {
  const query = {
    parameters: {
      lang: { upstream: "locale", default: "en", schema: { type: "string" } },
      size: { ignore: true, default: 5, schema: { type: "integer" } },
      tags: { ignore: true, default: ["a", "b"], multiple: "comma" },
    },
  };
  const small = await startSmallGateway({
    client: {
      pagination: { page: { parameter: "page" }, size: 1 },
      responses: { list: { $list: "$items", next: "$next_link" } },
    },
    book: {
      fields: { shown: { read: '$join([$query.lang, $query.size, $query.tags], " ")' } },
      routes: [
        { client: "GET /books/:id", upstream: "GET /items/{id}", query },
        { client: "GET /books", upstream: "GET /items", response: "list", query },
      ],
    },
  });
  small.service.respondWith(json(200, { id: 7 }));
  expect((await small.send("GET /books/7")).body).toEqual({ shown: "en 5 a,b" });
  expect((await small.send("GET /books/7?size=6&lang=de")).body).toEqual({ shown: "de 6 a,b" });
  small.service.respondWith(json(200, [{ id: 7 }, { id: 8 }]));
  expect((await small.send("GET /books?size=6")).body).toEqual({
    books: [{ shown: "en 6 a,b" }],
    next: "/books?size=6&page=2",
  });
});

describe("an invalid filter, order or page", () => {
  const packOf = (query: object): SmallPack => ({
    client: {
      pagination: { offset: { parameter: "from" }, size: { parameter: "take", default: 2, maximum: 5 } },
      responses: { error: { problems: [{ at: "$field", text: "$message" }] } },
      filters: {
        parameter: "filter[{field}]",
        operators: { gte: "filter[{field}][min]", search: "q" },
        sort: { parameter: "sort" },
      },
    },
    upstream: {
      pagination: { offset: { parameter: "skip" }, size: { parameter: "limit", maximum: 5 } },
      filters: { parameter: "{field}" },
    },
    pack: { errors: { validation: { query } } },
    book: {
      fields: { id: { upstream: "id", type: "integer", filter: true }, title: "name" },
      routes: [{ client: "GET /books", upstream: "GET /items", response: "list" }],
    },
  });

  const invalid = [
    ["filter[id]=a", "filter[id]"],
    ["filter[id]=1&filter[id]=2", "filter[id]"],
    ["filter[id][min]=1", "filter[id][min]"],
    ["filter[title]=a", "filter[title]"],
    ["sort=title", "sort"],
    ["sort=id&sort=id", "sort"],
    ["q=a", "q"],
    ["from=a", "from"],
    ["take=9", "take"],
  ] as const;

  test("has its parameter as the field, if the pack says so", async () => {
    const small = await startSmallGateway(packOf({ field: "parameter" }));
    for (const [query, parameter] of invalid) {
      const { status, body } = await small.send(`GET /books?${query}`);
      expect([query, status, body]).toEqual([
        query,
        400,
        { problems: [{ at: parameter, text: expect.any(String) }] },
      ]);
    }
  });

  test("has no field by default", async () => {
    const small = await startSmallGateway(packOf({}));
    for (const [query] of invalid) {
      const { body } = await small.send(`GET /books?${query}`);
      expect([query, body]).toEqual([query, { problems: [{ text: expect.any(String) }] }]);
    }
  });

  test("can't have a field without a place for it", () => {
    const pack = packOf({ field: "parameter" });
    const client = { ...pack.client, responses: {} };
    expect(faultsOfSmallPack({ ...pack, client })).toEqual([
      '"field" has no effect: the errors of clients have no $field and no text with {field} ("responses.error", "error_shapes")',
    ]);
  });
});
