/** What strangers learn on the page: nothing, and all of them the same. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { fingerprint, tokenHash } from "../../../src/gateway/auth/token-cache.ts";
import {
  startGatewayWithFakeV4,
  startListeningGatewayWithFakeV4,
  type GatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { envelope, json, type Responder } from "../../support/fake-v4.ts";
import type { TestSettings } from "../../support/gateway.ts";
import { basic, comparable, newAddress, PAGE_ON, readPage } from "./read-page.ts";

const VICTIM = "5f".repeat(32);
const LONG_MS = 600_000;

/** v4 knows the victim's token, and those that begin with `mine`. */
const knowsTokens: Responder = (call, response) => {
  const token = /^Bearer (.*)$/.exec(call.headers.authorization ?? "")?.[1] ?? "";
  const isKnown = token === VICTIM || token.startsWith("mine");
  const respond = call.path.startsWith("/oauth")
    ? json(401, { error: "invalid_client" })
    : isKnown
      ? json(200, envelope([]), { "x-oauth-scopes": "*" })
      : json(401, { errors: [{ reason: "Invalid Token" }] });
  return respond(call, response);
};

describe("2500 tries of strangers", () => {
  let gateway: ListeningGatewayWithFakeV4;
  beforeAll(async () => {
    gateway = await startListeningGatewayWithFakeV4({ ...PAGE_ON, AUDIT_DURABILITY: "relaxed" });
    gateway.v4.respondWith(knowsTokens);
    await gateway.request("GET /vm/instances", { as: VICTIM });
    await gateway.request("GET /dns/zones", { as: VICTIM });
  });

  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const print = fingerprint(tokenHash(VICTIM));
  /** Sends a request over connections that stay open. */
  async function tryPage({ as, headers }: ReturnType<(typeof KINDS)[number]>): Promise<string> {
    const response = await fetch(`${gateway.url}/v4/migration`, {
      headers: {
        "x-forwarded-for": newAddress(),
        ...(as !== null && { authorization: `token ${as}` }),
        ...headers,
      },
    });
    const { status, headers: sent } = response;
    return JSON.stringify(comparable({ status, headers: sent, text: await response.text() }));
  }

  const KINDS: readonly ((n: number) => { as: string | null; headers?: Record<string, string> })[] = [
    (n) => ({ as: digest(`made up ${n}`) }),
    (n) => ({ as: VICTIM.slice(0, n % VICTIM.length) || "x" }),
    (n) => ({ as: `${VICTIM}${n}` }),
    (n) => ({ as: VICTIM.replace(/^./, String(n % 5)) }),
    (n) => ({ as: n % 2 === 0 ? tokenHash(VICTIM) : print }),
    (n) => ({ as: null, headers: basic(VICTIM, String(n)) }),
    (n) => ({ as: null, headers: basic(n % 2 === 0 ? print : `application:${n}`, VICTIM) }),
    (n) => ({ as: null, headers: { authorization: `OAuth ${VICTIM}, token ${n}` } }),
    () => ({ as: null }),
  ];

  test(
    "get one answer, which says nothing of any client",
    async () => {
      const answers = new Set<string>();
      let at = 0;
      async function work(): Promise<void> {
        while (at < 2500) {
          const n = (at += 1);
          const kind = KINDS[n % KINDS.length];
          if (kind) answers.add(await tryPage(kind(n)));
        }
      }
      await Promise.all(Array.from({ length: 8 }, work));
      const [answer = "", ...others] = answers;
      expect(others).toEqual([]);
      expect(JSON.parse(answer)).toMatchObject({
        status: 401,
        text: '{"errors":[{"reason":"A valid access token is required, or the id and the secret of an application."}]}',
      });
      expect(answer).not.toMatch(/instances|zones/);
    },
    LONG_MS,
  );

  test(
    "get nothing of others with tokens of their own either",
    async () => {
      const pages = await Promise.all(
        Array.from({ length: 500 }, async (_, n) => (await readPage(gateway, { as: `mine${n}` })).body),
      );
      const others = new Set(pages.map(({ made: _made, ...page }) => JSON.stringify(page)));
      expect([...others].map((page) => JSON.parse(page).routes)).toEqual([[]]);
    },
    LONG_MS,
  );

  test("leave the victim's page and all summaries unchanged", async () => {
    const { body } = await readPage(gateway, { as: VICTIM });
    expect(body.routes.map(({ route }: { route: string }) => route).toSorted()).toEqual([
      "GET /dns/zones",
      "GET /vm/instances",
    ]);
    const { clients } = (await gateway.requestAdmin("GET /api/usage/clients")).body;
    expect(clients).toMatchObject([{ client: print, requests: 2 }]);
  });
});

let gateway: GatewayWithFakeV4;
const start = async (settings: TestSettings = {}): Promise<void> => {
  gateway = await startGatewayWithFakeV4({ ...PAGE_ON, ...settings });
  gateway.v4.respondWith(knowsTokens);
};

