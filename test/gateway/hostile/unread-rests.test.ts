/** Clients that go on sending a body, slowly, after they have their response: their connections end soon. */
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { FakeV4 } from "../../support/fake-v4.ts";
import {
  startListeningGatewayWithFakeV4,
  waitFor,
  type ListeningGatewayWithFakeV4,
} from "../../support/gateway-with-fake-v4.ts";
import { startObservingGateway, type ObservingGateway } from "../../support/observing-gateway.ts";
import { openRawClient, type RawClient } from "../../support/raw-client.ts";

/** Longer than the rest of a body is received, and much shorter than a request may take. */
const SOON_MS = 4000;

let gateway: ListeningGatewayWithFakeV4;
let observing: ObservingGateway;
const timers: NodeJS.Timeout[] = [];
const clients: RawClient[] = [];

beforeEach(async () => {
  gateway = await startListeningGatewayWithFakeV4({ UPSTREAM_TIMEOUT_MS: "60000" });
  observing = await startObservingGateway({ UPSTREAM_TIMEOUT_MS: "60000" });
});
afterEach(() => {
  for (const timer of timers.splice(0)) clearInterval(timer);
  for (const client of clients.splice(0)) client.close();
});

/** Answers before the body has come. */
function answerEarly(service: FakeV4): { isConnectionClosed: boolean } {
  const state = { isConnectionClosed: false };
  service.onRequestHead(({ method }, { socket }) => {
    if (method !== "POST") return;
    socket.on("close", () => (state.isConnectionClosed = true));
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  });
  return state;
}

/** Sends the head of a request, and then a byte of its body now and then. @returns its response, and how its connection ends */
async function trickle(url: string, headers: readonly string[]): Promise<string> {
  const client = await openRawClient(url);
  clients.push(client);
  client.socket.on("error", () => {});
  client.send(`POST /v4/x HTTP/1.1\r\nHost: a\r\n${headers.join("\r\n")}\r\n\r\n`);
  const part = headers.includes("Transfer-Encoding: chunked") ? "1\r\na\r\n" : "a";
  timers.push(setInterval(() => client.send(part), 50));
  const [response] = await client.waitForResponses(1);
  const end = client.waitForEnd().then(() => "ended");
  return `${response?.status} ${await Promise.race([end, wait(SOON_MS, "is open", { ref: false })])}`;
}

const FRAMINGS = ["Content-Length: 1000000", "Content-Length: 10000", "Transfer-Encoding: chunked"];
const CASES = ["keep-alive", "close"].flatMap((connection) =>
  FRAMINGS.map((framing) => [`Connection: ${connection}`, framing]),
);

test.each(CASES)(
  "with %s and %s",
  async (connection, framing) => {
    const v4 = answerEarly(gateway.v4);
    const old = answerEarly(observing.old);
    const send = (url: string, ...headers: string[]) =>
      trickle(url, [...headers, connection ?? "", framing ?? ""]);
    const [ofTranslation, ofNativeProxy, ofV4, ofOldService] = await Promise.all([
      send(gateway.url, "Authorization: token t"),
      send(gateway.url, "Authorization: Bearer t", "X-HTTP-Method-Override: PUT"),
      send(gateway.url, "Authorization: Bearer t"),
      send(observing.url, "Authorization: token t"),
    ]);
    expect({ ofTranslation, ofNativeProxy, ofV4, ofOldService }).toEqual({
      ofTranslation: "404 ended",
      ofNativeProxy: "400 ended",
      ofV4: "200 ended",
      ofOldService: "200 ended",
    });
    // Connections of the gateway are for others.
    await waitFor(() => v4.isConnectionClosed && old.isConnectionClosed);
  },
  30_000,
);
