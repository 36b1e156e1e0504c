/** Clients that send most of large bodies and then nothing: what they keep of the memory for bodies from others. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { RECORDING } from "../../support/gateway.ts";
import { acceptGoodTokens } from "../../support/fake-v4.ts";
import { startListeningGatewayWithFakeV4, waitFor } from "../../support/gateway-with-fake-v4.ts";
import { createRawClients } from "../../support/raw-client.ts";
import { request } from "../../support/request.ts";
import { startForTests } from "../../support/start-for-tests.ts";

/** Above the size of bodies that count as small. */
const LIMIT = 100_000;
const PATH = "/v4/vm/instances/7/shutdown";

const gateway = startForTests(() =>
  startListeningGatewayWithFakeV4({
    ...RECORDING,
    BODY_LIMIT: String(LIMIT),
    RATE_LIMIT: "10000/600",
    TRUST_PROXY: "127.0.0.1",
  }),
);
beforeEach(() => gateway.v4.respondWith(acceptGoodTokens));

const clients = createRawClients(() => gateway.url);
afterEach(async () => {
  clients.closeAll();
  await waitFor(async () => (await bytesKept()) === 0);
});

async function bytesKept(): Promise<number> {
  const { text } = await request(gateway.adminUrl, "GET /metrics");
  return Number(/^alpha_gateway_body_bytes (\d+)$/m.exec(text)?.[1]);
}

/** Begins bodies and sends all but their last byte. */
async function hold(count: number, token: string, address: string): Promise<void> {
  const head =
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
    `Authorization: token ${token}\r\nX-Forwarded-For: ${address}\r\nContent-Length: ${LIMIT}\r\n\r\n`;
  for (let index = 0; index < count; index += 1) {
    const client = await clients.open(head + " ".repeat(LIMIT - 1));
    client.socket.on("error", () => {});
  }
}

const post = async (path: string, address: string, type: string, body: string, token?: string) => {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: {
      "content-type": type,
      "x-forwarded-for": address,
      ...(token !== undefined && { authorization: `token ${token}` }),
    },
    body,
  });
  return { status: response.status, text: await response.text() };
};

const write = (address: string, token: string, bytes: number) =>
  post(PATH, address, "application/json", `{${" ".repeat(bytes - 2)}}`, token);
const signIn = (address: string) =>
  post(
    "/oauth/token",
    address,
    "application/x-www-form-urlencoded",
    "grant_type=authorization_code&code=a&client_id=b&client_secret=c&redirect_uri=https://a.example/",
  );

async function accept(...tokens: readonly string[]): Promise<void> {
  for (const as of tokens) await gateway.request("GET /vm/instances", { as });
}

/** Waits until as many of the largest bodies are in memory. */
async function waitUntilFull(least: number): Promise<void> {
  await waitFor(async () => (await bytesKept()) >= least * LIMIT);
}

describe("of accepted tokens", () => {
  test("two from two networks leave memory for the largest body of another customer", async () => {
    await accept("good-a", "good-b", "good-victim");
    await hold(16, "good-a", "192.0.2.1");
    await hold(16, "good-b", "192.0.2.2");
    await waitUntilFull(28);
    expect((await write("192.0.2.3", "good-victim", LIMIT)).status).toBe(200);
  });

  test("those from one IPv6 line leave memory to others", async () => {
    await accept("good-a", "good-b", "good-victim");
    for (let network = 0; network < 16; network += 1) {
      await hold(1, "good-a", `2001:db8:7:${network}::1`);
      await hold(1, "good-b", `2001:db8:7:${network + 100}::1`);
    }
    await waitUntilFull(28);
    expect((await write("192.0.2.3", "good-victim", LIMIT)).status).toBe(200);
  });

  test("those from many networks, of which nothing comes any more, are ended for the body of another", async () => {
    const tokens = ["a", "b", "c", "d", "e", "f"].map((name) => `good-${name}`);
    await accept(...tokens, "good-victim");
    for (const [index, token] of tokens.entries()) await hold(12, token, `198.51.100.${index}`);
    await waitUntilFull(31);
    // Another customer may be refused in the first second, in which nobody knows yet that nothing comes any more.
    await waitFor(async () => (await write("192.0.2.3", "good-victim", LIMIT)).status === 200);
    expect(await bytesKept()).toBeGreaterThan(20 * LIMIT);
  });
});

describe("of tokens that v4 has not accepted", () => {
  test.each([
    ["one IPv6 line", (index: number) => `2001:db8:8:${index}::1`],
    ["many networks", (index: number) => `203.0.113.${index}`],
  ])("those from %s stop no sign-in and no small write", async (_where, addressOf) => {
    for (let index = 0; index < 8; index += 1) await hold(2, `bad-${index}`, addressOf(index));
    await waitUntilFull(4);
    expect((await signIn("192.0.2.9")).text).not.toContain("busy");
    expect((await write("192.0.2.9", "good-new", 1000)).status).toBe(200);
  });
});

test("a body of which nothing comes for ten seconds is ended, however fast it came before", async () => {
  await accept("good-a");
  await hold(1, "good-a", "192.0.2.1");
  const [client] = clients;
  const response = await client?.waitForEnd();
  expect(response).toMatch(/^HTTP\/1\.1 400 [^]*too slowly/);
}, 30_000);
