/** Bodies in chunks of one byte: what they cost is a matter of their bytes, not of their chunks. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { BodyStart } from "../../../src/gateway/record/body-start.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { openRawClient } from "../../support/raw-client.ts";
import { RECORDING, startListeningGateway } from "../../support/gateway.ts";

/** A service that keeps all bytes it gets, and answers each request at its end. */
async function startRecordingService() {
  let received = "";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      if (received.endsWith("0\r\n\r\n")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    server,
    /** How many chunks the body had. */
    chunks: () =>
      received
        .split("\r\n\r\n")
        .slice(1)
        .join("")
        .match(/^[0-9a-f]+\r$/gim)?.length ?? 0,
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
}

let service: Awaited<ReturnType<typeof startRecordingService>>;
beforeEach(async () => {
  service = await startRecordingService();
});
afterEach(() => {
  service.server.close();
});

/** Pieces of a body, and the chunks of one byte in each. */
const [PIECES, CHUNKS] = [20, 500];

test("a body of many chunks reaches the service in few", async () => {
  const gateway = await startListeningGateway({ ...RECORDING, UPSTREAM_URL: service.url() });
  const client = await openRawClient(gateway.url);
  client.send(
    "POST /v4/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer made-up\r\nTransfer-Encoding: chunked\r\n\r\n",
  );
  for (let piece = 0; piece < PIECES; piece += 1) {
    client.send("1\r\na\r\n".repeat(CHUNKS));
    await wait(20);
  }
  client.send("0\r\n\r\n");
  const [response] = await client.waitForResponses(1);
  client.close();
  expect(response?.status).toBe(200);
  expect(service.chunks()).toBeGreaterThan(0);
  expect(service.chunks()).toBeLessThan((PIECES * CHUNKS) / 20);
});

test("the beginning of a body that is kept for its record is one piece of memory, however small its chunks are", async () => {
  const body = new BodyStart({ "content-type": "application/json" }, 256 * 1024);
  const chunks: WeakRef<Buffer>[] = [];
  for (let sent = 0; sent < 50_000; sent += 1) {
    const chunk = Buffer.allocUnsafeSlow(1);
    chunks.push(new WeakRef(chunk));
    body.add(chunk);
  }
  // What a reference was made of is kept until the end of this turn.
  await wait(0);
  collectGarbage();
  expect(chunks.filter((chunk) => chunk.deref()).length).toBeLessThan(1000);
  expect(await body.decode()).toMatchObject({ length: 50_000, lack: undefined });
});
