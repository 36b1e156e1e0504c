/** The native proxy: requests and responses are streamed unchanged, and a broken response never looks complete. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import {
  acceptGoodTokens,
  json,
  plain,
  raw,
  neverRespond,
  startFakeV4,
  type Responder,
  type FakeV4,
} from "../../support/fake-v4.ts";
import { closeAndKeepPort, freePort } from "../../support/free-port.ts";
import { RECORDING, startListeningGateway, type TestResponse } from "../../support/gateway.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    ...RECORDING,
    BODY_LIMIT: "1kb",
    RATE_LIMIT: "1000/100",
    UPSTREAM_TIMEOUT_MS: "3000",
  }),
);
beforeEach(() => {
  gateway.v4.onRequestHead(undefined);
  gateway.v4.respondWith(json(200, {}));
});

const KEY = "native-secret-token";

let paths = 0;
/** The native proxy writes records after the response. A unique path identifies the record of a test. */
const newPath = (): string => `/v4/path-${(paths += 1)}`;

function open(method: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(gateway.url);
  const request = httpRequest({
    hostname,
    port,
    method,
    path,
    agent: false,
    headers: { authorization: `Bearer ${KEY}`, ...headers },
  });
  request.on("error", () => {});
  return request;
}

const responseOf = (request: ReturnType<typeof open>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => request.once("response", resolve).once("error", reject));

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

const newestNative = (path: string): Promise<TestResponse["body"]> =>
  waitFor(async () => {
    const record = await gateway.readLastRecord();
    return record?.lane === "native" && record.alpha.path === path ? record : undefined;
  });

describe("native requests are forwarded", () => {
  test("with method, path, query, headers and body unchanged", async () => {
    const body = Buffer.from([0, 255, 128, 10, 13, 7]);
    gateway.v4.respondWith(plain(418, body, { "x-answer": "1", "content-type": "image/x-odd", etag: '"e"' }));
    const request = open("PATCH", "/v4/any//thing%20/%2F?a=%zz&&b=%00", {
      "x-filter": "not json",
      "x-own": "a, b",
      "content-type": "odd",
    });
    request.end(body);
    const response = await responseOf(request);
    expect(response).toMatchObject({
      statusCode: 418,
      headers: { "x-answer": "1", "content-type": "image/x-odd", etag: '"e"' },
    });
    expect(await textOf(response)).toBe(body.toString("latin1"));
    const [call] = gateway.v4.calls;
    expect(call).toMatchObject({
      method: "PATCH",
      path: "/v4/any//thing%20/%2F?a=%zz&&b=%00",
      headers: {
        authorization: `Bearer ${KEY}`,
        "x-filter": "not json",
        "x-own": "a, b",
        "content-type": "odd",
      },
    });
    expect(call?.received()).toEqual(body);
    expect(call?.headers.host).toBe(new URL(gateway.v4.url).host);
  });

  test.each(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s", async (method) => {
    gateway.v4.respondWith(json(202, { made: true }));
    const request = open(method, "/v4/x");
    request.end();
    const response = await responseOf(request);
    expect(response.statusCode).toBe(202);
    expect(await textOf(response)).toBe(method === "HEAD" ? "" : '{"made":true}');
    expect(gateway.v4.calls[0]?.method).toBe(method);
  });

  test("L-11 and a redirect is returned, not followed", async () => {
    gateway.v4.respondWith(plain(302, "", { location: "/v4/elsewhere" }));
    const request = open("GET", "/v4/x");
    request.end();
    expect(await responseOf(request)).toMatchObject({
      statusCode: 302,
      headers: { location: "/v4/elsewhere" },
    });
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test("and an encoded response stays encoded", async () => {
    gateway.v4.respondWith(plain(200, "not really gzip", { "content-encoding": "gzip" }));
    const request = open("GET", "/v4/x", { "accept-encoding": "gzip" });
    request.end();
    const response = await responseOf(request);
    expect(response.headers["content-encoding"]).toBe("gzip");
    expect(await textOf(response)).toBe("not really gzip");
  });

  test("without the gateway's rate limits, and v4's 429 stays 429", async () => {
    gateway.v4.respondWith(json(429, {}, { "retry-after": "7" }));
    const request = open("GET", "/v4/x");
    request.end();
    const response = await responseOf(request);
    expect(response).toMatchObject({ statusCode: 429, headers: { "retry-after": "7" } });
    expect(response.headers["x-ratelimit-limit"]).toBeUndefined();
  });
});

describe("L-17 headers that are not forwarded", () => {
  test("are hop-by-hop headers, those that Connection names, and cookies, but not the credentials", async () => {
    const request = open("GET", "/v4/x", {
      connection: "close, x-hop, authorization, content-length, host",
      "x-hop": "1",
      "x-stays": "1",
      "keep-alive": "timeout=5",
      te: "trailers",
      "proxy-authorization": "Basic x",
      "proxy-connection": "keep-alive",
      cookie: "session=1",
    });
    request.end();
    await responseOf(request);
    const { headers } = gateway.v4.calls[0] ?? {};
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, "x-stays": "1" });
    for (const name of ["x-hop", "keep-alive", "te", "proxy-authorization", "proxy-connection", "cookie"])
      expect(headers?.[name]).toBeUndefined();
  });

  test("are Server, Set-Cookie and hop-by-hop headers of v4", async () => {
    gateway.v4.respondWith(
      plain(200, "{}", {
        server: "nginx",
        "set-cookie": ["a=b", "c=d"],
        connection: "keep-alive, x-hop",
        "x-hop": "1",
        "keep-alive": "timeout=1",
        "proxy-authenticate": "Basic",
        "x-stays": "1",
      }),
    );
    const request = open("GET", "/v4/x", { connection: "keep-alive" });
    request.end();
    const { headers } = await responseOf(request);
    expect(headers["x-stays"]).toBe("1");
    for (const name of ["server", "set-cookie", "x-hop", "proxy-authenticate"])
      expect(headers[name]).toBeUndefined();
    expect(headers["keep-alive"]).not.toBe("timeout=1");
  });
});

