/** A request is decided by its head; a body is read afterwards, within bounds of memory and time (threat model). */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { request } from "../../support/request.ts";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { createBodyReaders } from "../../../src/gateway/bodies/receive-body.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { acceptGoodTokens, envelope, json } from "../../support/fake-v4.ts";
import { createRawClients, type RawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const LIMIT = 100_000;

const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    BODY_LIMIT: String(LIMIT),
    RATE_LIMIT: "1000/600",
    TRUST_PROXY: "127.0.0.1",
    RATE_LIMIT_CREATE: "2/600",
  }),
);
beforeEach(() => gateway.v4.respondWith(acceptGoodTokens));

const clients = createRawClients(() => gateway.url);
afterEach(() => clients.closeAll());

const head = (call: string, authorization: string, body: string): string =>
  `${call} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${authorization}${body}\r\n\r\n`;
const as = (token: string): string => `Authorization: token ${token}\r\n`;
const from = (address: string): string => `X-Forwarded-For: ${address}\r\n`;
const STOP = "POST /v4/vm/instances/7/shutdown";

async function bytesKept(): Promise<number> {
  const { text } = await request(gateway.adminUrl, "GET /metrics");
  return Number(/^alpha_gateway_body_bytes (\d+)$/m.exec(text)?.[1]);
}

describe("requests that are rejected before a byte of their body has arrived", () => {
  test.each([
    ["no credentials", head(STOP, "", "Content-Length: 90000"), 401],
    ["malformed credentials", head(STOP, "Authorization: Basic x\r\n", "Content-Length: 90000"), 401],
    ["an unknown path", head("POST /v4/nothing", as("good"), "Content-Length: 90000"), 404],
    ["a path outside of alpha", head("PUT /v5/x", as("good"), "Transfer-Encoding: chunked"), 404],
    ["a body that says it is too long", head(STOP, as("good"), `Content-Length: ${LIMIT + 1}`), 400],
    ["a form that says it is too long", head("POST /oauth/token", "", "Content-Length: 70000"), 400],
  ])("%s", async (_what, bytes, status) => {
    const client = await clients.open(bytes);
    expect(await client.waitForResponses(1)).toMatchObject([{ status }]);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("have a token that v4 has rejected", async () => {
    await gateway.request("GET /vm/instances", { as: "bad" });
    const client = await clients.open(head(STOP, as("bad"), "Content-Length: 90000"));
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 401 }]);
  });

  test("have an insufficient scope", async () => {
    gateway.v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "vms:read_only" }));
    await gateway.request("GET /vm/instances", { as: "reads" });
    const client = await clients.open(head(STOP, as("reads"), "Content-Length: 90000"));
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 403 }]);
  });

  test("upload a file with an insufficient scope", async () => {
    gateway.v4.respondWith(json(200, envelope([]), { "x-oauth-scopes": "vms:read_only" }));
    await gateway.request("GET /vm/instances", { as: "reads-too" });
    const { length } = gateway.v4.calls;
    const upload = `PUT /v4/account/clients/0123456789abcdef0123/thumbnail HTTP/1.1\r\nHost: a\r\n`;
    const client = await clients.open(
      `${upload}${as("reads-too")}Content-Type: image/png\r\nContent-Length: 9000\r\n\r\n`,
    );
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 403 }]);
    expect(gateway.v4.calls).toHaveLength(length);
  });

  test("exceed the rate limit", async () => {
    for (let n = 0; n < 2; n += 1)
      await gateway.request("POST /vm/instances", { as: "good-limit", body: {} });
    const client = await clients.open(
      head("POST /v4/vm/instances", as("good-limit"), "Content-Length: 90000"),
    );
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 420 }]);
  });
});

describe("a token that the gateway does not know yet", () => {
  test("gets other responses while one request with it does not send its body", async () => {
    await clients.open(head(STOP, as("good-locked"), "Content-Length: 90000"));
    expect((await gateway.request("GET /vm/instances", { as: "good-locked" })).status).toBe(200);
  });

  test("is rejected for all requests once v4 has rejected it for one", async () => {
    await clients.open(head(STOP, as("bad-locked"), "Content-Length: 90000"));
    expect((await gateway.request("GET /vm/instances", { as: "bad-locked" })).status).toBe(401);
    const client = await clients.open(head(STOP, as("bad-locked"), "Content-Length: 90000"));
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 401 }]);
    expect(gateway.v4.calls).toHaveLength(1);
  });

  test("is not locked by a client that disconnects before its body", async () => {
    const client = await clients.open(head(STOP, as("good-gone"), "Content-Length: 90000"));
    client.close();
    expect((await gateway.request("GET /vm/instances", { as: "good-gone" })).status).toBe(200);
  });
});

describe("the connection of a request whose body is not read", () => {
  const GET = head("GET /v4/vm/instances", as("good-after"), "X-Nothing: 1");

  test("stays open after a small body", async () => {
    const client = await clients.open(head(STOP, "", "Content-Length: 2"));
    await client.waitForResponses(1);
    client.send(`{}${GET}`);
    expect(await client.waitForResponses(2)).toMatchObject([{ status: 401 }, { status: 200 }]);
  });

  test("ends if a small body does not arrive", async () => {
    const client = await clients.open(head(STOP, "", "Content-Length: 2"));
    expect(await client.waitForEnd()).toMatch(/^HTTP\/1\.1 401 /);
  });

  test("ends with a large Content-Length, and nothing in the body is a request", async () => {
    const client = await clients.open(head(STOP, "", "Content-Length: 90000"));
    await client.waitForResponses(1);
    client.send(GET);
    expect(await client.waitForEnd()).toMatch(/^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/i);
    expect(await client.waitForResponses(1)).toHaveLength(1);
    expect(gateway.v4.calls).toEqual([]);
  });

  test("ends with chunks, and nothing in them is a request", async () => {
    const client = await clients.open(head(STOP, "", "Transfer-Encoding: chunked"));
    await client.waitForResponses(1);
    client.send(`${GET.length.toString(16)}\r\n${GET}\r\n`);
    await client.waitForEnd();
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 401 }]);
    expect(gateway.v4.calls).toEqual([]);
  });
});

