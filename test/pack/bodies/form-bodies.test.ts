/** Bodies that are forms, sent over HTTP. What they become is in the golden cases of the packs. */
import { expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request } from "../../support/request.ts";
import { startSmallGateway } from "../../support/small-gateway.ts";

let gateway: GatewayWithFakeV4;

const start = async (): Promise<GatewayWithFakeV4> => {
  gateway = await startGatewayWithFakeV4({ ...RECORDING, MAPPINGS_DIR: "examples/billing/pack" });
  gateway.v4.respondWith(json(200, { id: 5 }));
  return gateway;
};

const FORM = "application/x-www-form-urlencoded";

const post = async (raw: string | Uint8Array, type: string, call = "POST /customers") => {
  const { app } = await start();
  const headers = { authorization: "Bearer good-token", "content-type": type };
  return request(app, call, { raw, headers });
};

test("a client's form reaches the upstream as JSON of the pack's media type", async () => {
  const { status, body } = await post("name=Ada&address[floor]=2", `${FORM}; charset=UTF-8`);
  expect([status, body.id]).toEqual([200, 5]);
  const [call] = gateway.v4.calls ?? [];
  expect(call?.headers["content-type"]).toBe("application/vnd.billing+json");
  expect(call?.json()).toEqual({ customer: { full_name: "Ada", location: { level: 2 } } });
});

test("a client's JSON reaches the upstream as a form", async () => {
  const { app, v4 } = await start();
  const body = { quote: { note: "ü", lines: [{ count: 3 }] } };
  await request(app, "POST /quotes", { body, headers: { authorization: "Bearer good-token" } });
  expect(v4.calls.map((call) => [call.headers["content-type"], call.received().toString()])).toEqual([
    [FORM, "description=%C3%BC&items%5B0%5D%5Bquantity%5D=3&currency=eur"],
  ]);
});

test("a body that takes nothing of the client needs no wrapper", async () => {
  const { app, v4 } = await start();
  await request(app, "POST /orders/5/close", { body: {}, headers: { authorization: "Bearer good-token" } });
  expect(v4.calls.map((call) => call.json())).toEqual([{ state: "closed" }]);
});

test.each([
  [
    "text where clients send forms or JSON",
    "name=Ada",
    "text/plain",
    415,
    /must be application\/json or application\/x-www-form/,
  ],
  ["a form in another charset", "name=Ada", `${FORM}; charset=iso-8859-1`, 415, /in UTF-8/],
  ["bytes that are not UTF-8", Buffer.from("name=\xff", "latin1"), FORM, 400, /not a valid form/],
  ["a malformed escape", "name=%e", FORM, 400, /not a valid form/],
  ["a form that is nested too deeply", `a${"[a]".repeat(40)}=1`, FORM, 400, /nested too deeply/],
  ["a form with too many members", "a=1&".repeat(30_000), FORM, 400, /too many members/],
])("%s is an error, and the upstream is not called", async (_case, raw, type, status, message) => {
  const response = await post(raw, type);
  expect(response.status).toBe(status);
  expect(response.body.errors[0].message).toMatch(message);
  expect(gateway.v4.calls).toEqual([]);
});

test("the audit has a form with its names, without the values of secret names", async () => {
  await post("name=Ada&cards[0][password]=hunter2secret", FORM);
  const { alpha } = await gateway.readLastRecord();
  expect(alpha.body).toEqual({ name: "Ada", "cards[0][password]": "[redacted]" });
});

test("the record has no secret of an object in brackets", async () => {
  const small = await startSmallGateway(
    {
      client: { bodies: { media_types: [FORM] } },
      pack: { secrets: ["password"] },
      book: {
        routes: [{ client: "POST /books", upstream: "POST /items", body: "new" }],
        bodies: { new: {} },
      },
    },
    RECORDING,
  );
  small.service.respondWith(json(200, {}));
  const raw = new URLSearchParams("users[][password]=hunter2&users[][name]=Ada");
  expect((await small.send("POST /books", { raw })).status).toBe(200);
  const record = await small.lastRecord();
  expect(record).toContain("Ada");
  expect(record).not.toContain("hunter2");
});

test.each([
  ["integer", "9007199254740993", 400],
  ["number", "9007199254740993", 400],
  ["integer", "9007199254740991", 200],
  ["number", "0.1", 200],
])("a form has no %s that would be rounded, as JSON has none: %s is a %i", async (type, number, expected) => {
  const small = await startSmallGateway({
    client: { bodies: { media_types: [FORM, "application/json"] } },
    book: {
      inputs: { account: "account" },
      bodies: { pay: { schema: { type: "object", properties: { account: { type } } } } },
      routes: [{ client: "POST /books", upstream: "POST /items", body: "pay" }],
    },
  });
  small.service.respondWith(json(200, {}));
  for (const [media, raw] of [
    [FORM, `account=${number}`],
    ["application/json", `{"account":${number}}`],
  ] as const) {
    const { status } = await small.send("POST /books", { raw, headers: { "content-type": media } });
    expect([media, status]).toEqual([media, expected]);
  }
  const sent = small.service.calls.map((call) => call.received().toString());
  expect(sent).toEqual(expected === 200 ? [`{"account":${number}}`, `{"account":${number}}`] : []);
});
