/**
 * L-24 through whole gateways before the sandbox and its login server: v4's tokens end after two hours, and
 * clients keep theirs. Time is moved on, for the gateways and the sandbox alike.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { request } from "../../support/request.ts";
import type { ServerResponse } from "node:http";
import { tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import { waitFor } from "../../support/gateway-with-fake-v4.ts";
import {
  json,
  startFakeV4,
  type ReceivedRequest,
  type Responder,
  type FakeV4,
} from "../../support/fake-v4.ts";
import {
  RECORDING,
  startGateway,
  type GatewayRequest,
  type Gateway,
  type TestResponse,
  type TestSettings,
} from "../../support/gateway.ts";
import { createRedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { createApplication, REGISTERED, type Application } from "./application.ts";

const machine = { now: Date.now, elapsed: performance.now };
/** Milliseconds by which the system clock and the monotonic clock are advanced. */
let ahead = 0;
let elapsed = 0;
beforeAll(() => {
  Date.now = () => machine.now() + ahead;
  performance.now = () => machine.elapsed.call(performance) + elapsed;
});
afterAll(() => {
  Date.now = machine.now;
  performance.now = machine.elapsed;
});

const LASTS = 7200;
/** Seconds before a token's expiry: without a refresh yet, and with one. */
const EARLY = 660;
const DUE = 300;

let folder: string;
let login: FakeV4;
let gateway: Gateway;
let open: Gateway[];
let app: Application;
/** What the login server has handed out, the newest last. */
let issued: { access_token: string; refresh_token: string }[];

/** A proxy for the sandbox's login server that changes the tokens in its responses. */
const passing =
  (
    change: (reply: (typeof issued)[number], call: ReceivedRequest) => object | Promise<object> = (
      response,
    ) => response,
  ): Responder =>
  async (call: ReceivedRequest, response: ServerResponse) => {
    const reply = await fetch(gateway.sandbox.authUrl + call.path, {
      method: "POST",
      headers: { "content-type": String(call.headers["content-type"]) },
      body: call.received().toString(),
    });
    const body = JSON.parse(await reply.text());
    if (body.access_token) issued.push(body);
    const result = body.access_token ? await change(body, call) : body;
    json(reply.status, result)(call, response);
  };

const formOf = (call: ReceivedRequest): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(call.received().toString()));
const refreshTokens = (): string[] => login.calls.flatMap((call) => formOf(call)["refresh_token"] ?? []);

/** Another gateway of the same service, with the same store. */
async function replica(more: TestSettings = {}): Promise<Gateway> {
  const settings = {
    DATA_DIR: folder,
    UPSTREAM_URL: gateway.sandbox.url,
    AUTH_URL: login.url,
    ...more,
  };
  const other = await startGateway(settings);
  open.push(other);
  return other;
}

let client: { client_id: string; client_secret: string };
beforeEach(async () => {
  issued = [];
  open = [];
  folder = temporaryFolder();
  login = await startFakeV4();
  login.respondWith(passing());
  gateway = await startGateway({ DATA_DIR: folder, AUTH_URL: login.url, ...RECORDING });
  open.push(gateway);
  const { body } = await gateway.requestV4("POST /account/oauth-clients", {
    body: { label: "app", redirect_uri: REGISTERED },
  });
  client = { client_id: body.id, client_secret: body.secret };
  app = createApplication(gateway.app, { id: body.id, secret: body.secret });
});
afterEach(async () => {
  for (const each of open.toReversed()) await each.stop();
});

function advanceClock(seconds: number): void {
  ahead += seconds * 1000;
  gateway.clock.advance(seconds * 1000);
}

/** Advances the monotonic clock past the pause after a failed refresh. */
function afterThePause(): void {
  elapsed += 5000;
}

