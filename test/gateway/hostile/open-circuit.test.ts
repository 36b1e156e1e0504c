/** Clients that try to open the circuit to a v4 that works: it stays closed for others, whichever way a client calls v4. */
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, plain, raw, type Responder } from "../../support/fake-v4.ts";
import { startGatewayWithFakeV4, type GatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { request, type TestResponse } from "../../support/request.ts";

const ACCEPTED = { "x-oauth-scopes": "*" };
const PROFILE = json(200, { username: "somebody" }, ACCEPTED);
/** More calls than the circuit needs to open. */
const MANY = 60;

let gateway: GatewayWithFakeV4;
/** What v4 does with a call for a path with 666. */
let misbehave: Responder;
beforeEach(async () => {
  gateway = await startGatewayWithFakeV4({ TRUST_PROXY: "127.0.0.1" });
  misbehave = plain(503, "", ACCEPTED);
  gateway.v4.respondWith((call, response) => {
    (call.path.includes("666") ? misbehave : PROFILE)(call, response);
  });
  await callAs("attacker", "GET /v4/account/profile");
});

const callAs = (client: string, call: string, scheme = "token"): Promise<TestResponse> =>
  request(gateway.app, call, {
    headers: {
      authorization: `${scheme} ${client}`,
      "x-forwarded-for": client === "attacker" ? "203.0.113.1" : "203.0.113.2",
    },
  });

async function isOpen(): Promise<boolean> {
  const { text } = await gateway.requestAdmin("GET /metrics");
  return /^alpha_gateway_v4_breaker_open 1$/m.test(text);
}

const WAYS: [string, string, string][] = [
  ["alpha", "POST /v4/vm/instances/666/reboot", "token"],
  ["v4", "GET /v4/things/666", "Bearer"],
];

describe.each(WAYS)("a client that calls %s", (_name, call, scheme) => {
  const attack = async (): Promise<void> => {
    for (let n = 0; n < MANY; n += 1) await callAs("attacker", call, scheme);
  };

  test("opens the circuit for itself alone with calls that v4 fails", async () => {
    await attack();
    expect(await isOpen()).toBe(true);
    expect((await callAs("other", "GET /v4/account/profile")).status).toBe(200);
  });

  test.each<[string, string]>([
    ["too long", "x".repeat(20_000)],
    ["invalid", "a\u0001b"],
    ["broken", "a\nb"],
  ])(
    "does not open it where v4 repeats in a header what it sent, and the header is %s",
    async (_how, value) => {
      misbehave = raw(`HTTP/1.1 301 Moved\r\nLocation: /?q=${value}\r\n\r\n`);
      await attack();
      expect(await isOpen()).toBe(false);
    },
  );

  test("opens it where v4 responds with no HTTP", async () => {
    misbehave = raw("SSH-2.0-OpenSSH\r\n");
    await attack();
    expect(await isOpen()).toBe(true);
  });
});

test("a read that v4 fails counts once, though it is tried three times", async () => {
  const read = (): Promise<unknown> => callAs("attacker", "GET /v4/vm/instances/666");
  for (let n = 0; n < 4; n += 1) await Promise.all(Array.from({ length: 10 }, read));
  expect(gateway.v4.calls.filter(({ path }) => path.includes("666")).length).toBeGreaterThan(100);
  expect(await isOpen()).toBe(false);
});

describe("a gateway whose only client gets errors of v4", () => {
  /** Readiness once the circuit may be probed again. */
  async function readinessWith(catalogsUp: boolean): Promise<readonly string[]> {
    gateway.v4.setCatalogsAvailable(catalogsUp);
    for (let n = 0; n < MANY; n += 1) await callAs("attacker", "GET /v4/things/666", "Bearer");
    expect(await isOpen()).toBe(true);
    await wait(1100);
    return gateway.readiness();
  }

  test("is not ready as long as v4 also fails for the gateway itself", async () => {
    expect(await readinessWith(false)).toEqual(["v4 fails: the circuit is open"]);
    gateway.v4.setCatalogsAvailable(true);
    expect(await gateway.readiness()).toEqual([]);
  });

  test("is ready if v4 works for the gateway itself", async () => {
    expect(await readinessWith(true)).toEqual([]);
  });
});
