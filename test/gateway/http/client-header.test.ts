/** `CLIENT_HEADER`: a trusted proxy gives the name of the client. */
import { beforeAll, beforeEach, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";

const HEADER = { CLIENT_HEADER: "X-Client-Name" };
let behindProxy: GatewayWithFakeV4;
let open: GatewayWithFakeV4;
beforeAll(async () => {
  behindProxy = await startGatewayWithFakeV4({ ...RECORDING, ...HEADER, TRUST_PROXY: "127.0.0.0/8,::1" });
  open = await startGatewayWithFakeV4({ ...RECORDING, ...HEADER, TRUST_PROXY: "192.0.2.1" });
});
beforeEach(() => {
  for (const { v4 } of [behindProxy, open]) {
    v4.calls.length = 0;
    v4.respondWith(json(200, envelope([])));
  }
});

const ALPHA = { as: "t0k3n-s3cr3t-of-a-client" } as const;
const NATIVE = { as: null, headers: { authorization: "Bearer t0k3n-s3cr3t-of-a-client" } } as const;
type Lane = typeof ALPHA | typeof NATIVE;

/** Sends a request with a header, and reads its record. */
async function send(gateway: GatewayWithFakeV4, lane: Lane, headers: Readonly<Record<string, string>>) {
  const own = "headers" in lane ? lane.headers : {};
  await gateway.request("GET /v4/vm/instances", { as: lane.as, headers: { ...own, ...headers } });
  return { record: await gateway.readLastRecord(), call: gateway.v4.calls.at(-1) };
}

const LANES = [
  ["translated", ALPHA],
  ["forwarded", NATIVE],
] as const;

test.each(LANES)("the record of a %s request has the name that a trusted proxy gives", async (_, lane) => {
  const { record } = await send(behindProxy, lane, { "x-client-name": "Billing sync" });
  expect(record.client.label).toBe("Billing sync");
});

test.each(LANES)("a name from any other address has no effect on a %s request", async (_, lane) => {
  const { record } = await send(open, lane, { "x-client-name": "Billing sync" });
  expect(record.client).not.toHaveProperty("label");
});

const SPELLINGS = ["x-client-name", "X_Client_Name"];
test.each(
  LANES.flatMap(([name, lane]) =>
    SPELLINGS.flatMap((header) => [
      [header, "trusted", name, lane] as const,
      [header, "other", name, lane] as const,
    ]),
  ),
)("v4 never gets %s from a %s address with a %s request", async (header, address, _, lane) => {
  const { call } = await send(address === "trusted" ? behindProxy : open, lane, { [header]: "Billing" });
  expect(call?.rawHeaders.join("\n")).not.toMatch(/client.name|Billing/i);
});

test.each(LANES)("a client can't take off the name that the proxy gives a %s request", async (_, lane) => {
  for (const added of ["x_client_name", "X-Client.Name", "x_client-name"]) {
    const { record } = await send(behindProxy, lane, { "x-client-name": "Billing sync", [added]: "z" });
    expect([added, record.client.label]).toEqual([added, "Billing sync"]);
  }
});

test("a name in a similar header is ignored", async () => {
  const { record } = await send(behindProxy, ALPHA, { x_client_name: "Billing sync" });
  expect(record.client).not.toHaveProperty("label");
});

test.each([
  ["longer than 64 characters", "a".repeat(65)],
  ["empty", ""],
])("a name that is %s is ignored", async (_, value) => {
  const { record } = await send(behindProxy, ALPHA, { "x-client-name": value });
  expect(record.client).not.toHaveProperty("label");
});

test("a name of 64 characters is recorded", async () => {
  const { record } = await send(behindProxy, ALPHA, { "x-client-name": "a".repeat(64) });
  expect(record.client.label).toBe("a".repeat(64));
});

test("a name that is the token itself is not recorded", async () => {
  const { record } = await send(behindProxy, ALPHA, { "x-client-name": "t0k3n-s3cr3t-of-a-client" });
  expect(JSON.stringify(record)).not.toContain("t0k3n-s3cr3t-of-a-client");
});
