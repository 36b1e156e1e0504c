import { afterEach, expect, test } from "@jest/globals";
import { createServer as createTlsServer } from "node:https";
import { createSecureContext } from "node:tls";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { MAX_COMPARED_BYTES } from "../../../src/compare/answers/compare-answers.ts";
import { OldService } from "../../../src/compare/live/ask-old-service.ts";
import { createAuthority, readCertificate } from "../../support/certificates.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { askedRequest, sides } from "./asked-request.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const TIMEOUT_MS = 800;

/** An old service, as comparisons ask it, and the requests that it got. */
async function startOldService(
  respond: RequestListener,
  basePath = "",
): Promise<{ service: OldService; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(request);
    return respond(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const service = new OldService(
    { url: new URL(`http://127.0.0.1:${port}${basePath}`) },
    { sides, tokenParameter: "token", timeoutMs: TIMEOUT_MS },
  );
  open.push(
    () => service.close(),
    () => (server.closeAllConnections(), server.close()),
  );
  return { service, requests };
}

test("the old service gets what the client has sent, without what belongs to the client's connection", async () => {
  const { service, requests } = await startOldService((_request, response) => response.end("{}"), "/api/");
  const headers = {
    authorization: ["token t1"],
    "x-filter": ['{"a":1}'],
    connection: ["keep-alive, x-hop, Authorization, x-forwarded-proto"],
    "x-forwarded-proto": ["https"],
    "x-hop": ["1"],
    host: ["gateway.example"],
    "transfer-encoding": ["chunked"],
    "if-none-match": ['"v1"'],
    range: ["bytes=0-1"],
    "x-http-method-override": ["DELETE"],
    x_http_method: ["DELETE"],
    "accept-encoding": ["gzip"],
  };
  await service.ask(askedRequest({ headers, query: "page=2" }));
  const [{ url, method, headers: got } = {} as IncomingMessage] = requests;
  expect({ url, method }).toEqual({ url: "/api/things?page=2", method: "GET" });
  expect(got).toMatchObject({
    authorization: "token t1",
    "x-forwarded-proto": "https",
    "x-filter": '{"a":1}',
    "x-request-id": "r1",
    "accept-encoding": "identity",
  });
  const left = ["x-hop", "transfer-encoding", "if-none-match", "range"];
  for (const name of [...left, "x-http-method-override", "x_http_method"])
    expect(got).not.toHaveProperty(name);
  expect(got["host"]).toMatch(/^127\.0\.0\.1:/);
});

test("a body goes without the content coding in which the client had sent it", async () => {
  const received: string[] = [];
  const { service, requests } = await startOldService((request, response) => {
    request.on("data", (chunk: Buffer) => received.push(chunk.toString()));
    request.on("end", () => response.end("{}"));
  });
  const headers = { "content-encoding": ["gzip"], "content-type": ["application/json"] };
  await service.ask(askedRequest({ method: "POST", headers }, Buffer.from('{"a":1}')));
  expect(received).toEqual(['{"a":1}']);
  expect(requests[0]?.headers).toMatchObject({ "content-type": "application/json", "content-length": "7" });
  expect(requests[0]?.headers).not.toHaveProperty("content-encoding");
});

test("a token of the query goes where the client had it", async () => {
  const { service, requests } = await startOldService((_request, response) => response.end("{}"));
  await service.ask(askedRequest({ query: "page=2", queryTokens: ["a b"] }));
  expect(requests[0]?.url).toBe("/things?page=2&token=a%20b");
});

test("bytes that are not UTF-8 stay as they are, in the body and in the answer", async () => {
  const latin1 = Buffer.from('{"name":"caf\u00e9"}', "latin1");
  let sent = Buffer.alloc(0);
  const { service } = await startOldService((request, response) => {
    request.on("data", (chunk: Buffer) => (sent = Buffer.concat([sent, chunk])));
    request.on("end", () => response.end(latin1));
  });
  const request = askedRequest({ method: "POST" });
  expect(await service.ask({ ...request, body: latin1 })).toMatchObject({ body: latin1 });
  expect(sent).toEqual(latin1);
});

test("closing does not wait for an answer", async () => {
  const { service, requests } = await startOldService(() => {});
  const asked = service.ask(askedRequest({}));
  while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const startedAt = performance.now();
  await service.close();
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS / 2);
  expect(await asked).toBe("unreachable");
});

