/** The connections of a server of its own, whatever a handler does. */
import type { ServerResponse } from "node:http";
import { expect, test } from "@jest/globals";
import { listen } from "../../../src/gateway/http/http-server.ts";
import { openRawClient } from "../../support/raw-client.ts";

/** The response to the last of so many requests in flight ends the connection. */
const MOST_IN_FLIGHT = 8;

test("a request behind the last response of a connection ends it at once, even if a handler promised to keep it", async () => {
  const waiting: ServerResponse[] = [];
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    badRequest: () => ({ type: "application/json", text: "{}" }),
    handler(_request, response) {
      waiting.push(response);
      if (waiting.length < MOST_IN_FLIGHT) return;
      for (const each of waiting.splice(0))
        each.writeHead(200, { connection: "keep-alive", "content-length": "2" }).end("ok");
    },
  });
  const client = await openRawClient(server.url);
  const ask = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(ask.repeat(MOST_IN_FLIGHT));
  await client.waitForResponses(MOST_IN_FLIGHT);
  client.send(ask);

  expect((await client.waitForEnd()).match(/HTTP\/1.1 200/g)).toHaveLength(MOST_IN_FLIGHT);
  client.close();
  await server.drain(0);
});

test("a response that ends early after an earlier one of its connection closes the connection after that one", async () => {
  let first: ServerResponse | undefined;
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    badRequest: () => ({ type: "application/json", text: "{}" }),
    handler(_request, response) {
      if (!first) {
        first = response;
        return;
      }
      response.setHeader("content-length", "1000");
      response.write("part");
      response.destroy();
      response.on("close", () => first?.end("ok"));
    },
  });
  const client = await openRawClient(server.url);
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2));

  expect(await client.waitForEnd()).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\nok/);
  client.close();
  await server.drain(0);
});

test("one address that holds nearly all connections loses idle ones, and others are served", async () => {
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    maxConnections: 20,
    badRequest: () => ({ type: "application/json", text: "{}" }),
    handler: (_request, response) => void response.end("ok"),
  });
  const ask = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const clients = [];
  for (let count = 0; count < 40; count += 1) {
    const client = await openRawClient(server.url);
    client.send(ask);
    await client.waitForResponses(1);
    clients.push(client);
  }
  expect(server.connections()).toBeLessThan(20);
  for (const client of clients) client.close();
  await server.drain(0);
});
