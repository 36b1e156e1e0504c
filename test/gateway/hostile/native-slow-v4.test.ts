/** A v4 whose responses to its own clients never end: they hold no connection that others need. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { acceptGoodTokens, json, neverRespond, type Responder } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { createRawClients } from "../../support/raw-client.ts";

/** Tokens that v4 has not accepted get 4 of these connections. */
const CONNECTIONS = 8;
const UNKNOWN = CONNECTIONS / 2;
const INTERVAL_MS = 50;

let gateway: ListeningGatewayWithFakeV4;
const timers = new Set<NodeJS.Timeout>();
let aborts = new AbortController();
const clients = createRawClients(() => gateway.url);

beforeEach(async () => {
  aborts = new AbortController();
  gateway = await startListeningGatewayWithFakeV4({
    UPSTREAM_CONNECTIONS: String(CONNECTIONS),
    UPSTREAM_TIMEOUT_MS: "1000",
    TRUST_PROXY: "127.0.0.1",
  });
});
afterEach(() => {
  for (const timer of timers) clearInterval(timer);
  timers.clear();
  aborts.abort();
  clients.closeAll();
});

function repeat(action: () => void): NodeJS.Timeout {
  const timer = setInterval(action, INTERVAL_MS);
  timers.add(timer);
  return timer;
}

/** Sends interim responses until the connection ends. */
const hintForEver: Responder = (_call, { socket }) => {
  const timer = repeat(() => socket?.write("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"));
  socket?.once("close", () => clearInterval(timer));
};

/** Sends one header line after the other until the connection ends, and never the end of the head. */
const sendHeadersForEver: Responder = (_call, { socket }) => {
  socket?.write("HTTP/1.1 200 OK\r\n");
  const timer = repeat(() => socket?.write("X: y\r\n"));
  socket?.once("close", () => clearInterval(timer));
};

/** Sends its head and the first bytes at once, and then a byte now and then until the connection ends. */
const drip: Responder = (_call, response) => {
  response.writeHead(200, { "content-type": "text/event-stream", "x-oauth-scopes": "*" }).write("data: ");
  const timer = repeat(() => response.write("a"));
  response.once("close", () => clearInterval(timer));
};

/** Asks with a token, from an address of its own. */
const ask = (token: string, address: number, path = "/v4/x"): Promise<Response> =>
  fetch(gateway.url + path, {
    headers: { authorization: `Bearer ${token}`, "x-forwarded-for": `192.0.2.${address}` },
    signal: aborts.signal,
  });

const head = (length: number): string =>
  `POST /v4/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Length: ${length}\r\n\r\n`;

describe.each<[string, Responder]>([
  ["interim responses", hintForEver],
  ["header lines", sendHeadersForEver],
])("a v4 that sends %s for ever", (_what, respond) => {
  test("gets UPSTREAM_TIMEOUT_MS for its head: the client gets what it gets from a silent v4", async () => {
    gateway.v4.respondWith(neverRespond);
    const silent = await ask("good", 1);
    gateway.v4.respondWith(respond);
    const response = await ask("good", 1);
    expect([response.status, await response.text()]).toEqual([silent.status, await silent.text()]);
    expect(response.status).toBe(500);
    await expect(gateway.v4.calls.at(-1)?.ended).resolves.toBe("broken off");
  });

  test("gets no more for an upload, from its last byte on", async () => {
    gateway.v4.respondWith(respond);
    const client = await clients.open(`${head(2)}ab`);
    expect((await client.waitForResponses(1))[0]?.status).toBe(500);
  });

  test("gets no more for an upload that makes no progress", async () => {
    gateway.v4.respondWith(respond);
    const client = await clients.open(`${head(2)}a`);
    expect((await client.waitForResponses(1))[0]?.status).toBe(500);
  });

  test("keeps no connection from clients with new tokens", async () => {
    gateway.v4.respondWith((call, response) =>
      (call.path === "/v4/hangs" ? respond : acceptGoodTokens)(call, response),
    );
    const hanging = Array.from({ length: UNKNOWN }, (_, index) => ask(`new-${index}`, index, "/v4/hangs"));
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual(hanging.map(() => 500));
    expect((await ask("good-new", 100)).status).toBe(200);
  });
});

test("an upload that makes progress may take longer than UPSTREAM_TIMEOUT_MS", async () => {
  gateway.v4.respondWith(({ received }, response) => {
    hintForEver({} as never, response);
    const timer = repeat(() => {
      if (received().length < 40) return;
      clearInterval(timer);
      json(200, {})({} as never, response);
    });
  });
  const client = await clients.open(head(40));
  // 40 bytes, and each takes at least this long: two seconds.
  for (let sent = 0; sent < 40; sent += 1) {
    client.send("a");
    await new Promise((resolve) => void setTimeout(resolve, INTERVAL_MS));
  }
  expect((await client.waitForResponses(1)).at(-1)?.status).toBe(200);
});

describe("a response of which v4 sends a byte now and then", () => {
  const isDripping = (path: string): boolean => path === "/v4/drips";
  beforeEach(() =>
    gateway.v4.respondWith((call, response) =>
      (isDripping(call.path) ? drip : acceptGoodTokens)(call, response),
    ),
  );

  test("is ended while a client waits for its connection", async () => {
    const dripping = await Promise.all(
      Array.from({ length: UNKNOWN }, (_, index) => ask(`new-${index}`, index, "/v4/drips")),
    );
    const ends = dripping.map((response) => response.text());
    ends.forEach((end) => void end.catch(() => {}));
    expect((await ask("good-new", 100)).status).toBe(200);
    await expect(Promise.any(ends.map((end) => end.catch(() => "broken off")))).resolves.toBe("broken off");
  });

  test("continues while no client waits, and while clients wait for their own share", async () => {
    await ask("good-greedy", 2);
    const response = await ask("good", 1, "/v4/drips");
    const reader = response.body?.getReader();
    const refused: number[] = [];
    gateway.v4.respondWith(neverRespond);
    // Four of them get a connection. Another three are free.
    const greedy = Array.from({ length: 5 }, async () => {
      const { status } = await ask("good-greedy", 2);
      refused.push(status);
    });
    await Promise.all(greedy);
    expect(refused).toContain(500);
    for (let bytes = 0; bytes < 60;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      expect(done).toBe(false);
      bytes += value?.length ?? 0;
    }
    await reader?.cancel();
  });
});