/** Signs the user in at the login server itself, and exchanges the code at the gateway. */
async function signIn(at = app): Promise<string> {
  const direct = createApplication(gateway.sandbox.authUrl, {
    id: client.client_id,
    secret: client.client_secret,
  });
  const back = await direct.signIn("vms:read_write");
  const { status, body } = await at.exchange(back.searchParams.get("code") ?? "");
  expect([status, body.access_token]).toEqual([200, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(body.access_token).not.toBe(issued[0]?.access_token);
  return body.access_token;
}

/** The first v4 token behind the client's token. */
const oldest = (): string => issued[0]?.access_token ?? "";

const list = (token: string, at = gateway): Promise<TestResponse> =>
  at.request("GET /vm/instances", { as: token });
const newest = (): string => issued.at(-1)?.access_token ?? "";

/** The tokens of v4 requests since the last call, in order. */
const v4Tokens = (): string[] =>
  gateway.takeV4Requests().map(({ headers }) => String(headers["authorization"]).replace("Bearer ", ""));

/** Sends requests until v4 gets the newest token. */
async function waitForRefresh(token: string): Promise<void> {
  const before = issued.length;
  await waitFor(async () => {
    expect((await list(token)).status).toBe(200);
    return issued.length > before && v4Tokens().at(-1) === newest();
  });
}

const atV4 = async (token: string): Promise<number> =>
  (await gateway.requestV4("GET /vm/instances", { as: token })).status;

const endedByClient = async (token: string): Promise<void> => {
  await request(gateway.sandbox.authUrl, "POST /oauth/revoke", {
    raw: new URLSearchParams({ ...client, token }),
  });
};

describe("L-24 a token with a refresh token", () => {
  test("is not refreshed before its last ten minutes", async () => {
    const token = await signIn();
    advanceClock(LASTS - EARLY);
    expect((await list(token)).status).toBe(200);
    expect(refreshTokens()).toEqual([]);
  });

  test("is refreshed before v4's token expires, and the client's token stays valid", async () => {
    const token = await signIn();
    advanceClock(LASTS - DUE);
    await waitForRefresh(token);
    expect(await atV4(oldest())).toBe(200);
    advanceClock(DUE + 1);
    expect(await atV4(oldest())).toBe(401);
    expect((await list(token)).status).toBe(200);
    expect(refreshTokens()).toEqual([issued[0]?.refresh_token]);
    expect(newest()).not.toBe(oldest());
  });

  test("stays valid through several refreshes, each with a new refresh token", async () => {
    const token = await signIn();
    for (let n = 1; n <= 4; n += 1) {
      advanceClock(LASTS + 1);
      gateway.takeV4Requests();
      expect((await list(token)).status).toBe(200);
      expect(v4Tokens()).toEqual([issued[n]?.access_token]);
    }
    expect(refreshTokens()).toEqual(issued.slice(0, 4).map(({ refresh_token }) => refresh_token));
  });

  test("is refreshed once for many concurrent requests", async () => {
    const token = await signIn();
    advanceClock(LASTS + 1);
    gateway.takeV4Requests();
    const responses = await Promise.all(Array.from({ length: 20 }, () => list(token)));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(v4Tokens())).toEqual(new Set([newest()]));
    expect(refreshTokens()).toHaveLength(1);
  });

  test("is revoked completely when the client expires it", async () => {
    const token = await signIn();
    advanceClock(LASTS - DUE);
    await waitForRefresh(token);
    expect((await app.expire(token)).status).toBe(200);
    gateway.takeV4Requests();
    expect((await list(token)).status).toBe(401);
    expect(v4Tokens()).toEqual([]);
    expect(await atV4(newest())).toBe(401);
    const again = await request(gateway.sandbox.authUrl, "POST /oauth/token", {
      raw: new URLSearchParams({
        ...client,
        grant_type: "refresh_token",
        refresh_token: issued.at(-1)?.refresh_token ?? "",
      }),
    });
    expect([again.status, again.body]).toEqual([400, expect.objectContaining({ error: "invalid_grant" })]);
  });

  test("gets 401 after a rejected refresh, without v4 requests", async () => {
    const token = await signIn();
    await endedByClient(issued[0]?.refresh_token ?? "");
    advanceClock(LASTS + 1);
    expect((await list(token)).status).toBe(401);
    gateway.takeV4Requests();
    expect((await list(token)).status).toBe(401);
    expect(v4Tokens()).toEqual([]);
    expect(refreshTokens()).toHaveLength(1);
  });

  test("gets 500 while v4's token is expired and the login server is down, and works again afterwards", async () => {
    const token = await signIn();
    login.respondWith(json(503, {}));
    advanceClock(LASTS + 1);
    expect((await list(token)).status).toBe(500);
    login.respondWith(passing());
    afterThePause();
    await waitFor(async () => (await list(token)).status === 200);
  });

  test("is judged by v4 again after its fingerprint is purged", async () => {
    const token = await signIn();
    advanceClock(LASTS + 1);
    expect((await list(token)).status).toBe(200);
    await endedByClient(issued.at(-1)?.refresh_token ?? "");
    await endedByClient(newest());
    login.respondWith(json(503, {}));
    expect((await list(token)).status).toBe(401);
    gateway.takeV4Requests();
    expect((await list(token)).status).toBe(401);
    expect(v4Tokens()).toEqual([]);
    const fingerprint = tokenHash(token).slice(0, 16);
    const purge = await gateway.requestAdmin(`DELETE /api/tokens/${fingerprint}`);
    expect(purge.status).toBe(204);
    expect((await list(token)).status).toBe(401);
    expect(v4Tokens()).toEqual([newest()]);
  });
});

describe("a token that v4 rejects before its expiry", () => {
  test.each<[string, string, GatewayRequest]>([
    ["a read", "GET /vm/instances", {}],
    ["a write", "PUT /vm/instances/5201", { body: { group: "moved" } }],
  ])("is refreshed, and %s is retried once", async (_, call, options) => {
    const token = await signIn();
    expect((await list(token)).status).toBe(200);
    await endedByClient(oldest());
    gateway.takeV4Requests();
    expect((await gateway.request(call, { ...options, as: token })).status).toBe(200);
    expect(refreshTokens()).toEqual([issued[0]?.refresh_token]);
    expect(v4Tokens().slice(0, 2)).toEqual([oldest(), newest()]);
  });

  test("gets 401 if v4 rejects the new token too, after one refresh and one retry", async () => {
    const token = await signIn();
    login.respondWith(
      passing(async (response) => {
        await endedByClient(newest());
        return response;
      }),
    );
    await endedByClient(oldest());
    gateway.takeV4Requests();
    expect((await list(token)).status).toBe(401);
    expect(v4Tokens()).toEqual([oldest(), newest()]);
    expect((await list(token)).status).toBe(401);
    expect(refreshTokens()).toHaveLength(1);
  });
});

describe("a login server that rejects a refresh", () => {
  test.each([
    [401, { error: "invalid_client" }],
    [400, { error: "unauthorized_client" }],
    [403, {}],
    [404, {}],
  ])(
    "with %i %j revokes nothing, and the token works again later",
    async (status, error) => {
      const token = await signIn();
      login.respondWith(json(status, error));
      advanceClock(LASTS + 1);
      expect((await list(token)).status).toBe(500);
      login.respondWith(passing());
      afterThePause();
      await waitFor(async () => (await list(token)).status === 200);
    },
    20_000,
  );

  test("with invalid_grant revokes the token permanently", async () => {
    const token = await signIn();
    login.respondWith(json(400, { error: "invalid_grant" }));
    advanceClock(LASTS + 1);
    expect((await list(token)).status).toBe(401);
    expect(refreshTokens()).toHaveLength(1);
    login.respondWith(passing());
    advanceClock(60);
    expect((await list(token)).status).toBe(401);
    expect(refreshTokens()).toEqual([]);
  });
});

test("a token without a refresh token gets alpha's 401 when v4's token expires, and not before", async () => {
  login.respondWith(passing(({ refresh_token: _none, ...response }) => response));
  const token = await signIn();
  advanceClock(LASTS - 1);
  expect((await list(token)).status).toBe(200);
  advanceClock(2);
  expect(await list(token)).toMatchObject({
    status: 401,
    body: { errors: [{ reason: expect.any(String) }] },
  });
  expect(login.calls).toHaveLength(1);
});

describe("a login server that revokes the old token with each refresh", () => {
  let other: Gateway;
  let token: string;
  beforeEach(async () => {
    login.respondWith(
      passing(async (response) => {
        const before = issued.at(-2)?.access_token;
        if (before !== undefined) await endedByClient(before);
        return response;
      }),
    );
    other = await replica();
    token = await signIn();
    // A copy that says nothing of a renewal: it is used for three seconds on.
    advanceClock(LASTS - 601);
    await list(token, other);
    advanceClock(2);
  });

  test.each<[string, string, GatewayRequest]>([
    ["reads", "GET /vm/instances", {}],
    ["writes", "PUT /vm/instances/5201", { body: { group: "moved" } }],
    ["reads of several calls", "GET /vm/instances/5201/ips", {}],
  ])("does not affect a client at another replica: %s", async (_, call, options) => {
    await waitForRefresh(token);
    const asked = Array.from({ length: 5 }, () => other.request(call, { ...options, as: token }));
    const responses = await Promise.all(asked);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
    expect(refreshTokens()).toHaveLength(1);
  });

  test("does not affect a client while the refresh is in progress", async () => {
    const gate = Promise.withResolvers<void>();
    let ended = false;
    login.respondWith(
      passing(async (response) => {
        await endedByClient(oldest());
        ended = true;
        await gate.promise;
        return response;
      }),
    );
    gateway.takeV4Requests();
    const asked = [list(token)];
    await waitFor(() => ended);
    asked.push(list(token), list(token, other));
    let seen = 0;
    await waitFor(() => (seen += v4Tokens().length) >= asked.length);
    gate.resolve();
    for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
  });

  test("gets 401 after two v4 requests if v4 rejects the new token too", async () => {
    await waitForRefresh(token);
    await endedByClient(newest());
    gateway.takeV4Requests();
    expect((await list(token, other)).status).toBe(401);
    expect(v4Tokens()).toEqual([oldest(), newest()]);
  });
});

/**
 * A token expires while one of two gateways refreshes it.
 *
 * @returns The statuses of the requests that both get meanwhile, and how often it was refreshed.
 */
async function expireDuringRefresh(
  settings: TestSettings,
): Promise<{ statuses: number[]; refreshes: number }> {
  const [one, two] = [await replica(settings), await replica(settings)];
  const token = await signIn(
    createApplication(one.app, { id: client.client_id, secret: client.client_secret }),
  );
  const gate = Promise.withResolvers<void>();
  login.respondWith(
    passing(async (response) => {
      await gate.promise;
      return response;
    }),
  );
  advanceClock(LASTS - 2);
  expect((await list(token, one)).status).toBe(200);
  await waitFor(() => refreshTokens().length === 1);
  // It sees that the other one refreshes the token, which still works.
  expect((await list(token, two)).status).toBe(200);
  advanceClock(3);
  const waiting = [list(token, two), list(token, one), list(token, two)];
  gate.resolve();
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  return { statuses, refreshes: refreshTokens().length };
}

const WAITED = { statuses: [200, 200, 200], refreshes: 1 };

describe("a token that expires while another process refreshes it", () => {
  test("is waited for, with one SQLite file", async () => {
    expect(await expireDuringRefresh({})).toEqual(WAITED);
  });
});

(await describeWith("redis-server"))(
  "a token in Redis that expires while another gateway refreshes it",
  () => {
    test("is waited for", async () => {
      const redis = await createRedisServer();
      await redis.start();
      const settings = { REDIS_URL: redis.url, GATEWAY_SECRET: "s".repeat(32) };
      expect(await expireDuringRefresh(settings)).toEqual(WAITED);
      for (const each of open.splice(1)) await each.stop();
      await redis.stop();
    });
  },
);
