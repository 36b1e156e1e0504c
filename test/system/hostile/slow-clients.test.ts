/** Clients that are slow on purpose time out, and block no others. */
import { afterEach, expect, test } from "@jest/globals";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import { listen } from "../../../src/gateway/http/http-server.ts";
import { createRawClients, openRawClient } from "../../support/raw-client.ts";
import { startObservingGateway } from "../../support/observing-gateway.ts";
import { startForTests } from "../../support/start-for-tests.ts";

const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({ AUDIT: "off", UPSTREAM_TIMEOUT_MS: "60000" }),
);

const clients = createRawClients(() => gateway.url);
afterEach(() => clients.closeAll());

const post = (scheme: string): string =>
  `POST /v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: ${scheme} slow\r\nContent-Length: 1000\r\n\r\n{`;

test.each([
  ["in mid-head", "GET /v4/vm/instances HTTP/1.1\r\nHost: a\r\nX-Slow: "],
  ["in mid-body of the alpha pipeline", post("token")],
  ["in mid-body of the native proxy", post("Bearer")],
  [
    "in the middle of a file",
    "POST /v4/support/tickets/7/attachments HTTP/1.1\r\nHost: a\r\nAuthorization: token slow\r\n" +
      "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n-",
  ],
])("200 clients that stop %s block nobody", async (_where, bytes) => {
  gateway.v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  await Promise.all(Array.from({ length: 200 }, () => clients.open(bytes)));
  // A byte now and then, as a slowloris does.
  for (const client of clients) client.send("a");
  expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
  expect([...clients].filter((client) => client.text() !== "")).toEqual([]);
});

test("200 clients that request much and read nothing block no other client", async () => {
  const rows = Array.from({ length: 25 }, (_, id) => ({ id, label: `web-${id}`, group: "g".repeat(2000) }));
  gateway.v4.respondWith(json(200, envelope(rows)));
  const ask = "GET /v4/vm/instances HTTP/1.1\r\nHost: a\r\nAuthorization: token slow\r\n\r\n";
  await Promise.all(
    Array.from({ length: 200 }, async () => {
      const client = await clients.open("");
      client.socket.pause();
      client.send(ask);
    }),
  );
  await waitFor(() => gateway.v4.calls.length >= 200);
  expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
});

test("1000 clients that send half of a large body get little memory, and block no other client", async () => {
  gateway.v4.respondWith(json(200, envelope([{ id: 7, label: "web-one" }])));
  // A token of its own: v4 has accepted the other one by now, so that it has more room.
  const half = post("token").replace("slow", "made-up").replace("1000", "200000") + " ".repeat(100_000);
  await Promise.all(Array.from({ length: 1000 }, () => clients.open(half)));
  await waitFor(() => [...clients].filter((client) => client.text() !== "").length > 900);
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const bytes = Number(/^alpha_gateway_body_bytes (\d+)$/m.exec(metrics)?.[1]);
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(2 * 1_048_576);
  expect(await gateway.request("GET /vm/instances")).toMatchObject({ status: 200 });
}, 60_000);

test("a head that never ends gets 400, and the connection ends", async () => {
  const client = await clients.open("GET /v4/vm/instances HTTP/1.1\r\nHost: a\r\nX-Slow: ");
  expect(await client.waitForEnd()).toMatch(/^HTTP\/1\.1 400 /);
}, 60_000);

test("a client that never reads its response loses its connection", async () => {
  const ended = Promise.withResolvers<void>();
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    idleMs: 500,
    badRequest: () => ({ type: "application/json", text: "" }),
    handler(_request, response) {
      response.end(Buffer.alloc(50_000_000)).once("close", ended.resolve);
    },
  });
  const client = await openRawClient(server.url);
  try {
    client.socket.pause();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await expect(ended.promise).resolves.toBeUndefined();
  } finally {
    client.close();
    await server.drain(0);
  }
});

test("200 hanging reads with one token leave connections to other tokens, and the gateway ready", async () => {
  const small = await startListeningGatewayWithFakeV4({
    AUDIT: "off",
    UPSTREAM_TIMEOUT_MS: "4000",
    UPSTREAM_CONNECTIONS: "8",
  });
  try {
    small.v4.respondWith(({ path }, response) => {
      if (!path.includes("/instances/7")) json(200, envelope([]))({} as never, response);
    });
    const list = (as: string) => small.request("GET /vm/instances", { as });
    expect((await list("greedy")).status).toBe(200);
    const hanging = Array.from({ length: 200 }, () => small.request("GET /vm/instances/7", { as: "greedy" }));
    await waitFor(() => small.v4.calls.filter(({ path }) => path.includes("/instances/7")).length === 4);
    expect((await list("another")).status).toBe(200);
    expect((await fetch(`${small.adminUrl}/readyz`)).status).toBe(200);
    const responses = await Promise.all(hanging);
    const rejections = responses.filter(({ status }) => status === 420);
    expect(rejections.length).toBeGreaterThan(100);
    expect(rejections[0]?.body.errors[0].reason).toMatch(/^Too many requests at the same time/);
  } finally {
    await small.stop();
  }
}, 60_000);

test.each([4, 400])(
  "%i uploads to the old service that trickle from as many networks keep nobody waiting for long",
  async (networks) => {
    const observing = await startObservingGateway({
      AUDIT: "off",
      UPSTREAM_TIMEOUT_MS: "1000",
      UPSTREAM_CONNECTIONS: "8",
      TRUST_PROXY: "127.0.0.1",
    });
    const uploads = createRawClients(() => observing.url);
    let timer: NodeJS.Timeout | undefined;
    const ask = async (token: string): Promise<number> =>
      (await fetch(`${observing.url}/a`, { headers: { authorization: `token ${token}` } })).status;
    try {
      expect(await ask("customer")).toBe(200);
      let begun = 0;
      observing.old.onRequestHead(({ method }) => void (begun += Number(method === "POST")));
      for (let index = 0; index < networks; index += 1) {
        const address = `10.0.${index >> 8}.${index & 255}`;
        const client = await uploads.open(
          `POST /a HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\nContent-Length: 1000000\r\n\r\n`,
        );
        client.socket.on("error", () => {});
      }
      // More than the least rate.
      timer = setInterval(() => [...uploads].forEach((client) => client.send("a".repeat(70))), 100);
      await waitFor(() => begun >= 4);
      for (let times = 0; times < 20; times += 1) expect(await ask("customer")).toBe(200);
      expect((await fetch(`${observing.adminUrl}/readyz`)).status).toBe(200);
    } finally {
      clearInterval(timer);
      uploads.closeAll();
      await observing.stop();
    }
  },
  60_000,
);