describe("forwarding headers of a client", () => {
  const asked = {
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-host": "evil.example.org",
    "x-forwarded-proto": "https",
    "x-forwarded-prefix": "/admin",
    x_forwarded_for: "203.0.113.9",
    forwarded: "for=203.0.113.9",
    "x-real-ip": "203.0.113.9",
    "true-client-ip": "203.0.113.9",
    "cf-connecting-ip": "203.0.113.9",
    "x-original-url": "/v4/admin",
    "x-original-host": "evil.example.org",
    "x-rewrite-url": "/v4/admin",
    "client-ip": "203.0.113.9",
    "wl-proxy-client-ip": "203.0.113.9",
    "x-remote-addr": "203.0.113.9",
    "remote-user": "admin",
    "x-azure-clientip": "203.0.113.9",
    "x-forward-for": "203.0.113.9",
    "x-proxyuser-ip": "203.0.113.9",
    "fly-client-ip": "203.0.113.9",
    "x-any-proxy-ip": "203.0.113.9",
    x_real_ip: "203.0.113.9",
    "x-scheme": "https",
    "x-url-scheme": "https",
    "front-end-https": "on",
    via: "1.1 elsewhere",
    "x-client-verify": "SUCCESS",
    "x-client-s-dn": "CN=admin",
    "x-ssl-client-verify": "SUCCESS",
    "x-ssl-client-s-dn": "CN=admin",
    ssl_client_verify: "SUCCESS",
    ssl_client_s_dn: "CN=admin",
    "client-cert": ":TUlJ:",
    "x.forwarded.for": "203.0.113.9",
    proxy: "http://evil.example",
    "x-accel-mapping": "/=/",
    "x-sendfile-type": "X-Accel-Redirect",
    "x-consumer-username": "admin",
    "x-apigateway-api-userinfo": "e30",
    "x-jwt-assertion": "e30.e30.",
    oidc_claim_sub: "admin",
    "x-ms-token-aad-id-token": "e30",
    "tailscale-user-login": "admin",
    "x-real-host": "evil.example",
    "cloudfront-viewer-address": "203.0.113.9:443",
    "x-vercel-forwarded-for": "203.0.113.9",
    "shib-session-id": "_1",
    "x-mtls-subject": "CN=admin",
    "x-rewrite-uri": "/v4/admin",
    "x-script-name": "/v4/admin",
    "x-auth-request-user": "admin",
  };

  test("no others are removed", async () => {
    const others = [
      "x-client-version",
      "x-api-version",
      "x-ship",
      "x-tip",
      "x-schema",
      "x-methods",
      "client",
      "x-viable",
    ];
    const request = open("GET", "/v4/x", Object.fromEntries(others.map((name) => [name, "1"])));
    request.end();
    await textOf(await responseOf(request));
    expect(Object.keys(gateway.v4.calls[0]?.headers ?? {})).toEqual(expect.arrayContaining(others));
  });

  test.each(Object.entries(asked))("%s is removed", async (name, value) => {
    const request = open("GET", "/v4/x", { [name]: value, "x-stays": "1" });
    request.end();
    await textOf(await responseOf(request));
    expect(gateway.v4.calls[0]?.headers).toMatchObject({ "x-stays": "1" });
    expect(Object.keys(gateway.v4.calls[0]?.headers ?? {})).not.toContain(name);
  });
});

