/** No text of a stranger stops the audit of others, although PostgreSQL can't store every text. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { makeDatabase, type TestDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";

const describe = await describeWith("postgres");

describe("with an audit in PostgreSQL", () => {
  let database: TestDatabase;
  let gateway: GatewayWithFakeV4;

  beforeAll(async () => {
    database = await makeDatabase();
    gateway = await startGatewayWithFakeV4({ ...RECORDING, DATABASE_URL: database.url });
    gateway.v4.respondWith(json(200, { id: 5204 }));
  });
  afterAll(async () => {
    await database.drop();
  });

  test.each([
    ["half of a pair in a user agent", "/vm/instances", { "user-agent": "\\ud800 password: x" }],
    ["U+0000 in a user agent", "/vm/instances", { "user-agent": "\\u0000 password: x" }],
    ["half of a pair in a query", "/vm/instances?a=%5Cud800&password=abcdef", {}],
    ["half of a pair in a path", "/vm/x%5Cud800/password/abcdefg", {}],
    ["half of a pair in a filter", "/vm/instances", { "x-filter": String.raw`{"label":"\ud800"}` }],
  ])("%s stops no audit", async (_, path, headers) => {
    await gateway.request(`GET ${path}`, {
      as: null,
      headers: { ...headers, authorization: "token nobody12345" },
    });
    const { status } = await gateway.request("GET /vm/instances/5204", { as: "a-token-of-another" });
    expect(status).toBe(200);
    const { records } = (await gateway.requestAdmin("GET /api/audit?limit=2")).body;
    expect(records[0].alpha.path).toMatch(/5204$/);
    expect(records[1].alpha.path).toMatch(/^\/v4\/vm\/(?:instances|x)/);
    expect((await gateway.requestAdmin("GET /readyz")).status).toBe(200);
  });
});
