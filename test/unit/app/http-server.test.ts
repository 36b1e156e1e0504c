/** The connections of a server of its own, whatever a handler does. */
import { expect, test } from "@jest/globals";
import { listen } from "../../../src/app/http-server.ts";
import { openRawClient } from "../../support/raw-client.ts";

test("a request behind the last response of a connection ends it at once, even if a handler promised to keep it", async () => {
  const server = await listen({
    host: "127.0.0.1",
    port: 0,
    requestsPerConnection: 1,
    badRequest: () => "{}",
    handler: (_request, response) =>
      response.writeHead(200, { connection: "keep-alive", "content-length": "2" }).end("ok"),
  });
  const client = await openRawClient(server.url);
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.waitForResponses(1);
  client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");

  expect((await client.waitForEnd()).match(/HTTP\/1.1 200/g)).toHaveLength(1);
  client.close();
  await server.drain(0);
});