describe("a header with a method", () => {
  const NAMES = [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-method",
    "x-http-verb",
    "x-http-override",
    "x_http_method_override",
  ];
  const post = async (headers: Record<string, string>) => {
    const request = open("POST", newPath(), headers);
    request.end();
    const response = await responseOf(request);
    return { status: response.statusCode, text: await textOf(response) };
  };

  test.each(NAMES)(
    "%s is a 400 if it names another one than the request's, and v4 is not called",
    async (name) => {
      const { status, text } = await post({ [name]: "DELETE" });
      expect([status, JSON.parse(text)]).toEqual([
        400,
        { errors: [{ reason: expect.stringContaining("another method") }] },
      ]);
      expect(gateway.v4.calls).toEqual([]);
    },
  );

  test.each(NAMES)("%s is removed if it names that of the request", async (name) => {
    expect((await post({ [name]: "post" })).status).toBe(200);
    expect(gateway.v4.calls).toMatchObject([{ method: "POST" }]);
    expect(gateway.v4.calls[0]?.headers).not.toHaveProperty(name);
  });

  test("does not circumvent the limit for guessed tokens", async () => {
    const limited = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "10/100" });
    const statuses: number[] = [];
    for (let index = 0; index < 11; index += 1) {
      const headers = { authorization: `Bearer made-up-${index}`, "x-http-method": "DELETE" };
      statuses.push((await fetch(`${limited.url}/v4/x`, { headers })).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
  });
});

describe("guessed tokens", () => {
  const ask = (to: ListeningGatewayWithFakeV4, token: string, path = "/v4/x") =>
    fetch(to.url + path, { headers: { authorization: `Bearer ${token}` } });

  test("cause only as many v4 requests as the address limit allows, in native proxy and alpha pipeline together", async () => {
    const limited = await startListeningGatewayWithFakeV4({ ...RECORDING, RATE_LIMIT: "10/100" });
    limited.v4.respondWith(acceptGoodTokens);
    expect((await ask(limited, "good")).status).toBe(200);
    for (let index = 0; index < 40; index += 1) {
      const response = await ask(limited, `made-up-${index}`);
      const comesAgain = /^[1-9]\d*$/.test(response.headers.get("retry-after") ?? "");
      expect([response.status, comesAgain]).toEqual(index < 10 ? [401, false] : [429, true]);
    }
    expect(limited.v4.calls).toHaveLength(11);
    expect(await limited.readLastRecord()).toMatchObject({
      lane: "native",
      alpha: { status: 429 },
      v4: [],
    });
    expect((await limited.request("GET /vm/instances", { as: "made-up" })).status).toBe(420);
    for (let index = 0; index < 20; index += 1) expect((await ask(limited, "good")).status).toBe(200);
  });

  test("are counted before v4 responds", async () => {
    const limited = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "10/100" });
    limited.v4.respondWith(acceptGoodTokens);
    const all = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(limited, `made-up-${index}`)));
    expect(all.filter(({ status }) => status === 401)).toHaveLength(10);
  });

  test("do not become known on a public path", async () => {
    const limited = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "10/100" });
    const open = json(200, {});
    limited.v4.respondWith((call, response) =>
      (call.path === "/v4/open" ? open : acceptGoodTokens)(call, response),
    );
    const statuses: number[] = [];
    for (let index = 0; index < 15; index += 1) {
      await ask(limited, `made-up-${index}`, "/v4/open");
      statuses.push((await ask(limited, `made-up-${index}`)).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(limited.v4.calls).toHaveLength(10);
  });
});