test("an answer is decoded", async () => {
  const { service } = await startOldService((_request, response) =>
    response.writeHead(201, { "content-encoding": "gzip" }).end(gzipSync('{"a":1}')),
  );
  const answer = await service.ask(askedRequest());
  expect(answer).toMatchObject({ status: 201 });
  expect(typeof answer === "string" ? answer : answer.body.toString()).toBe('{"a":1}');
});

const LONG = Buffer.alloc(MAX_COMPARED_BYTES + 1, " ");

test.each<[what: string, reason: string, respond: RequestListener]>([
  ["hangs", "timeout", () => {}],
  ["hangs in the middle of its body", "timeout", (_request, response) => void response.write("{")],
  ["resets the connection", "unreachable", (request) => void request.socket.resetAndDestroy()],
  [
    "breaks off",
    "unreachable",
    (request, response) => {
      response.writeHead(200, { "content-length": 100 }).write("{");
      setTimeout(() => request.socket.destroy(), 20);
    },
  ],
  ["speaks no HTTP", "unreachable", (request) => void request.socket.end("garbage\r\n\r\n")],
  ["sends more than is compared", "size", (_request, response) => void response.end(LONG)],
  [
    "announces more than is compared, of which nothing need be read",
    "size",
    (_request, response) => response.writeHead(200, { "content-length": LONG.length }).flushHeaders(),
  ],
  [
    "sends a small body that becomes a large one",
    "unreadable",
    (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(LONG)),
  ],
  [
    "sends a body in another coding than it says",
    "unreadable",
    (_request, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end("{}"),
  ],
])("an old service that %s is not comparable: %s", async (_what, reason, respond) => {
  const { service, requests } = await startOldService(respond);
  expect(await service.ask(askedRequest())).toBe(reason);
  expect(requests).toHaveLength(1);
});

test("the old service sees the address of the client, not one that it claims", async () => {
  const { service, requests } = await startOldService((_request, response) => response.end("{}"));
  const headers = { "x-forwarded-for": ["10.0.0.1"], host: ["api.example.com"] };
  expect(await service.ask(askedRequest({ headers }))).toMatchObject({ status: 200 });
  expect(requests[0]?.headers).toMatchObject({
    "x-forwarded-for": "192.0.2.7",
    "x-forwarded-host": "api.example.com",
  });
});

test("an old service with a certificate of a private authority is asked with UPSTREAM_CA", async () => {
  const authority = createAuthority(temporaryFolder(), "authority");
  const server = createTlsServer(readCertificate(authority.sign("old")), (_request, response) =>
    response.end("{}"),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const context = createSecureContext({ ca: readCertificate(authority).cert });
  const trusting = new OldService({ url, secureContext: () => context }, { sides });
  const other = new OldService({ url }, { sides });
  open.push(
    () => trusting.close(),
    () => other.close(),
    () => (server.closeAllConnections(), server.close()),
  );
  expect(await trusting.ask(askedRequest())).toMatchObject({ status: 200 });
  expect(await other.ask(askedRequest())).toBe("unreachable");
});

test("an old service that is not there is not comparable", async () => {
  const service = new OldService({ url: new URL("http://127.0.0.1:1") }, { sides });
  open.push(() => service.close());
  expect(await service.ask(askedRequest())).toBe("unreachable");
});

test("a redirect is an answer, and is not followed", async () => {
  const { service, requests } = await startOldService((_request, response) =>
    response.writeHead(302, { location: "/elsewhere" }).end(),
  );
  expect(await service.ask(askedRequest())).toMatchObject({ status: 302 });
  expect(requests).toHaveLength(1);
});
