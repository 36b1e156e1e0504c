/** Clients in v4's own dialect that hold connections: what they take from others. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { acceptGoodTokens } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";

/** A token gets 4 of these connections, and 64 places in the queue. */
const CONNECTIONS = 8;
const ADDRESSES = { greedy: "192.0.2.1", quiet: "192.0.2.2", other: "192.0.2.3" };
type Who = keyof typeof ADDRESSES;

let gateway: ListeningGatewayWithFakeV4;
let uploadsAtV4 = 0;
let hanging = 0;
const clients: RawClient[] = [];
const timers: NodeJS.Timeout[] = [];

beforeEach(async () => {
  [uploadsAtV4, hanging] = [0, 0];
  gateway = await startListeningGatewayWithFakeV4({
    UPSTREAM_CONNECTIONS: String(CONNECTIONS),
    UPSTREAM_TIMEOUT_MS: "2000",
    TRUST_PROXY: "127.0.0.1",
  });
  gateway.v4.onRequestHead(({ method }) => void (uploadsAtV4 += Number(method === "POST")));
  gateway.v4.respondWith((call, response) => {
    if (call.path === "/v4/hangs") hanging += 1;
    else acceptGoodTokens(call, response);
  });
  for (const who of Object.keys(ADDRESSES)) await ask(who as Who, "/v4/x");
});
afterEach(() => {
  for (const timer of timers.splice(0)) clearInterval(timer);
  for (const client of clients.splice(0)) client.close();
});

const headersOf = (who: Who) => ({
  authorization: `Bearer good-${who}`,
  "x-forwarded-for": ADDRESSES[who],
});
const ask = async (who: Who, path: string): Promise<number> =>
  (await fetch(gateway.url + path, { headers: headersOf(who) })).status;

const BODY = 1000;

/** Starts an upload whose bytes come slowly, and waits until v4 has its head. The result sends the rest. */
async function upload(who: Who): Promise<RawClient & { finish(): Promise<number | undefined> }> {
  const client = await openRawClient(gateway.url);
  clients.push(client);
  client.socket.on("error", () => {});
  const lines = Object.entries(headersOf(who)).map(([name, value]) => `${name}: ${value}\r\n`);
  const before = uploadsAtV4;
  client.send(`POST /v4/x HTTP/1.1\r\nHost: a\r\n${lines.join("")}Content-Length: ${BODY}\r\n\r\n`);
  let sent = 0;
  const timer = setInterval(() => {
    client.send("a");
    sent += 1;
  }, 50);
  timers.push(timer);
  await waitFor(() => uploadsAtV4 > before);
  const finish = async (): Promise<number | undefined> => {
    clearInterval(timer);
    client.send("a".repeat(BODY - sent));
    const [response] = await client.waitForResponses(1);
    return response?.status;
  };
  return { ...client, finish };
}

describe("a slow upload", () => {
  test("is not ended for a client that waits for its own share", async () => {
    const slow = await upload("quiet");
    // Four of them get a connection. Another three are free.
    const greedy = Array.from({ length: 5 }, () => ask("greedy", "/v4/hangs"));
    await Promise.race(greedy);
    expect(await slow.finish()).toBe(200);
    await Promise.all(greedy);
  });

  test("is ended for a client that needs its connection, whichever streams began and ended before", async () => {
    const first = await upload("quiet");
    const second = await upload("other");
    const third = await upload("quiet");
    await first.finish();
    const slow = await upload("other");
    await third.finish();
    await second.finish();
    const hangs = [
      ...Array.from({ length: 4 }, () => ask("greedy", "/v4/hangs")),
      ...Array.from({ length: 3 }, () => ask("other", "/v4/hangs")),
    ];
    await waitFor(() => hanging === 7);
    const waiting = ask("quiet", "/v4/x");
    const ended = slow.waitForEnd().then(() => "the slow upload");
    expect(await Promise.race([ended, ...hangs])).toBe("the slow upload");
    expect(await waiting).toBe(200);
    await Promise.all(hangs);
  });
});

test("a connection that becomes free is for a customer without any, whoever waits in front of it", async () => {
  await upload("other");
  const hangs = [
    ...Array.from({ length: 4 }, () => ask("greedy", "/v4/hangs")),
    ...Array.from({ length: 3 }, () => ask("other", "/v4/hangs")),
  ];
  await waitFor(() => hanging === 7);
  const arrived: unknown[] = [];
  gateway.v4.onRequestHead(({ headers }) => void arrived.push(headers["authorization"]));
  const strangers = Array.from({ length: 40 }, (_, index) =>
    fetch(`${gateway.url}/v4/x`, {
      headers: { authorization: `Bearer made-up-${index}`, "x-forwarded-for": `198.51.100.${index}` },
    }),
  );
  const quiet = ask("quiet", "/v4/x");
  // The slow upload is ended, since others wait. One after the other gets its connection.
  expect(await quiet).toBe(200);
  await Promise.all([...hangs, ...strangers]);
  expect(arrived.at(-1)).not.toBe("Bearer good-quiet");
});

test("a client whose calls hang leaves half of the queue to other clients", async () => {
  const refused: number[] = [];
  const greedy = Array.from({ length: 180 }, async () => {
    const status = await ask("greedy", "/v4/hangs");
    refused.push(status);
  });
  await waitFor(() => refused.length > 0);
  const burst = await Promise.all(Array.from({ length: 30 }, () => ask("quiet", "/v4/x")));
  expect(new Set(burst)).toEqual(new Set([200]));
  expect(new Set(refused)).toEqual(new Set([429]));
  gateway.v4.respondWith(acceptGoodTokens);
  await Promise.all(greedy);
});