describe("connections of the native proxy", () => {
  test("are limited by UPSTREAM_CONNECTIONS, and excess requests of one token wait", async () => {
    const few = await startListeningGatewayWithFakeV4({
      UPSTREAM_CONNECTIONS: "4",
      UPSTREAM_TIMEOUT_MS: "10000",
    });
    let [now, most, mostOfOne] = [0, 0, 0];
    few.v4.respondWith((call, response) => {
      now += 1;
      most = Math.max(most, now);
      const one = call.headers.authorization === "Bearer good-greedy" ? now : 0;
      mostOfOne = Math.max(mostOfOne, one);
      response.once("close", () => (now -= 1));
      setTimeout(() => acceptGoodTokens(call, response), 30);
    });
    const ask = (token: string) =>
      fetch(`${few.url}/v4/x`, { headers: { authorization: `Bearer ${token}` } });
    await ask("good-greedy");
    const greedy = await Promise.all(Array.from({ length: 20 }, () => ask("good-greedy")));
    expect([new Set(greedy.map(({ status }) => status)), mostOfOne]).toEqual([new Set([200]), 2]);
    const all = Array.from({ length: 40 }, (_, index) => ask(`good-${index}`));
    expect(new Set((await Promise.all(all)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(most).toBeLessThanOrEqual(4);
  });

  test("waiting for a connection is not v4's failure: 429 above the client's share, and others are served", async () => {
    const few = await startListeningGatewayWithFakeV4({
      UPSTREAM_CONNECTIONS: "4",
      UPSTREAM_TIMEOUT_MS: "1000",
    });
    few.v4.respondWith((call, response) =>
      call.path === "/v4/slow"
        ? void setTimeout(() => acceptGoodTokens(call, response), 900)
        : acceptGoodTokens(call, response),
    );
    const ask = (token: string, path = "/v4/x") =>
      fetch(few.url + path, { headers: { authorization: `Bearer ${token}` } });
    await ask("good-greedy");
    const greedy = Array.from({ length: 60 }, () => ask("good-greedy", "/v4/slow"));
    expect((await ask("good-another")).status).toBe(200);
    const statuses = new Set((await Promise.all(greedy)).map(({ status }) => status));
    expect(statuses).toEqual(new Set([200, 429]));
    expect((await ask("good-another")).status).toBe(200);
  });
});

describe("the Vary header", () => {
  const origin = "https://app.example.org";
  test.each([
    [undefined, "Authorization, Origin"],
    ["Accept", "Accept, Authorization, Origin"],
    ["accept, ORIGIN", "accept, ORIGIN, Authorization"],
    ["authorization,origin", "authorization,origin"],
    ["*", "*"],
  ])("v4's %s becomes %s with CORS_ORIGINS set", async (given, result) => {
    const browsers = await startListeningGatewayWithFakeV4({ CORS_ORIGINS: origin });
    browsers.v4.respondWith(json(200, {}, given === undefined ? {} : { vary: given }));
    const response = await browsers.request("GET /x", {
      as: null,
      headers: { authorization: "Bearer t", origin },
    });
    expect(response.headers.get("vary")).toBe(result);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    browsers.v4.respondWith(raw("", "reset"));
    const failed = await browsers.request("GET /x", {
      as: null,
      headers: { authorization: "Bearer t", origin },
    });
    expect([failed.status, failed.headers.get("vary")]).toEqual([500, "Authorization, Origin"]);
  });
});

test("no cache takes a response of one dialect for the other: Vary has the header that decides", async () => {
  gateway.v4.respondWith(json(200, {}, { "cache-control": "public, max-age=60" }));
  const headers = { authorization: "Bearer t" };
  const response = await gateway.request("GET /x", { as: null, headers });
  expect(response.headers.get("vary")).toBe("Authorization");
});

describe("L-16 paths with dot segments", () => {
  test.each([
    "/v4/../admin",
    "/v4/x/..",
    "/v4/./x",
    "/v4/%2e%2e/admin",
    "/v4/.%2E/admin",
    "/v4/%252e%252e/admin",
    "/v4/x%252f..%25252fadmin",
    "/v4/x%2f..%2fadmin",
    "/v4/..%2fadmin",
    "/v4/x/..%5cadmin",
    "/v4/..\\admin",
    "/v4/x\\..\\..\\admin",
    "/v4/..;/admin",
    "/v4/..%3b/admin",
    "/v4/..%00/admin",
    "/v4/..%20/admin",
    "/v4/%2e%2e%20/admin",
    "/v4/..%09/admin",
    "/v4/..%3f/admin",
    "/v4/..%23/admin",
    "/v4/%c0%ae%c0%ae/admin",
    "/v4/%c0%2e%c0%2e/admin",
    "/v4/%e0%80%ae%e0%80%ae/admin",
    "/v4/..%c1%9cadmin",
    "/v4/%u002e%u002e/admin",
    "/v4/..#x",
    "/v4/x#/../../admin",
    "/v4/x?y#z",
    "/v4",
    "/v4x/y",
    "/other",
    "//v4/x",
  ])("%s is not forwarded", async (path) => {
    const request = open("GET", path);
    request.end();
    const response = await responseOf(request);
    // Those with other escapes can't be decoded.
    expect(response.statusCode).toBe(/#|%(?:c0|c1|e0|u)/.test(path) ? 400 : 404);
    expect(response.headers["content-type"]).toBe("application/json");
    await textOf(response);
    expect(gateway.v4.calls).toEqual([]);
  });

  test.each(["/v4/..x", "/v4/a..b/c", "/v4/x?a=../..", "/v4/...", "/v4/x.json"])(
    "%s is forwarded",
    async (path) => {
      const request = open("GET", path);
      request.end();
      await textOf(await responseOf(request));
      expect(gateway.v4.calls[0]?.path).toBe(path);
    },
  );
});

describe("L-8 native requests are streamed", () => {
  test("an upload above BODY_LIMIT reaches v4 before its end is sent", async () => {
    const request = open("POST", "/v4/upload", { "transfer-encoding": "chunked" });
    request.write(Buffer.alloc(200_000, "a"));
    await waitFor(() => gateway.v4.calls[0]?.received().length === 200_000);
    request.end(Buffer.alloc(100_000, "b"));
    expect((await responseOf(request)).statusCode).toBe(200);
    expect(gateway.v4.calls[0]?.received()).toHaveLength(300_000);
  });

  test("a download reaches the client before its end is sent, without a size limit", async () => {
    let more = () => {};
    gateway.v4.respondWith((_call, response) => {
      response.write("first");
      more = () => {
        for (let part = 0; part < 20; part += 1) response.write(Buffer.alloc(1024 * 1024, "x"));
        response.end();
      };
    });
    const request = open("GET", "/v4/download");
    request.end();
    const reply = await responseOf(request);
    const first = await new Promise<Buffer>((resolve) => reply.once("data", resolve));
    expect(first.toString()).toBe("first");
    more();
    expect((await textOf(reply)).length).toBe(20 * 1024 * 1024);
  });

  test("a client that disconnects during an upload ends the v4 request", async () => {
    const request = open("POST", "/v4/upload", { "content-length": "1000000" });
    request.write(Buffer.alloc(1000));
    const call = await waitFor(() => gateway.v4.calls[0]);
    request.destroy();
    await expect(call?.ended).resolves.toBe("broken off");
  });

  test("a client that disconnects during a download ends the v4 request", async () => {
    gateway.v4.respondWith((_call, response) => void response.write("first"));
    const request = open("GET", "/v4/broken-download");
    request.end();
    (await responseOf(request)).destroy();
    await expect(gateway.v4.calls[0]?.ended).resolves.toBe("broken off");
    expect(await newestNative("/v4/broken-download")).toMatchObject({
      alpha: { status: 499 },
      warnings: ["the response broke off"],
    });
  });
});

describe("L-9 faults of v4 in the native proxy", () => {
  test.each([
    ["closes without a word", raw("")],
    ["resets without a word", raw("", "reset")],
    ["responds with garbage", raw("\u0000\u0001\r\n\r\n")],
    ["says nothing at all", neverRespond],
  ])("A-173 %s gives 500 in JSON, without a retry, and keeps the connection", async (_name, behaviour) => {
    gateway.v4.respondWith(behaviour);
    const client = await openRawClient(gateway.url);
    const path = newPath();
    const post = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
    client.send(post);
    const [response] = await client.waitForResponses(1);
    expect(response).toMatchObject({ status: 500, headers: { "content-type": "application/json" } });
    expect(JSON.parse(response?.body ?? "")).toEqual({
      errors: [{ reason: "The service could not process this request." }],
    });
    expect(gateway.v4.calls).toHaveLength(1);
    const record = await newestNative(path);
    expect(record).toMatchObject({
      alpha: { status: 500 },
      warnings: [expect.stringMatching(/^native proxy: /)],
    });
    gateway.v4.respondWith(json(200, {}));
    client.send(post);
    expect(await client.waitForResponses(2)).toMatchObject([{ status: 500 }, { status: 200 }]);
    client.close();
  });

  test.each([
    ["ends in mid-body", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")],
    ["resets in mid-body", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "reset")],
    ["waits in mid-body", raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "leave")],
    ["ends in mid-chunk", raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")],
    [
      "resets in mid-chunk",
      raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "reset"),
    ],
    [
      "breaks its chunking",
      raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n", "leave"),
    ],
  ])("v4 %s: the client sees an aborted response, never a complete one", async (_name, behaviour) => {
    gateway.v4.respondWith(behaviour);
    const path = newPath();
    const request = open("GET", path);
    request.end();
    const outcome = await responseOf(request)
      .then(async (response) => `${response.statusCode} ${await textOf(response)}`)
      .catch(() => "broken off");
    expect(outcome).toMatch(/^(?:broken off|500 .*could not process)/);
    const record = await newestNative(path);
    expect(record.warnings).not.toEqual([]);
  });

  test.each([
    ["200 O\u0001K", 200, "OK"],
    ["200 O\u007fK", 200, "OK"],
    ["101 x\r\nUpgrade: y", 500, "Internal Server Error"],
  ])("a status line that cannot be forwarded, %j, gives %i %s", async (line, status, phrase) => {
    const connection = line.includes("Upgrade") ? "Upgrade" : "close";
    const startedAt = performance.now();
    gateway.v4.respondWith(
      raw(`HTTP/1.1 ${line}\r\nConnection: ${connection}\r\nContent-Length: 2\r\n\r\n{}`),
    );
    const response = await fetch(gateway.url + newPath(), { headers: { authorization: `Bearer ${KEY}` } });
    expect([response.status, response.statusText]).toEqual([status, phrase]);
    await response.text();
    // Not only when v4's time is up.
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  test.each(["099 x", "999 x"])("the status of %j breaks the response off", async (line) => {
    gateway.v4.respondWith(raw(`HTTP/1.1 ${line}\r\nContent-Length: 2\r\n\r\n{}`));
    const client = await openRawClient(gateway.url);
    const path = newPath();
    client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
    expect(await client.waitForEnd()).toBe("");
    expect(await newestNative(path)).toMatchObject({ alpha: { status: 500 } });
  });

  test("v4 may respond before the upload ends", async () => {
    gateway.v4.onRequestHead((_call, v4Request) => {
      v4Request.socket.end("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    });
    const request = open("POST", "/v4/upload", { "content-length": "1000000" });
    request.write(Buffer.alloc(1000));
    const response = await responseOf(request);
    expect([413, 500]).toContain(response.statusCode);
    request.destroy();
  });
});

test("an unreachable v4 gives 500 in JSON", async () => {
  const gone = await startFakeV4();
  const alone = await startListeningGateway({ UPSTREAM_URL: gone.url, ...RECORDING });
  await closeAndKeepPort(gone);
  const response = await alone.request("GET /anything", {
    as: null,
    headers: { authorization: "Bearer t" },
  });
  expect(response).toMatchObject({ status: 500, body: { errors: [{ reason: expect.any(String) }] } });
  expect(response.text).not.toMatch(/127\.0\.0\.1|ECONN/);
});

describe("native requests with AUDIT_DURABILITY=strict", () => {
  test.each<[string, string, Responder]>([
    ["with a length", "GET", json(200, { made: true })],
    ["in chunks", "GET", plain(200, "made", { "transfer-encoding": "chunked" })],
    ["without a body", "DELETE", plain(204, "")],
    ["to HEAD", "HEAD", json(200, { made: true })],
    ["that v4 did not give", "GET", raw("", "end")],
  ])("the record is committed before a response %s ends", async (_kind, method, response) => {
    const path = newPath();
    gateway.v4.respondWith(response);
    const request = open(method, path);
    request.end();
    const { statusCode } = await responseOf(request).then(async (came) => {
      await textOf(came);
      return came;
    });
    expect(await gateway.readLastRecord()).toMatchObject({
      lane: "native",
      alpha: { path, status: statusCode },
    });
  });

  test("only the last byte of a response waits for the record", async () => {
    let finish = (): void => {};
    gateway.v4.respondWith((_call, response) => {
      response.writeHead(200, { "content-length": "8" }).write("half");
      finish = () => void response.end("done");
    });
    const request = open("GET", "/v4/x");
    request.end();
    const reply = await responseOf(request);
    const [first] = await once(reply, "data");
    expect(String(first)).toBe("half");
    finish();
    expect(await textOf(reply)).toBe("done");
  });

  test("a response without a record is an error of the gateway, with nothing of v4", async () => {
    const v4 = await startFakeV4();
    const alone = await startListeningGateway({
      UPSTREAM_URL: v4.url,
      ...RECORDING,
      DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    });
    const headers = { "cache-control": "public", "x-v4": "yes" };
    for (const response of [json(200, { made: true }, headers), plain(204, "", headers)]) {
      v4.respondWith(response);
      const asked = alone.request("GET /x", { as: null, headers: { authorization: "Bearer t" } });
      const answer = await asked;
      expect(answer).toMatchObject({ status: 500, body: { errors: [{ reason: expect.any(String) }] } });
      expect(answer.headers.get("x-v4") ?? answer.headers.get("cache-control")).toBeNull();
    }
  });
});

describe("a native response in flight when the drain begins", () => {
  test.each(["relaxed", "strict"])(
    "is the last of its connection and says so, although v4's head came before (%s)",
    async (durability) => {
      const draining = await startListeningGatewayWithFakeV4({
        AUDIT: "full",
        AUDIT_DURABILITY: durability,
        SHUTDOWN_GRACE_MS: "4000",
      });
      let finish = (): void => {};
      draining.v4.respondWith(
        (_call, response) => {
          response.writeHead(200, { "content-length": "4" }).flushHeaders();
          finish = () => void response.end("done");
        },
        json(200, {}),
      );
      const client = await openRawClient(draining.url);
      client.send("GET /v4/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
      await waitFor(() => draining.v4.calls[0]);
      // What v4 sends later has arrived, and so has the head.
      for (let count = 0; count < 3; count += 1)
        await draining.request("GET /y", { as: null, headers: { authorization: "Bearer t" } });
      const stopped = draining.stop();
      finish();
      const [response] = await client.waitForResponses(1);
      expect(response).toMatchObject({ status: 200, headers: { connection: "close" }, body: "done" });
      await client.waitForEnd();
      await stopped;
    },
  );
});

describe("a failing v4 in the native proxy", () => {
  const asBearer = { as: null, headers: { authorization: "Bearer t" } };

  /** The circuit opens after more than half of fifty requests have failed. */
  const often = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 60 }, work));

  test("opens the circuit: 503 with Retry-After in v4's error shape, for the alpha pipeline too", async () => {
    const gone = await startFakeV4(await freePort());
    const { port } = new URL(gone.url);
    const alone = await startListeningGateway({ UPSTREAM_URL: gone.url, ...RECORDING });
    await gone.close();
    const back: FakeV4[] = [];
    try {
      for (const { status } of await often(() => alone.request("GET /anything", asBearer)))
        expect([500, 503]).toContain(status);
      const response = await alone.request("GET /circuit-open", asBearer);
      expect(response).toMatchObject({ status: 503, body: { errors: [{ reason: expect.any(String) }] } });
      expect(response.headers.get("retry-after")).toBe("1");
      expect(response.headers.get("content-type")).toBe("application/json");
      expect((await alone.request("GET /vm/instances")).status).toBe(500);

      const records = await alone.readAudit();
      const [alpha, native] = records.slice(0, 2);
      expect(native).toMatchObject({ alpha: { path: "/v4/circuit-open", status: 503 }, v4: [] });
      expect([native.warnings, alpha.warnings]).toEqual([
        [expect.stringMatching(/circuit is open/)],
        [expect.stringMatching(/circuit is open/)],
      ]);
      expect(records.at(-1)).toMatchObject({ alpha: { status: 500 }, v4: [{ status: null }] });

      back.push(await startFakeV4(Number(port)));
      await waitFor(async () => (await alone.request("GET /anything", asBearer)).status === 200);
      expect((await alone.request("GET /anything", asBearer)).status).toBe(200);
    } finally {
      await alone.stop();
      for (const v4 of back) await v4.close();
    }
  });

  test.each([502, 503, 504])("counts for the circuit with status %i, which is forwarded", async (status) => {
    const failing = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "1000/100" });
    failing.v4.respondWith(json(200, {}, { "x-oauth-scopes": "*" }));
    await failing.request("GET /anything", asBearer);
    failing.v4.respondWith(json(status, {}));
    await often(() => failing.request("GET /anything", asBearer));
    const asked = failing.v4.calls.length;
    const response = await failing.request("GET /anything", asBearer);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(failing.v4.calls).toHaveLength(asked);
    expect((await fetch(`${failing.adminUrl}/readyz`)).status).toBe(503);
  });

  test("opens the circuit for the client whose calls fail, and other clients still reach v4", async () => {
    const failing = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "1000/100" });
    const asOther = { as: null, headers: { authorization: "Bearer other" } };
    failing.v4.respondWith(json(200, {}, { "x-oauth-scopes": "*" }));
    for (const as of [asBearer, asOther]) await failing.request("GET /anything", as);
    failing.v4.respondWith(json(503, {}));
    await often(() => failing.request("GET /anything", asBearer));
    const asked = failing.v4.calls.length;
    await failing.request("GET /anything", asBearer);
    expect(failing.v4.calls).toHaveLength(asked);
    failing.v4.respondWith(json(200, {}));
    expect((await failing.request("GET /vm/instances/7", asOther)).status).toBe(200);
    expect((await failing.request("GET /anything", asBearer)).status).toBe(200);
  });

  test.each<[string, Responder]>([
    ["503", plain(503, "")],
    ["nothing", raw("", "reset")],
  ])("is not one that responds %s to tokens that it has not accepted", async (_name, fails) => {
    const asked = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "100000/60" });
    await asked.request("GET /anything", asBearer);
    asked.v4.respondWith(fails);
    let count = 0;
    await often(() =>
      asked.request("GET /anything", {
        as: null,
        headers: { authorization: `Bearer made-up-${(count += 1)}` },
      }),
    );
    await often(() => asked.request("DELETE /vm/instances/7", { as: `made-up-${(count += 1)}` }));
    // A DELETE on a connection that v4 has closed is sent once more.
    expect(asked.v4.calls.length).toBeGreaterThanOrEqual(120);
    asked.v4.respondWith(json(200, {}));
    expect((await asked.request("GET /anything", asBearer)).status).toBe(200);
    expect((await fetch(`${asked.adminUrl}/readyz`)).status).toBe(200);
  });

  test("is not one whose clients disconnect or stop sending", async () => {
    const asked = await startListeningGatewayWithFakeV4({ UPSTREAM_TIMEOUT_MS: "300" });
    const { url } = asked;
    const ask = "GET /v4/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n";
    const head =
      "POST /v4/upload HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\nContent-Length: 10\r\n\r\n";
    await often(async () => {
      const client = await openRawClient(url);
      client.send(`${head}half`);
      await client.waitForResponses(1);
      client.close();
    });
    expect((await asked.request("GET /anything", asBearer)).status).toBe(200);
    asked.v4.respondWith(neverRespond);
    await often(async () => {
      const client = await openRawClient(url);
      client.send(ask);
      await waitFor(() => asked.v4.calls.length > 0);
      client.close();
    });
    asked.v4.respondWith(json(200, {}));
    expect((await asked.request("GET /anything", asBearer)).status).toBe(200);
  });
});

