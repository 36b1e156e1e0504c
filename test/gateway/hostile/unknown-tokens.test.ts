/** Tokens that v4 has not accepted or rejected yet: the v4 requests that they cause, and their limit by address. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import {
  startGatewayWithFakeV4,
  startListeningGatewayWithFakeV4,
  waitFor,
  type GatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { acceptGoodTokens, envelope, json } from "../../support/fake-v4.ts";

let gateway: GatewayWithFakeV4;
afterEach(() => gateway.stop());

const get = (as: string, path = "/vm/instances") => gateway.request(`GET ${path}`, { as });
const statuses = (reported: readonly { status: number }[]) => reported.map(({ status }) => status);
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

describe("made-up tokens", () => {
  beforeEach(async () => {
    gateway = await startGatewayWithFakeV4({ RATE_LIMIT: "5/100" });
    gateway.v4.respondWith(acceptGoodTokens);
  });

  test("share the limit of their address, without a v4 request above it", async () => {
    const reported = [];
    for (let n = 0; n < 20; n += 1) reported.push(await get(`bad ${n}`.replace(" ", "-")));
    expect(statuses(reported)).toEqual(times(20, (n) => (n < 5 ? 401 : 420)));
    expect(gateway.v4.calls).toHaveLength(5);
  });

  test("count on paths that alpha does not have, and on public ones", async () => {
    for (const path of ["/nothing", "/datacenters", "/nothing", "/datacenters", "/nothing"])
      expect((await get(`bad${path.length}`, path)).status).not.toBe(420);
    expect((await get("bad-other", "/datacenters")).status).toBe(420);
  });

  test("do not block clients of the same address that v4 has accepted", async () => {
    await get("good-one");
    for (let n = 0; n < 10; n += 1) await get(`bad-${n}`);
    expect((await get("good-one")).status).toBe(200);
  });

  test.each([
    ["in the old dialect", (token: string) => get(token)],
    [
      "in v4's own dialect",
      (token: string) =>
        gateway.request("GET /vm/instances", { as: null, headers: { authorization: `Bearer ${token}` } }),
    ],
  ])("do not block a client whose token has left the cache: %s", async (_dialect, ask) => {
    await gateway.stop();
    gateway = await startGatewayWithFakeV4({ RATE_LIMIT: "5/100", TOKEN_CACHE_SIZE: "1" });
    gateway.v4.respondWith(acceptGoodTokens);
    expect((await ask("good-one")).status).toBe(200);
    for (let n = 0; n < 10; n += 1) await get(`bad-${n}`);
    expect((await get("good-new")).status).toBe(420);
    expect((await ask("good-one")).status).toBe(200);
  });

  test("do not limit how many valid tokens one address uses", async () => {
    for (let n = 0; n < 12; n += 1) expect((await get(`good-${n}`)).status).toBe(200);
  });
});

describe("concurrent requests with one unknown token", () => {
  beforeEach(async () => {
    gateway = await startGatewayWithFakeV4();
  });

  test("L-21 a rejected token causes one v4 request", async () => {
    gateway.v4.respondWith((call, response) => void setTimeout(() => acceptGoodTokens(call, response), 50));
    expect(statuses(await Promise.all(times(20, () => get("bad"))))).toEqual(times(20, () => 401));
    expect(statuses(await Promise.all(times(5, () => get("bad"))))).toEqual(times(5, () => 401));
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test("an accepted token causes one check, and then one v4 request per request", async () => {
    gateway.v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "*" }));
    expect(statuses(await Promise.all(times(20, () => get("good"))))).toEqual(times(20, () => 200));
    expect(gateway.v4.calls).toHaveLength(20);
  });

  test("without a scopes header of v4 requests are not serialized", async () => {
    gateway.v4.respondWith(json(200, envelope([])));
    await get("good");
    const held: (() => void)[] = [];
    gateway.v4.respondWith((call, response) => void held.push(() => json(200, envelope([]))(call, response)));
    const reported = times(3, () => get("good"));
    await waitFor(() => held.length === 3);
    for (const respond of held) respond();
    expect(statuses(await Promise.all(reported))).toEqual([200, 200, 200]);
  });

  test("a failed first request does not fail the others", async () => {
    const idle = { ...envelope([]), status: "offline" };
    gateway.v4.respondWith(json(503, {}), json(200, idle, { "x-oauth-scopes": "*" }));
    const reported = statuses(
      await Promise.all(times(5, () => gateway.request("POST /vm/instances/7/boot", { as: "good" }))),
    );
    expect(reported.filter((status) => status === 500).length).toBeLessThan(2);
  });

  test("a disconnected first client does not fail the others", async () => {
    await gateway.stop();
    const listening = await startListeningGatewayWithFakeV4();
    gateway = listening;
    const held: (() => void)[] = [];
    gateway.v4.respondWith(
      (call, response) => void held.push(() => acceptGoodTokens(call, response)),
      acceptGoodTokens,
    );
    const gone = new AbortController();
    const first = fetch(`${listening.url}/v4/vm/instances`, {
      headers: { authorization: "token good" },
      signal: gone.signal,
    }).catch(() => "gone");
    await waitFor(() => held.length === 1);
    const second = get("good");
    gone.abort();
    expect(await first).toBe("gone");
    expect((await second).status).toBe(200);
  });
});

describe("DELETE /api/tokens", () => {
  const purge = async (path = "") => (await gateway.requestAdmin(`DELETE /api/tokens${path}`)).status;

  beforeEach(async () => {
    gateway = await startGatewayWithFakeV4(RECORDING);
    gateway.v4.respondWith(acceptGoodTokens);
    for (const token of ["bad-1", "bad-2"]) await get(token);
  });

  test("deletes all tokens: v4 judges them again", async () => {
    expect(await purge()).toBe(204);
    await get("bad-1");
    await get("bad-2");
    expect(gateway.v4.calls).toHaveLength(4);
  });

  test("deletes only the token of a fingerprint, as the audit shows it", async () => {
    const { fingerprint } = (await gateway.readLastRecord()).client;
    expect(await purge(`/${fingerprint}`)).toBe(204);
    await get("bad-1");
    expect(gateway.v4.calls).toHaveLength(2);
    await get("bad-2");
    expect(gateway.v4.calls).toHaveLength(3);
  });

  test.each(["/a", `/${"A".repeat(16)}`, `/${"0".repeat(65)}`, "/0123456789abcde*"])(
    "rejects %s as a fingerprint",
    async (path) => {
      expect(await purge(path)).toBe(400);
    },
  );
});