describe("the limits of the page", () => {
  const from = (address: string, as: string | null = "made-up") =>
    readPage(gateway, { as, headers: { "x-forwarded-for": address } });

  test("stop an address after 20 requests a minute, whatever its credentials, with alpha's error", async () => {
    await start();
    for (let n = 0; n < 20; n += 1) expect((await from("192.0.2.1", `made-up-${n}`)).status).toBe(401);
    const calls = gateway.v4.calls.length;
    const { status, headers, body } = await from("192.0.2.1", "mine");
    expect(status).toBe(420);
    expect(headers.get("retry-after")).toMatch(/^[1-9]\d?$/);
    expect(body.errors[0].reason).toBe("Too many requests. Try again later.");
    expect(gateway.v4.calls).toHaveLength(calls);
    expect((await from("192.0.2.2", "mine")).status).toBe(200);
  });

  test("leave a token alone that v4 accepted a short while ago, whoever else has its address", async () => {
    await start();
    await gateway.request("GET /vm/instances", { as: "mine", headers: { "x-forwarded-for": "192.0.2.1" } });
    for (let n = 0; n < 20; n += 1) await from("192.0.2.1", `made-up-${n}`);
    expect((await from("192.0.2.1", "made-up")).status).toBe(420);
    expect((await from("192.0.2.1", "mine")).status).toBe(200);
  });

  test("count the addresses of an IPv6 network as one", async () => {
    await start();
    for (let n = 0; n < 20; n += 1) await from(`2001:db8::${n + 1}`);
    expect((await from("2001:db8::ffff")).status).toBe(420);
  });

  test("stop an identity after 10 requests a minute, and unknown senders can't use them up", async () => {
    await start();
    for (let n = 0; n < 30; n += 1)
      await readPage(gateway, { as: null, headers: basic("app", `wrong ${n}`) });
    for (let n = 0; n < 10; n += 1) expect((await readPage(gateway, { as: "mine" })).status).toBe(200);
    expect((await readPage(gateway, { as: "mine" })).status).toBe(420);
    expect((await readPage(gateway, { as: "mine-too" })).status).toBe(200);
  });

  test("leave the calls of the client alone, but the page counts against its rate limit", async () => {
    await start({ RATE_LIMIT: "3/100" });
    await gateway.request("GET /vm/instances", { as: "mine" });
    await readPage(gateway, { as: "mine" });
    const { headers } = await gateway.request("GET /vm/instances", { as: "mine" });
    expect(headers.get("x-ratelimit-remaining")).toBe("0");
    expect((await readPage(gateway, { as: "mine" })).status).toBe(420);
  });

  test("are in the metrics, and their rejections are in no summary", async () => {
    await start();
    for (let n = 0; n < 25; n += 1) await from("192.0.2.1");
    const { text } = await gateway.requestAdmin("GET /metrics");
    expect(text).toContain('alpha_gateway_refusals_total{reason="limit",status="420"} 5');
    expect((await gateway.requestAdmin("GET /api/usage/clients")).body.clients).toEqual([]);
  });
});

describe("the proof of a token", () => {
  test("is one call of v4, and none while v4 has accepted the token a short while ago", async () => {
    await start();
    await readPage(gateway, { as: "mine" });
    expect(gateway.v4.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /v4/profile"]);
    await readPage(gateway, { as: "mine" });
    await readPage(gateway, { as: "made-up" });
    await readPage(gateway, { as: "made-up" });
    expect(gateway.v4.calls).toHaveLength(2);
  });

  test("is repeated when v4's acceptance is older than TOKEN_TTL_SECONDS", async () => {
    await start({ TOKEN_TTL_SECONDS: "1" });
    await gateway.request("GET /vm/instances", { as: "mine" });
    gateway.v4.respondWith(json(401, { errors: [] }));
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await readPage(gateway, { as: "mine" })).status).toBe(401);
  });

  test.each([403, 404])("is not a %i, which says nothing about a token", async (status) => {
    await start();
    gateway.v4.respondWith(json(status, { errors: [{ reason: "no" }] }));
    expect((await readPage(gateway, { as: "mine" })).status).toBe(401);
  });

  test.each([429, 500])("fails while v4 answers %i, without a word about the token", async (status) => {
    await start();
    gateway.v4.respondWith(json(status, {}));
    const { status: ofPage, body } = await readPage(gateway, { as: "mine" });
    expect(ofPage).toBe(500);
    expect(body.errors[0].reason).toMatch(/^The service could not process this request/);
  });

  test("is shared by requests that come at the same time", async () => {
    await start();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    gateway.v4.respondWith(async (call, response) => {
      await held;
      knowsTokens(call, response);
    });
    const reads = Promise.all(
      Array.from({ length: 5 }, () =>
        readPage(gateway, { as: "mine", headers: { "x-forwarded-for": newAddress() } }),
      ),
    );
    setTimeout(release, 100);
    expect((await reads).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(gateway.v4.calls).toHaveLength(1);
  });
});