test("UPSTREAM_URL may have a path", async () => {
  const v4 = await startFakeV4();
  const alone = await startListeningGateway({ UPSTREAM_URL: `${v4.url}/base/` });
  await alone.request("GET /x?y=1", { as: null, headers: { authorization: "Bearer t" } });
  await alone.request("GET /vm/instances");
  expect(
    v4.calls.filter(({ headers }) => headers.authorization).map(({ path }) => path.split("?")[0]),
  ).toEqual(["/base/v4/x", "/base/v4/vm/instances"]);
});

test("NATIVE_PROXY=off gives 401 without a v4 request", async () => {
  const closed = await startListeningGatewayWithFakeV4({ NATIVE_PROXY: "off" });
  const response = await closed.request("GET /vm/instances", {
    as: null,
    headers: { authorization: "Bearer t" },
  });
  expect(response.status).toBe(401);
  expect(closed.v4.calls).toEqual([]);
});

test("the record of a native request has method and path, but no bodies and no token", async () => {
  gateway.v4.respondWith(json(201, { secret_member: 1 }));
  const request = open("POST", "/v4/record?token=abc", { "user-agent": "native/1", "content-length": "13" });
  request.end('{"a":"bcdef"}');
  await textOf(await responseOf(request));
  const record = await newestNative("/v4/record");
  expect(record).toMatchObject({
    lane: "native",
    client: { userAgent: "native/1", fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
    alpha: { method: "POST", route: null, status: 201 },
    v4: [{ method: "POST", status: 201 }],
    warnings: [],
    bytes: { in: 13, out: 19 },
  });
  expect(JSON.stringify(record)).not.toMatch(/native-secret-token|token=abc|bcdef|secret_member/);
});