describe("memory of buffered bodies", () => {
  const half = (token: string, address = "192.0.2.1"): Promise<RawClient> =>
    clients.open(
      head("PUT /v4/vm/instances/7", as(token) + from(address), `Content-Length: ${LIMIT}`) +
        " ".repeat(LIMIT - 1),
    );

  test("is limited to a sixteenth for the tokens of a network that v4 has not accepted, and other clients proceed", async () => {
    await gateway.request("GET /vm/instances", { as: "good-memory" });
    for (const n of [1, 2]) {
      await half(`bad-${n}`);
      await waitFor(async () => (await bytesKept()) === n * LIMIT);
    }
    const refused = await Promise.all(Array.from({ length: 18 }, (_, n) => half(`bad-other-${n}`)));
    for (const client of refused)
      expect(await client.waitForResponses(1)).toMatchObject([
        { status: 500, body: '{"errors":[{"reason":"The service is busy. Try again later."}]}' },
      ]);
    expect(await bytesKept()).toBe(2 * LIMIT);

    const knownClient = await half("good-memory");
    await waitFor(async () => (await bytesKept()) === 3 * LIMIT);
    knownClient.send("{");
    expect(await knownClient.waitForResponses(1)).toMatchObject([{ status: 400 }]);
    clients.closeAll();
    await waitFor(async () => (await bytesKept()) === 0);
  });

  test("is limited to half for each accepted token, and other clients proceed", async () => {
    for (const token of ["good-greedy", "good-other"])
      await gateway.request("GET /vm/instances", { as: token });
    await Promise.all(Array.from({ length: 16 }, () => half("good-greedy")));
    await waitFor(async () => (await bytesKept()) === 16 * LIMIT);
    const refused = await half("good-greedy");
    expect(await refused.waitForResponses(1)).toMatchObject([{ status: 500 }]);

    const other = await half("good-other");
    await waitFor(async () => (await bytesKept()) === 17 * LIMIT);
    other.send("{");
    expect(await other.waitForResponses(1)).toMatchObject([{ status: 400 }]);
    clients.closeAll();
    await waitFor(async () => (await bytesKept()) === 0);
  });

  test.each([
    ["an IPv4 address", "192.0.2.7", "192.0.2.7", "192.0.2.8"],
    ["the /64 of an IPv6 address", "2001:db8:0:1::7", "2001:db8:0:1::8", "2001:db8:0:2::7"],
  ])("is limited to three quarters for %s, and others proceed", async (_what, one, same, other) => {
    const tokens = ["good-one", "good-two", "good-three"];
    for (const token of tokens) await gateway.request("GET /vm/instances", { as: token });
    await Promise.all(Array.from({ length: 12 }, () => half("good-one", one)));
    await Promise.all(Array.from({ length: 12 }, () => half("good-two", same)));
    await waitFor(async () => (await bytesKept()) === 24 * LIMIT);
    for (const token of tokens) {
      const refused = await half(token, one);
      expect(await refused.waitForResponses(1)).toMatchObject([{ status: 500 }]);
    }

    const proceeding = await half("good-one", other);
    await waitFor(async () => (await bytesKept()) === 25 * LIMIT);
    proceeding.send("{");
    expect(await proceeding.waitForResponses(1)).toMatchObject([{ status: 400 }]);
    clients.closeAll();
    await waitFor(async () => (await bytesKept()) === 0);
  });

  test("counts encoded bodies by their possible decoded size", async () => {
    const encoded = head(STOP, `${as("bad-gzip")}Content-Encoding: gzip\r\n`, "Content-Length: 4");
    const client = await clients.open(`${encoded}abcd`);
    expect(await client.waitForResponses(1)).toMatchObject([{ status: 400 }]);
    await waitFor(async () => (await bytesKept()) === 0);
  });
});

test("a body that was read leaves no listeners on its request", async () => {
  const request = new IncomingMessage(new Socket());
  request.headers["content-length"] = "2";
  const { read } = createBodyReaders(LIMIT).of(request);
  const before = [request.listenerCount("close"), request.listenerCount("end")];
  const body = read({ isKnown: true, token: "t", networks: ["192.0.2.1"] });
  request.push("{}");
  request.push(null);
  expect((await body).toString()).toBe("{}");
  expect([request.listenerCount("close"), request.listenerCount("end")]).toEqual(before);
});

describe("time limits of bodies", () => {
  test("reject a slow body, earlier without an accepted token", async () => {
    await gateway.request("GET /vm/instances", { as: "good-slow" });
    const bytes = (token: string): string => `${head(STOP, as(token), "Content-Length: 1000")}{`;
    const knownClient = await clients.open(bytes("good-slow"));
    const unknown = await clients.open(bytes("bad-slow"));
    const [response] = await unknown.waitForResponses(1);
    expect(response).toMatchObject({ status: 400, body: expect.stringContaining("too slowly") });
    expect(knownClient.text()).toBe("");
    knownClient.send(`${" ".repeat(998)}}`);
    expect(await knownClient.waitForResponses(1)).toMatchObject([{ status: 200 }]);
  });
});
