/** Single objects in wrappers, over HTTP. */
import { expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";
import { request } from "../../support/request.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startGatewayWithFakeV4({
    ...RECORDING,
    MAPPINGS_DIR: "examples/cursors/pack",
    PUBLIC_URL: "https://old.example",
  }),
);

const wrapped = (invoice: object) => ({ data: { invoice }, links: [] });
const get = () => request(gateway.app, "GET /receipts/7", { headers: { authorization: "Bearer good" } });

test("the object is read from the upstream's wrapper and written into the client's", async () => {
  gateway.v4.respondWith(json(200, wrapped({ id: 7, paid: false, total: { cents: 5 } })));
  const { status, body } = await get();
  expect([status, body]).toEqual([200, { receipt: { id: "re_7", amount: 5, payer: null } }]);
});

test("the record explains the members by their paths in both wrappers", async () => {
  gateway.v4.respondWith(json(200, wrapped({ id: 7, paid: false, total: { cents: 5 } })));
  await get();
  const { id } = await gateway.readLastRecord();
  const { body } = await gateway.requestAdmin(`GET /api/audit/${id}/explain`);
  expect(body.answer[1]).toMatchObject({
    field: "receipt.amount",
    value: 5,
    v4: { field: "data.invoice.total.cents", value: 5 },
  });
});

test.each([
  ["no wrapper", { id: 7 }],
  ["a wrapper without an object", { data: {}, links: [] }],
  ["a wrapper around a number", { data: { invoice: 7 } }],
  ["a list", []],
])("%s is an invalid response of the upstream", async (_what, body) => {
  gateway.v4.respondWith(json(200, body));
  expect((await get()).status).toBe(500);
});

test("errors have no wrapper", async () => {
  gateway.v4.respondWith(json(404, { message: "gone" }));
  const { status, body } = await get();
  expect([status, body]).toEqual([404, { message: "gone" }]);
});

test("$name is the name of each side, in bodies as in responses", async () => {
  const small = await startSmallGateway({
    client: { bodies: { object: { $name: "$object" } }, responses: { object: { $name: "$object" } } },
    upstream: { bodies: { object: { $name: "$object" } }, responses: { object: { $name: "$object" } } },
    book: {
      upstream_object: "item",
      bodies: { edit: { schema: { type: "object", properties: { title: { type: "string" } } } } },
      routes: [{ client: "PUT /books/:id", upstream: "PUT /items/{id}", body: "edit" }],
    },
  });
  small.service.respondWith(json(200, { item: { id: 7, name: "Waves" } }));
  const { body } = await small.send("PUT /books/7", { body: { book: { title: "Waves" } } });
  expect(body).toEqual({ book: { id: 7, title: "Waves" } });
  expect(small.service.calls.at(-1)?.json()).toEqual({ item: { name: "Waves" } });
});
