/** A gateway that observes, in front of an old service that fails, and between clients that do. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { json, neverRespond, plain, raw, type Responder } from "../../support/fake-v4.ts";
import { freePort } from "../../support/free-port.ts";
import { RECORDING, openListeningGateway } from "../../support/gateway.ts";
import { startObservingGateway, type ObservingGateway } from "../../support/observing-gateway.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { startForTests } from "../../support/start-for-tests.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Its limit for the old service is short. */
const gateway = startForTests(() => startObservingGateway(RECORDING));
const hasty = startForTests(() => startObservingGateway({ ...RECORDING, UPSTREAM_TIMEOUT_MS: "300" }));
beforeEach(() => {
  gateway.old.respondWith(json(200, {}));
  hasty.old.respondWith(json(200, {}));
});

const MEGABYTE = 1_000_000;

async function send(of: ObservingGateway, path = "/things/1", init: RequestInit = {}) {
  const response = await fetch(of.url + path, init);
  return { status: response.status, body: await response.text() };
}

describe("the client gets an error in plain JSON, and the record says why,", () => {
  const FAILED = { status: 502, body: '{"message":"The service could not process this request."}' };

  test.each<[string, Responder]>([
    ["resets the connection", raw("", "reset")],
    ["closes it without a response", raw("", "end")],
    ["responds with something else than HTTP", raw("SSH-2.0-OpenSSH_9.6\r\n")],
    ["resets it within the head", raw("HTTP/1.1 200 OK\r\nContent-Le", "reset")],
    ["switches protocols unasked", raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n")],
    [
      "switches protocols unasked, and its connection with them",
      raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "leave"),
    ],
  ])("where the old service %s", async (_how, responder) => {
    gateway.old.respondWith(responder);
    expect(await send(gateway, "/things/1", { method: "POST", body: "x" })).toEqual(FAILED);
    const { alpha, warnings, lane } = await gateway.readLastRecord();
    expect({ lane, status: alpha.status, warnings }).toEqual({
      lane: "legacy",
      status: 502,
      warnings: [expect.stringMatching(/^old service: /)],
    });
  });

  test("where it does not respond in time", async () => {
    hasty.old.respondWith(neverRespond);
    expect(await send(hasty)).toEqual({
      status: 504,
      body: '{"message":"The service did not respond in time."}',
    });
    expect((await hasty.readLastRecord()).alpha.status).toBe(504);
  });

  test("where it can't be reached, and /readyz names it after many attempts", async () => {
    const unreachable = await openListeningGateway({ LEGACY_URL: `http://127.0.0.1:${await freePort()}` });
    const statuses = new Set<number>();
    for (let times = 0; times < 60; times += 1) statuses.add((await fetch(`${unreachable.url}/a`)).status);
    expect([...statuses]).toEqual([502, 503]);
    expect(await unreachable.readiness()).toEqual(["the old service can't be reached: the circuit is open"]);
    await unreachable.stop();
  });
});

describe("the client's connection breaks off", () => {
  test.each<[string, Responder]>([
    ["responds with a status that is none", raw("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n")],
    [
      "uses a transfer coding that nobody knows",
      raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n"),
    ],
  ])("where the old service %s, and the record has the status of an error", async (_how, responder) => {
    gateway.old.respondWith(responder);
    const client = await openRawClient(gateway.url);
    client.send("GET /odd HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.waitForEnd()).toBe("");
    const record = await waitFor(async () => {
      const { records } = (await gateway.requestAdmin("GET /api/audit?limit=1")).body;
      return records[0]?.alpha.path === "/odd" && records[0];
    });
    expect(record.alpha.status).toBe(502);
  });

  test("where the old service breaks off within its body, and the record has the status of the head", async () => {
    gateway.old.respondWith(raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "reset"));
    const client = await openRawClient(gateway.url);
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.waitForEnd()).toMatch(/^HTTP\/1\.1 200 OK/);
    const record = await waitFor(async () => {
      const { records } = (await gateway.requestAdmin("GET /api/audit?limit=1")).body;
      return records[0]?.alpha.path === "/a" && records[0];
    });
    expect(record.warnings.join()).toContain("broke");
  });

  test("where it hangs within its body", async () => {
    hasty.old.respondWith(raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "leave"));
    const client = await openRawClient(hasty.url);
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await client.waitForEnd()).toContain("half");
  });
});

test("statuses of the old service never open the circuit: clients get them as before", async () => {
  gateway.old.respondWith(json(503, { down: true }));
  const statuses = new Set<number>();
  for (let times = 0; times < 120; times += 1) statuses.add((await send(gateway)).status);
  expect([...statuses]).toEqual([503]);
  gateway.old.respondWith(json(200, {}));
  expect((await send(gateway)).status).toBe(200);
});

