/** The token cache: what v4's responses say about a token, and how the gateway uses it. */
import { afterEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { startGatewayWithFakeV4 } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, plain, type Responder } from "../../support/fake-v4.ts";
import { startForTests } from "../../support/start-for-tests.ts";

let tokens = 0;
const gateway = startForTests(() => startGatewayWithFakeV4(RECORDING));
afterEach(() => gateway.v4.respondWith(json(200, {})));

/** Every test has a token that is not cached. */
const fresh = (): string => `token-${(tokens += 1)}`;
const list = (scopes?: string): Responder =>
  json(200, envelope([]), scopes === undefined ? {} : { "x-oauth-scopes": scopes });
const refused: Responder = json(401, { errors: [{ reason: "Invalid Token" }] });

const GET = "GET /vm/instances";
const POST = "POST /vm/instances";
const DELETE = "DELETE /vm/instances/7";
const GOOD = { datacenter: "newark", type: "g6-standard-1", label: "web-one" };
const ask = (call: string, as: string) => gateway.request(call, { as, ...(call === POST && { body: GOOD }) });

describe("a token that v4 rejected", () => {
  test("A-169 gets 401 without a v4 request on every route", async () => {
    const token = fresh();
    gateway.v4.respondWith(refused);
    expect(await ask(GET, token)).toMatchObject({
      status: 401,
      body: { errors: [{ reason: "Invalid Token" }] },
    });
    for (const call of [GET, POST, DELETE]) expect(await ask(call, token)).toMatchObject({ status: 401 });
    expect(gateway.v4.calls).toHaveLength(1);
    expect((await gateway.readLastRecord()).v4).toEqual([]);
  });

  test("does not affect other tokens", async () => {
    const token = fresh();
    gateway.v4.respondWith(refused, list());
    await ask(GET, token);
    expect(await ask(GET, `${token}x`)).toMatchObject({ status: 200 });
  });

  test("can still read public resources", async () => {
    const token = fresh();
    gateway.v4.respondWith(refused);
    await ask(GET, token);
    expect(await gateway.request("GET /datacenters", { as: token })).toMatchObject({ status: 200 });
  });

  test.each([403, 404, 429, 500])("is not one that got %i", async (status) => {
    const token = fresh();
    gateway.v4.respondWith(json(status, {}), list());
    await ask(GET, token);
    expect(await ask(GET, token)).toMatchObject({ status: 200 });
  });
});

describe("L-22 the scopes of a token", () => {
  // X-OAuth-Scopes, then whether a list, a create and a removal are let through.
  const table: [string, boolean, boolean, boolean][] = [
    ["*", true, true, true],
    ["vms:read_only", true, false, false],
    ["vms:read_write", true, true, true],
    ["vms:read_only domains:read_write", true, false, false],
    ["domains:read_write", false, false, false],
    ["", false, false, false],
    ["vms:everything", false, false, false],
    ["vms", false, false, false],
    ["__proto__:read_write", false, false, false],
    ["vms:__proto__ constructor:toString", false, false, false],
    ["domains:read_only,vms:read_write", true, true, true],
  ];
  test.each(table)(
    "A-170 with %j get %s for a list, %s for a create and %s for a removal, without a v4 request if rejected",
    async (scopes, ...allowed) => {
      const token = fresh();
      gateway.v4.respondWith(list(scopes));
      await ask(GET, token);
      for (const [index, call] of [GET, POST, DELETE].entries()) {
        gateway.v4.respondWith(
          call === GET ? list(scopes) : json(200, { id: 7 }, { "x-oauth-scopes": scopes }),
        );
        const { status } = await ask(call, token);
        expect([call, status]).toEqual([call, allowed[index] ? 200 : 403]);
        expect(gateway.v4.calls).toHaveLength(allowed[index] ? 1 : 0);
      }
    },
  );

  test("are judged by v4 while they are unknown", async () => {
    const token = fresh();
    gateway.v4.respondWith(json(403, { errors: [{ reason: "Your token is too weak." }] }));
    for (const call of [GET, POST, DELETE])
      expect(await ask(call, token)).toMatchObject({
        status: 403,
        body: { errors: [{ reason: "Your token is too weak." }] },
      });
    expect(gateway.v4.calls).toHaveLength(3);
  });

  test("are cached from error responses too", async () => {
    const token = fresh();
    gateway.v4.respondWith(plain(404, "", { "x-oauth-scopes": "vms:read_only" }));
    await ask(GET, token);
    expect(await ask(POST, token)).toMatchObject({ status: 403 });
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test("are updated by every response", async () => {
    const token = fresh();
    gateway.v4.respondWith(list("vms:read_only"));
    await ask(GET, token);
    expect((await ask(DELETE, token)).status).toBe(403);
    gateway.v4.respondWith(list("vms:read_write"));
    await ask(GET, token);
    gateway.v4.respondWith(json(200, {}));
    expect((await ask(DELETE, token)).status).toBe(200);
  });

  test("do not appear in a 403 of the gateway as v4 spells them", async () => {
    const token = fresh();
    gateway.v4.respondWith(list("domains:read_only"));
    await ask(GET, token);
    const response = await ask(GET, token);
    expect(response).toMatchObject({
      status: 403,
      body: { errors: [{ reason: "The access token does not grant this." }] },
    });
    expect(response.text).not.toMatch(/domains|read_only/);
  });
});

test("L-33 the token cache is bounded: an evicted rejection is judged by v4 again", async () => {
  const small = await startGatewayWithFakeV4({ TOKEN_CACHE_SIZE: "2" });
  small.v4.respondWith(refused);
  for (const as of ["a", "b", "c", "a"]) await small.request(GET, { as });
  expect(small.v4.calls).toHaveLength(4);
  await small.request(GET, { as: "c" });
  expect(small.v4.calls).toHaveLength(4);
});

test("TOKEN_NEGATIVE_TTL_SECONDS=0 judges a rejected token with v4 each time", async () => {
  const eager = await startGatewayWithFakeV4({ TOKEN_NEGATIVE_TTL_SECONDS: "0" });
  eager.v4.respondWith(refused);
  for (let round = 0; round < 3; round += 1) await eager.request(GET, { as: "a" });
  expect(eager.v4.calls).toHaveLength(3);
});
