/** A body that is looked at is whole for whoever reads it next. */
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { hasBody } from "../../../src/gateway/bodies/receive-body.ts";
import { peekBody } from "../../../src/gateway/bodies/peek-body.ts";

const MOST = 100;

let server: Server;
let port: number;
let peeked: (string | undefined)[];
let closed: Promise<void>;

beforeEach(async () => {
  peeked = [];
  const ended = Promise.withResolvers<void>();
  closed = ended.promise;
  server = createServer((incoming, response) => {
    void (async () => {
      peeked.push((await peekBody(incoming, MOST))?.toString());
      if (response.destroyed) return ended.resolve();
      response.end(hasBody(incoming) ? await buffer(incoming) : "");
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a body in pieces, and returns what the reader behind got of it. */
async function send(
  pieces: readonly string[],
  headers: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const outgoing = request({ port, method: "POST", headers });
  const responded = once(outgoing, "response") as Promise<[NodeJS.ReadableStream]>;
  for (const piece of pieces) {
    outgoing.write(piece);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  outgoing.end();
  const [incoming] = await responded;
  return (await buffer(incoming)).toString();
}

test.each([
  ["with its length, at once", ["client=a"], { "content-length": 8 }],
  ["with its length, in pieces", ["client", "=", "a"], { "content-length": 8 }],
  ["in chunks", ["client", "=", "a"], { "transfer-encoding": "chunked" }],
] as const)("a body %s", async (_how, pieces, headers) => {
  expect(await send(pieces, headers)).toBe("client=a");
  expect(peeked).toEqual(["client=a"]);
});

test.each([
  ["that says so", { "content-length": 3 * 60 }],
  ["that does not say so", { "transfer-encoding": "chunked" }],
] as const)("a longer body %s is not looked at, and whole", async (_how, headers) => {
  const piece = "x".repeat(60);
  expect(await send([piece, piece, piece], headers)).toBe(piece.repeat(3));
  expect(peeked).toEqual([undefined]);
});

test("an empty body is known to be empty", async () => {
  expect(await send([], { "transfer-encoding": "chunked" })).toBe("");
  expect(await send([], { "content-length": 0 })).toBe("");
});

test("a client that goes away leaves nothing waiting", async () => {
  const outgoing = request({ port, method: "POST", headers: { "content-length": 50 } });
  outgoing.on("error", () => {});
  outgoing.write("client");
  await once(server, "request");
  outgoing.destroy();
  await closed;
  expect(peeked).toEqual([undefined]);
});
