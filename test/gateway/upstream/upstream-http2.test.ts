/** A v4 that also speaks HTTP/2: it is called over HTTP/1.1, where the end of a response is never in doubt. */
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { createAuthority, readCertificate } from "../../support/certificates.ts";
import { openListeningGateway, type Listening, type TestGateway } from "../../support/gateway.ts";
import { openRawClient } from "../../support/raw-client.ts";

const folder = temporaryFolder();
let respond: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
const versions = new Set<string>();
let server: ReturnType<typeof createSecureServer>;
let gateway: TestGateway & Listening;

beforeAll(async () => {
  const authority = createAuthority(folder, "authority");
  server = createSecureServer({ ...readCertificate(authority.sign("v4")), allowHTTP1: true });
  server.on("request", (request, response) => {
    request.on("error", () => {});
    versions.add(request.httpVersion);
    if (request.headers.authorization !== undefined) return respond(request, response);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data: [], page: 1, pages: 1, results: 0 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = await openListeningGateway({ UPSTREAM_URL: url, AUTH_URL: url, UPSTREAM_CA: authority.cert });
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

const GET = "GET /v4/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer good\r\n\r\n";

test("both kinds of client call it over HTTP/1.1", async () => {
  respond = (_request, response) => void response.end("{}");
  await gateway.request("GET /vm/instances", { as: null, headers: { authorization: "token good" } });
  await gateway.request("GET /vm/instances", { as: null, headers: { authorization: "Bearer good" } });
  expect([...versions]).toEqual(["1.1"]);
});

test("a response that it cancels does not look complete", async () => {
  respond = ({ stream, socket }, response) => {
    response.write("part", () => {
      // Error code 8 of HTTP/2: CANCEL.
      if (stream) stream.close(8);
      else socket.destroy();
    });
  };
  const client = await openRawClient(gateway.url);
  client.send(GET);
  expect(await client.waitForEnd()).toMatch(/\r\n\r\n4\r\npart\r\n$/);
});