test("a GET is sent again where the old service closed its idle connection, and a POST is not", async () => {
  let requests = 0;
  // The second request on a connection finds it closed.
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests += 1;
    const { socket } = request as IncomingMessage & { socket: { count?: number } };
    socket.count = (socket.count ?? 0) + 1;
    if (socket.count > 1) socket.resetAndDestroy();
    else request.resume().on("end", () => response.end("{}"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const idle = await openListeningGateway({ LEGACY_URL: url });
  const statusOf = async (method: string) =>
    (await fetch(`${idle.url}/a`, { method, ...(method === "POST" && { body: "x" }) })).status;
  expect(await statusOf("GET")).toBe(200);
  expect(await statusOf("GET")).toBe(200);
  expect(requests).toBe(3);
  expect(await statusOf("POST")).toBe(502);
  await idle.stop();
  server.closeAllConnections();
  server.close();
});

test("a client that disconnects ends its request to the old service, and is recorded with 499", async () => {
  gateway.old.respondWith(neverRespond);
  const client = await openRawClient(gateway.url);
  client.send("GET /left HTTP/1.1\r\nHost: a\r\n\r\n");
  await waitFor(() => gateway.old.calls.length > 0);
  client.close();
  expect(await gateway.old.calls[0]?.ended).toBe("broken off");
  const record = await waitFor(async () => {
    const { records } = (await gateway.requestAdmin("GET /api/audit?limit=1")).body;
    return records[0]?.alpha.path === "/left" && records[0];
  });
  expect(record.alpha.status).toBe(499);
});

test("a response of 10 MB arrives whole, and its record has the beginning", async () => {
  const rows = JSON.stringify(Array.from({ length: 10 }, () => "x".repeat(MEGABYTE)));
  gateway.old.respondWith(plain(200, rows, { "content-type": "application/json" }));
  const { body } = await send(gateway);
  expect(body === rows).toBe(true);
  const { alpha, bytes } = await gateway.readLastRecord();
  expect(bytes.out).toBe(rows.length);
  expect(alpha.response).toMatchObject({ truncated: true, bytes: rows.length });
  expect(alpha.response.text.length).toBeLessThanOrEqual(262_144);
});

describe("50 MB", () => {
  const SIZE = 50 * MEGABYTE;

  test("of an upload wait for an old service that does not read, and then arrive whole", async () => {
    let reading: IncomingMessage | undefined;
    let received = 0;
    const server = createServer((request, response) => {
      reading = request;
      request.pause().on("data", ({ length }: Buffer) => (received += length));
      request.pause();
      request.on("end", () => response.end(String(received)));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const streaming = await openListeningGateway({
      LEGACY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
    const client = await openRawClient(streaming.url);
    client.send(
      `PUT /file HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: ${SIZE}\r\n\r\n`,
    );
    client.socket.write(Buffer.alloc(SIZE));
    await waitFor(() => reading);
    let before = -1;
    // Until nothing moves any more.
    while (before !== client.socket.bytesWritten - client.socket.writableLength) {
      before = client.socket.bytesWritten - client.socket.writableLength;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(before).toBeLessThan(SIZE / 2);
    reading?.resume();
    await waitFor(() => client.text().includes(String(SIZE)));
    client.close();
    await streaming.stop();
    server.closeAllConnections();
    server.close();
  });

  test("of a download wait for a client that does not read, and then arrive whole", async () => {
    let sent = 0;
    const server = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": SIZE });
      const chunk = Buffer.alloc(100_000, "7");
      const push = (): void => {
        while (sent < SIZE) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", push);
        }
        response.end();
      };
      push();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const streaming = await openListeningGateway({
      LEGACY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
    const client = await openRawClient(streaming.url);
    client.socket.pause();
    client.send("GET /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    await waitFor(() => sent > 0);
    let before = -1;
    while (before !== sent) {
      before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(before).toBeLessThan(SIZE / 2);
    client.socket.resume();
    expect((await client.waitForEnd()).length).toBeGreaterThan(SIZE);
    await streaming.stop();
    server.closeAllConnections();
    server.close();
  });
});

test.each(["OPTIONS *", "GET http://[::1", "GET http://other.example:99999/x"])(
  "%s has no path: it is not passed on, and costs no connection to the old service",
  async (line) => {
    await send(gateway);
    const connections = gateway.old.countConnections();
    const client = await openRawClient(gateway.url);
    client.send(`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await client.waitForEnd()).toMatch(/^HTTP\/1\.1 501 /);
    await send(gateway);
    expect(gateway.old.calls.map(({ path }) => path)).toEqual(["/things/1", "/things/1"]);
    expect(gateway.old.countConnections()).toBe(connections);
  },
);
