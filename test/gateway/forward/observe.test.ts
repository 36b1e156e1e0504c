/** LEGACY_URL without a pack: everything is passed to the old service unchanged, and recorded. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { json, plain } from "../../support/fake-v4.ts";
import { startObservingGateway } from "../../support/observing-gateway.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() => startObservingGateway({ ...RECORDING, AUDIT_BODY_LIMIT: "1kb" }));
beforeEach(() => gateway.old.respondWith(json(200, {})));

const send = (path: string, init: RequestInit = {}): Promise<Response> => fetch(gateway.url + path, init);

const fingerprint = (token: string): string => createHash("sha256").update(token).digest("hex").slice(0, 16);

const TOKEN = "s3cr3t-t0ken-of-a-client";

describe("a request", () => {
  test("reaches the old service with its method, path, query, headers and body as the client sent them", async () => {
    const body = '{ "name": "a",  "n": 1.50 }';
    await send("/api//v1/orders/%C3%A9?b=2&a=%20x&a", {
      method: "PATCH",
      body,
      headers: {
        authorization: `Token ${TOKEN}`,
        cookie: "session=abc",
        "content-type": "application/json",
        "x-http-method-override": "PUT",
        "x-any": "1",
      },
    });
    const [call] = gateway.old.calls;
    expect(call).toMatchObject({
      method: "PATCH",
      path: "/api//v1/orders/%C3%A9?b=2&a=%20x&a",
      headers: {
        authorization: `Token ${TOKEN}`,
        cookie: "session=abc",
        "content-type": "application/json",
        "x-http-method-override": "PUT",
        "x-any": "1",
      },
    });
    expect(call?.received().toString()).toBe(body);
  });

  test("gets the host of the old service, and the client's address in X-Forwarded-For", async () => {
    await send("/things", {
      headers: { "x-forwarded-for": "192.0.2.7", "x-forwarded-host": "evil.example" },
    });
    const { headers } = gateway.old.calls[0] ?? { headers: {} };
    expect(headers).toMatchObject({
      host: new URL(gateway.old.url).host,
      "x-forwarded-for": "192.0.2.7, 127.0.0.1",
      "x-forwarded-host": new URL(gateway.url).host,
    });
  });

  test("only loses the headers of its connection", async () => {
    const client = await openRawClient(gateway.url);
    client.send(
      "GET /a HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\nX-Other: 2\r\n\r\n",
    );
    await client.waitForResponses(1);
    client.close();
    const headers = gateway.old.calls[0]?.headers ?? {};
    expect(headers).toMatchObject({ "x-other": "2" });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["x-mine"]));
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(["te"]));
  });

  test.each([
    ["X-Forwarded-For", "192.0.2.7"],
    ["X_Forwarded_For", "192.0.2.7"],
    ["X-Real-IP", "192.0.2.7"],
    ["X-Forwarded-Proto", "https"],
    ["X-SSL-Client-Verify", "SUCCESS"],
    ["X-Auth-Request-User", "ann"],
    ["X-HTTP-Method-Override", "DELETE"],
  ])("keeps %s, which a proxy in front may have set, though Connection names it", async (name, value) => {
    const behindProxy = await startObservingGateway({
      LEGACY_URL: gateway.old.url,
      TRUST_PROXY: "127.0.0.1",
    });
    const client = await openRawClient(behindProxy.url);
    client.send(
      `GET /a HTTP/1.1\r\nHost: a\r\n${name}: ${value}\r\nConnection: X-Hop, ${name}\r\nX-Hop: 1\r\n\r\n`,
    );
    await client.waitForResponses(1);
    client.close();
    await behindProxy.stop();
    const { headers = {} } = gateway.old.calls[0] ?? {};
    expect(headers).toMatchObject({ [name.toLowerCase()]: value });
    expect(headers).not.toHaveProperty("x-hop");
  });

  test("has the prefix of LEGACY_URL's path in front of its own", async () => {
    const prefixed = await startObservingGateway({ LEGACY_URL: `${gateway.old.url}/base/` });
    await fetch(`${prefixed.url}/things?x=1`);
    await prefixed.stop();
    expect(gateway.old.calls.map(({ path }) => path)).toEqual(["/base/things?x=1"]);
  });

  test("does not leave the path of LEGACY_URL", async () => {
    const prefixed = await startObservingGateway({ LEGACY_URL: `${gateway.old.url}/base` });
    const client = await openRawClient(prefixed.url);
    const paths = ["/../admin", "/%2e%2e/admin", "/..;/admin", "/\\..\\admin", "/a/.%2e/../../admin"];
    for (const path of paths) client.send(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const responses = await client.waitForResponses(paths.length);
    expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 501));
    client.close();
    await prefixed.stop();
    expect(gateway.old.calls).toEqual([]);
  });

  test("with a body that its client announces with Expect: 100-continue is passed on once the client may send it", async () => {
    const client = await openRawClient(gateway.url);
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    while (!client.text().includes("100 Continue")) await new Promise((resolve) => setTimeout(resolve, 5));
    client.send("hi");
    while (!client.text().includes("200 OK")) await new Promise((resolve) => setTimeout(resolve, 5));
    client.close();
    expect(gateway.old.calls[0]?.received().toString()).toBe("hi");
    expect(gateway.old.calls[0]?.headers).not.toHaveProperty("expect");
  });

  test("in chunks is passed on in chunks", async () => {
    const client = await openRawClient(gateway.url);
    client.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
    await client.waitForResponses(1);
    client.close();
    expect(gateway.old.calls[0]?.received().toString()).toBe("hi");
    expect(gateway.old.calls[0]?.headers["transfer-encoding"]).toBe("chunked");
  });

  test("that announced the end of its connection is the last one there (RFC 9112 9.6)", async () => {
    const connections = new Set<unknown>();
    const server = createServer((request, response) => {
      connections.add(request.socket);
      // A server may go on with a connection that its client wants to close.
      response.shouldKeepAlive = true;
      request.resume().on("end", () => response.setHeader("connection", "keep-alive").end("ok"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const observing = await startObservingGateway({ LEGACY_URL: `http://127.0.0.1:${port}` });
    const client = await openRawClient(observing.url);
    for (let times = 1; times <= 3; times += 1) {
      client.send("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
      await client.waitForResponses(times);
    }
    client.close();
    await observing.stop();
    server.close();
    expect(connections.size).toBe(3);
  });

  test("of any method is passed on", async () => {
    for (const method of ["OPTIONS", "DELETE", "PUT", "HEAD"]) await send("/things/1", { method });
    expect(gateway.old.calls.map(({ method }) => method)).toEqual(["OPTIONS", "DELETE", "PUT", "HEAD"]);
  });

  test("for a WebSocket gets 501, and never reaches the old service", async () => {
    const client = await openRawClient(gateway.url);
    client.send(
      "GET /live HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    );
    const [response] = await client.waitForResponses(1);
    client.close();
    expect(response).toMatchObject({ status: 501, body: expect.stringContaining("WebSocket") });
    expect(gateway.old.calls).toEqual([]);
  });

  test("is never rejected by a limit of the gateway", async () => {
    const limited = await startObservingGateway({ LEGACY_URL: gateway.old.url, RATE_LIMIT: "1/60" });
    const statuses: number[] = [];
    for (let times = 0; times < 5; times += 1)
      statuses.push(
        (await fetch(`${limited.url}/things`, { headers: { "x-api-key": `key-${times}` } })).status,
      );
    await limited.stop();
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });
});

describe("the response", () => {
  test("reaches the client with its status, headers, cookies and bytes", async () => {
    const bytes = gzipSync('{"a": 1}');
    gateway.old.respondWith((_call, response) => {
      response.writeHead(409, "Not Now", {
        "content-type": "application/json",
        "content-encoding": "gzip",
        "set-cookie": ["a=1", "b=2"],
        server: "old/1",
        "access-control-allow-origin": "*",
        "X-Odd-Case": "1",
      });
      response.end(bytes);
    });
    const client = await openRawClient(gateway.url);
    client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const text = await client.waitForEnd();
    expect(text).toMatch(/^HTTP\/1\.1 409 Conflict\r\n/);
    for (const line of [
      "set-cookie: a=1",
      "set-cookie: b=2",
      "server: old/1",
      "access-control-allow-origin: *",
    ])
      expect(text).toContain(`\r\n${line}\r\n`);
    expect(text).toContain("\r\nx-odd-case: 1\r\n");
    expect(text).not.toMatch(/\r\nvary:|x-content-type-options|x-powered-by/i);
    expect(text).toContain(bytes.toString("latin1"));
  });

  test("of a redirect is not followed", async () => {
    gateway.old.respondWith(plain(302, "", { location: "/elsewhere" }));
    const response = await send("/a", { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([302, "/elsewhere"]);
  });
});

describe("the record", () => {
  test("has the lane legacy, a route without ids, and both bodies", async () => {
    gateway.old.respondWith(json(201, { id: 7, ok: true }));
    await send("/v1/orders/4711/items?expand=a", {
      method: "POST",
      body: '{"name":"x"}',
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    });
    expect(await gateway.readLastRecord()).toMatchObject({
      lane: "legacy",
      client: { fingerprint: fingerprint(TOKEN), accepted: true },
      alpha: {
        method: "POST",
        path: "/v1/orders/4711/items",
        route: "POST /v1/orders/:id/items",
        query: "expand=a",
        body: { name: "x" },
        status: 201,
        response: { id: 7, ok: true },
      },
      v4: [],
      losses: [],
      warnings: [],
    });
  });

  test("has the members of a form", async () => {
    await send("/login", {
      method: "POST",
      body: new URLSearchParams({ user: "ann", password: "hunter2hunter2" }),
    });
    expect((await gateway.readLastRecord()).alpha.body).toEqual({ user: "ann", password: "[redacted]" });
  });

  test.each([
    ["gzip", gzipSync('{"a":1,"token":"abcdefghijkl"}')],
    [undefined, Buffer.from('{"a":1,"token":"abcdefghijkl"}')],
  ])("has a JSON response with the coding %s, without its secrets", async (coding, bytes) => {
    gateway.old.respondWith(
      plain(200, bytes, { "content-type": "text/html", ...(coding && { "content-encoding": coding }) }),
    );
    await (await send("/a")).text();
    expect((await gateway.readLastRecord()).alpha.response).toEqual({ a: 1, token: "[redacted]" });
  });

  test("has the type and size of a file, and nothing of it", async () => {
    gateway.old.respondWith(plain(200, Buffer.alloc(5000, "x"), { "content-type": "image/png" }));
    await (await send("/a")).arrayBuffer();
    const { alpha, bytes } = await gateway.readLastRecord();
    expect(alpha.response).toEqual({ streamed: { bytes: 5000, type: "image/png" } });
    expect(bytes.out).toBe(5000);
  });

  test("has the beginning of a body above AUDIT_BODY_LIMIT, marked as cut", async () => {
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, password: `hunter2-${id}` }));
    gateway.old.respondWith(json(200, rows));
    const text = await (await send("/a")).text();
    expect(JSON.parse(text)).toHaveLength(20_000);
    const { alpha } = await gateway.readLastRecord();
    expect(alpha.response).toMatchObject({ truncated: true, bytes: text.length });
    expect(JSON.stringify(alpha)).not.toContain("hunter2");
  });

  test.each([
    ["Authorization of any scheme", { authorization: `Weird ${TOKEN}` }, ""],
    ["Authorization without a scheme", { authorization: TOKEN }, ""],
    ["X-API-Key", { "x-api-key": TOKEN }, ""],
    ["X-Auth-Token", { "x-auth-token": TOKEN }, ""],
    ["a query parameter", {}, `?api_key=${TOKEN}&x=1`],
    ["the parameter key", {}, `?key=${TOKEN}&x=1`],
  ])("has the fingerprint of a token in %s, and never the token", async (_place, headers, query) => {
    gateway.old.respondWith(json(200, { echo: `it was ${TOKEN}` }));
    await send(`/a${query}`, {
      headers: { "user-agent": `me ${TOKEN}`, ...headers } as Record<string, string>,
    });
    const record = await gateway.readLastRecord();
    expect(record.client.fingerprint).toBe(fingerprint(TOKEN));
    expect(JSON.stringify(record)).not.toContain(TOKEN);
  });

  test.each([
    ["a user", "key-of-a-service:", "key-of-a-service"],
    ["a password", ":key-of-a-service", "key-of-a-service"],
    ["both", "ann:hunter2hunter2", "ann:hunter2hunter2"],
  ])("has the fingerprint of Basic credentials of %s", async (_what, pair, token) => {
    const authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    await send("/a", { headers: { authorization } });
    const record = await gateway.readLastRecord();
    expect(record.client.fingerprint).toBe(fingerprint(token));
    expect(JSON.stringify(record)).not.toContain(authorization.slice(6));
  });

  test.each(["authorization", "proxy-authorization"])(
    "has no password of Basic credentials in %s, also where the query or the response repeats it",
    async (name) => {
      gateway.old.respondWith(json(200, { echo: "it was hunter2hunter2" }));
      const pair = Buffer.from("ann:hunter2hunter2").toString("base64");
      await send("/a?from=hunter2hunter2", { headers: { [name]: `Basic ${pair}` } });
      expect(JSON.stringify(await gateway.readLastRecord())).not.toMatch(/hunter2/);
    },
  );

  test.each([
    ["what is behind the scheme", "b3BlbiBzZXNhbWUgb3Blbg"],
    ["the password", "hunter2hunter2"],
  ])("has another id if that of the request is %s in Proxy-Authorization", async (_what, id) => {
    const scheme = id.startsWith("hunter2") ? Buffer.from(`ann:${id}`).toString("base64") : id;
    const { headers } = await send("/a", {
      headers: { "proxy-authorization": `Basic ${scheme}`, "x-request-id": id },
    });
    expect(headers.get("x-request-id")).not.toBe(id);
    expect(JSON.stringify(await gateway.readLastRecord())).not.toContain(id);
  });

  test("has no cookie, also where the response repeats it", async () => {
    gateway.old.respondWith(
      json(200, { echo: "abcdefghijklmnop" }, { "set-cookie": "sid=qrstuvwxyz0123456789" }),
    );
    await send("/a?from=qrstuvwxyz0123456789", { headers: { cookie: "sid=abcdefghijklmnop" } });
    expect(JSON.stringify(await gateway.readLastRecord())).not.toMatch(
      /abcdefghijklmnop|qrstuvwxyz0123456789/,
    );
  });

  test.each([
    [200, true],
    [404, true],
    [401, false],
    [403, false],
  ])("of a request with a token that got %d says accepted: %s", async (status, accepted) => {
    gateway.old.respondWith(json(status, {}));
    await send("/a", { headers: { authorization: `Bearer ${TOKEN}` } });
    expect((await gateway.readLastRecord()).client.accepted).toBe(accepted);
  });

  test.each([
    ["/reset/password/Sommer2026", "/reset/password/[redacted]", "GET /reset/password/:id"],
    ["/password/reset/Sommer", "/password/reset/[redacted]", "GET /password/reset/:id"],
    ["/token/eyJhbGciOi.eyJzdWIi.c2lnbmF0/accept", "/token/[redacted]/accept", "GET /token/:id/accept"],
    ["/v1/api_keys/Sommer", "/v1/api_keys/[redacted]", "GET /v1/api_keys/:id"],
  ])("of %s has no secret in its path and its route", async (path, recorded, route) => {
    await send(path, { headers: { authorization: `Bearer ${TOKEN}` } });
    const record = await gateway.readLastRecord();
    expect(record.alpha).toMatchObject({ path: recorded, route });
    expect(JSON.stringify(record)).not.toMatch(/Sommer|eyJ/);
    const { text } = await gateway.requestAdmin("GET /api/usage/routes?lane=legacy");
    expect(text).not.toMatch(/Sommer|eyJ/);
  });

  test("has no route with a word of its path that the same request or its response says is secret", async () => {
    gateway.old.respondWith(json(200, { invitation_code: "sommerfest" }));
    await send("/join/sommerfest", { method: "POST" });
    const { alpha } = await gateway.readLastRecord();
    expect(alpha).toMatchObject({ path: "/join/[redacted]", route: "POST /join/:id" });
  });

  test("has its path and its route if the response has more secrets than can be searched for", async () => {
    const rows = Array.from({ length: 600 }, (_, id) => ({ id, password: `hunter2-${id}` }));
    gateway.old.respondWith(json(200, rows));
    await (await send("/v1/password/Sommer/rows", { headers: { authorization: `Bearer ${TOKEN}` } })).text();
    const record = await gateway.readLastRecord();
    expect(record.alpha).toMatchObject({
      path: "/v1/password/[redacted]/rows",
      route: "GET /v1/password/:id/rows",
    });
    expect(JSON.stringify(record)).not.toContain("hunter2");
  });

  test.each(["root_pass", "pw", "psk", "ssn", "iban", "otp_code", "connection_string", "recovery_codes"])(
    "has no value of %s, in a body, a response and a query",
    async (name) => {
      gateway.old.respondWith(json(200, { in: [{ [name]: "of-the-response" }] }));
      const body = JSON.stringify({ [name]: "of-the-body" });
      await send(`/v1/any?${name}=of-the-query`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      });
      expect(JSON.stringify(await gateway.readLastRecord())).not.toContain("of-the-");
    },
  );

  test("has no route for a path that the old service has never served", async () => {
    gateway.old.respondWith(json(404, {}));
    await send("/wp-login.php");
    expect((await gateway.readLastRecord()).alpha).toMatchObject({ route: null, status: 404 });
  });
});

describe("the calls of a client", () => {
  test("count as calls of the old API, in the lists of clients, days and routes", async () => {
    const headers = { authorization: "Bearer counted-client-1" };
    await send("/v1/counted/1", { headers });
    await send("/v1/counted/2", { headers });
    const { body: clients } = await gateway.requestAdmin("GET /api/usage/clients");
    const client = { client: fingerprint("counted-client-1") };
    expect(clients.clients ?? clients).toContainEqual(
      expect.objectContaining({ ...client, requests: 2, native: 0, state: "not begun" }),
    );
    const { body: calls } = await gateway.requestAdmin("GET /api/usage/calls?route=GET%20/v1/counted/:id");
    expect(calls.calls).toEqual([
      expect.objectContaining({ route: "GET /v1/counted/:id", requests: 2, state: "not begun" }),
    ]);
    const { body: routes } = await gateway.requestAdmin("GET /api/usage/routes?lane=legacy");
    expect(routes.routes ?? routes).toContainEqual(expect.objectContaining({ ...client, lane: "legacy" }));
  });

  test("are found by their lane, and exported as calls of the old API", async () => {
    await send("/v1/exported/1");
    const { body } = await gateway.requestAdmin("GET /api/audit?lane=legacy&limit=1");
    expect(body.records).toEqual([expect.objectContaining({ lane: "legacy" })]);
    const { text } = await gateway.requestAdmin("GET /api/audit/export?format=csv&lane=legacy");
    expect(text).toContain("legacy");
    const { body: har } = await gateway.requestAdmin("GET /api/audit/export?format=har&lane=legacy");
    expect(har.log.entries.at(0)).toMatchObject({ _dialect: "alpha" });
    const { body: explained } = await gateway.requestAdmin(`GET /api/audit/${body.records[0].id}/explain`);
    expect(explained).toMatchObject({
      note: "The old service answered this request. Nothing was translated.",
      answer: [],
      curl: { alpha: expect.stringContaining("/v1/exported/1"), v4: [] },
    });
  });

  test("are in the metrics by their lane, without a route: it was guessed from what a client sent", async () => {
    await send("/v1/metered/7");
    const { text } = await gateway.requestAdmin("GET /metrics");
    expect(text).toMatch(/^alpha_gateway_requests_total\{lane="legacy",route="none",status="200"\} \d+$/m);
    expect(text).not.toContain("/v1/metered");
  });
});

describe("a gateway that observes", () => {
  test("is ready without a v4, and has a console, a report, an empty pack and health", async () => {
    expect(await gateway.readiness()).toEqual([]);
    for (const path of [
      "/healthz",
      "/readyz",
      "/api",
      "/api/mappings",
      "/api/usage/groups",
      "/api/report?format=json",
    ])
      expect([path, (await gateway.requestAdmin(`GET ${path}`)).status]).toEqual([path, 200]);
    expect((await gateway.requestAdmin("GET /api/mappings")).body.routes).toEqual([]);
  });

  test("reloads without a fault, as for SIGHUP", async () => {
    expect(await gateway.reload()).toBeUndefined();
  });
});
