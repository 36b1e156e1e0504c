/** Heads above the limit of 16 kB, and messages that the server rejects itself: what clients get, and where they count. */
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { envelope, json } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { createRawClients } from "../../support/raw-client.ts";

const ORIGIN = "https://app.example";
const UUID = /^[\da-f]{8}-[\da-f-]{27}$/;

let gateway: ListeningGatewayWithFakeV4;
beforeAll(async () => {
  gateway = await startListeningGatewayWithFakeV4({ ...RECORDING, CORS_ORIGINS: ORIGIN });
  gateway.v4.respondWith(json(200, envelope([])));
});
const clients = createRawClients(() => gateway.url);
afterEach(() => clients.closeAll());

const HEAD = (scheme: string): string =>
  `Host: gateway\r\nAuthorization: ${scheme} t\r\nOrigin: ${ORIGIN}\r\nX-Request-Id: mine\r\n`;

/** The beginnings of requests whose head is longer than `length`. */
const LONG: [string, (length: number, scheme: string) => string][] = [
  [
    "a header",
    (length, scheme) =>
      `GET /v4/vm/instances HTTP/1.1\r\n${HEAD(scheme)}X-Long: ${"a".repeat(length)}\r\n\r\n`,
  ],
  [
    "a name",
    (length, scheme) => `GET /v4/vm/instances HTTP/1.1\r\n${HEAD(scheme)}${"a".repeat(length)}: a\r\n\r\n`,
  ],
  [
    "a target",
    (length, scheme) => `GET /v4/vm/instances?a=${"a".repeat(length)} HTTP/1.1\r\n${HEAD(scheme)}\r\n`,
  ],
  [
    "many headers",
    (length, scheme) =>
      `GET /v4/vm/instances HTTP/1.1\r\n${HEAD(scheme)}${"X: a\r\n".repeat(length / 2)}\r\n`,
  ],
];

async function sendAlone(text: string) {
  const client = await clients.open(text);
  return (await client.waitForResponses(1))[0];
}

const countRejections = async (reason: string, status: number): Promise<number> => {
  const { text } = await gateway.requestAdmin("GET /metrics");
  const line = `alpha_gateway_refusals_total{reason="${reason}",status="${status}"} `;
  const at = text.indexOf(line);
  return at < 0 ? 0 : Number.parseInt(text.slice(at + line.length), 10);
};

describe.each([
  ["alpha", "token", 400],
  ["native", "Bearer", 431],
])("in the %s dialect", (lane, scheme, status) => {
  test.each(LONG)("%s above 16 kB is rejected with the reason, and recorded", async (_name, textOf) => {
    const before = await countRejections("head_size", status);
    const calls = gateway.v4.calls.length;
    const response = await sendAlone(textOf(20_000, scheme));
    expect(response).toMatchObject({
      status,
      body: '{"errors":[{"reason":"The headers and the path of the request are too long."}]}',
      headers: { "x-request-id": "mine", "access-control-allow-origin": ORIGIN },
    });
    expect(await gateway.readLastRecord()).toMatchObject({
      lane,
      requestId: "mine",
      rejectedBy: "head_size",
      alpha: { status },
      v4: [],
    });
    expect(gateway.v4.calls).toHaveLength(calls);
    expect(await countRejections("head_size", status)).toBe(before + 1);
  });

  test("a head of nearly 16 kB is served", async () => {
    expect(await sendAlone(LONG[0]![1](16_000, scheme))).toMatchObject({ status: 200 });
  });

  test.each(LONG)("%s above 64 kB ends the connection with 431, and counts", async (_name, textOf) => {
    const before = await countRejections("head_size", 431);
    const client = await clients.open(textOf(70_000, scheme));
    await client.waitForEnd();
    const [response] = await client.waitForResponses(1);
    expect(response).toMatchObject({
      status: 431,
      headers: { connection: "close", "x-request-id": expect.stringMatching(UUID) },
    });
    expect(JSON.parse(response?.body ?? "")).toEqual({
      errors: [{ reason: "The head of the request is too large." }],
    });
    expect(await countRejections("head_size", 431)).toBe(before + 1);
  });
});

describe("invalid messages", () => {
  test.each([
    ["malformed", "garbage\r\n\r\n"],
    ["malformed", "GET /v4/vm/instances HTTP/1.1\r\n\r\n"],
    ["connect", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n"],
    ["connect", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: a-token-of-somebody\r\n\r\n"],
    ["malformed", "GET /v4/x HTTP/1.1\r\nHost: a\r\nHost: b\r\nX-Request-Id: a-token-of-somebody\r\n\r\n"],
  ])("count as %s and end the connection: %j", async (fault, text) => {
    const before = await countRejections(fault, 400);
    const client = await clients.open(text);
    await client.waitForEnd();
    const [response] = await client.waitForResponses(1);
    expect(response).toMatchObject({ status: 400, headers: { "x-request-id": expect.stringMatching(UUID) } });
    expect(JSON.parse(response?.body ?? "").errors).toHaveLength(1);
    expect(await countRejections(fault, 400)).toBe(before + 1);
  });

  test("a request that its client breaks off is not counted", async () => {
    const before = await countRejections("malformed", 400);
    const client = await clients.open("GET /v4/vm/instances HTTP/1.1\r\nHo");
    client.socket.end();
    await client.waitForEnd();
    expect(await countRejections("malformed", 400)).toBe(before);
  });
});

test("invalid messages use up the limit of their address", async () => {
  const limited = await startListeningGatewayWithFakeV4({ RATE_LIMIT: "3/100" });
  const ask = async (): Promise<number> => {
    const response = await fetch(`${limited.url}/v4/things`, {
      headers: { authorization: "Bearer made-up" },
    });
    await response.text();
    return response.status;
  };
  limited.v4.respondWith(json(404, {}));
  const others = createRawClients(() => limited.url);
  for (const text of ["garbage\r\n\r\n", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"])
    await (await others.open(text)).waitForEnd();
  others.closeAll();
  expect(await ask()).toBe(429);
  expect(limited.v4.calls).toEqual([]);
});
