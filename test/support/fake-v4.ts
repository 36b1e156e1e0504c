/**
 * A fake v4 whose responses a test sets, valid HTTP or not. It always serves its catalogs, so that a gateway in front
 * of it becomes ready.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { endsWithTest } from "./ends-with-test.ts";

/** A request that the service received. */
export interface ReceivedRequest {
  readonly method: string;
  /** As in the request line, with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Bytes of the body so far. */
  received(): Buffer;
  /** The body as JSON. */
  json(): unknown;
  /** Resolves when the connection closes, after the whole response or before. */
  readonly ended: Promise<"completed" | "broken off">;
}

/** Responds to a request; runs when its body has arrived. */
export type Responder = (call: ReceivedRequest, response: ServerResponse) => unknown;

export interface FakeV4 {
  readonly url: string;
  /** Calls with credentials, in the order of their arrival. */
  readonly calls: ReceivedRequest[];
  /** Sets the response to all following requests. Of several, each is used once, and the last one for all others. */
  respondWith(...behaviours: readonly [Responder, ...Responder[]]): void;
  /** Sets a function that runs when the head of a request has arrived, before its body. */
  onRequestHead(look: ((call: ReceivedRequest, request: IncomingMessage) => void) | undefined): void;
  /** `false` makes the catalogs respond 503. */
  setCatalogsAvailable(up: boolean): void;
  /** Requests for catalogs so far. */
  countCatalogRequests(): number;
  /** Makes the catalog at a path respond 401 without a token. */
  requireTokenFor(path: string): void;
  /** Requests that were not valid HTTP. */
  countMalformedRequests(): number;
  /** Connections made so far. */
  countConnections(): number;
  close(): Promise<void>;
}

const CATALOGS: Readonly<Record<string, readonly object[]>> = {
  "/v4/regions": [{ id: "us-east", label: "Newark", country: "us" }],
  "/v4/images": [
    {
      id: "vm/debian9",
      label: "Debian 9",
      created: "2017-06-16T20:02:29",
      size: 1100,
      deprecated: false,
      is_public: true,
    },
  ],
  "/v4/vm/kernels": [{ id: "vm/latest-64bit", label: "Latest 64 bit", architecture: "x86_64" }],
  "/v4/vm/types": [{ id: "g6-standard-1", label: "Two GB", memory: 2048, price: { hourly: 0.015 } }],
  "/v4/vm/types-legacy": [],
};

export const envelope = (data: readonly unknown[]) => ({ data, page: 1, pages: 1, results: data.length });

/** Responds with JSON. */
export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string | string[]>> = {}): Responder =>
  (_call, response) => {
    const text = JSON.stringify(body);
    const length = String(Buffer.byteLength(text));
    response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
    response.end(text);
  };

/** Responds with a text or bytes, with any status and headers. */
export const plain =
  (
    status: number,
    body: string | Buffer,
    headers: Readonly<Record<string, string | string[]>> = {},
  ): Responder =>
  (_call, response) => {
    response.writeHead(status, headers).end(body);
  };

/** Writes bytes on the bare connection, then ends it, resets it, or leaves it open. */
export const raw =
  (bytes: string | Buffer, then: "end" | "reset" | "leave" = "end"): Responder =>
  (_call, { socket }) => {
    socket?.write(bytes, () => {
      if (then === "end") socket.end();
      if (then === "reset") socket.resetAndDestroy();
    });
  };

/** Never responds. */
export const neverRespond: Responder = () => {};

function receiveRequest(request: IncomingMessage, response: ServerResponse): ReceivedRequest {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    received: () => Buffer.concat(chunks),
    json: () => JSON.parse(Buffer.concat(chunks).toString("utf8")),
    ended: new Promise((resolve) => {
      response.once("close", () => resolve(response.writableFinished ? "completed" : "broken off"));
    }),
  };
}

/** Starts a fake v4 on a port, by default a free one. It ends with the test. */
export async function startFakeV4(port = 0): Promise<FakeV4> {
  let behaviours: Responder[] = [json(200, {})];
  let look: ((call: ReceivedRequest, request: IncomingMessage) => void) | undefined;
  let catalogsUp = true;
  let hidden = "";
  let catalogCalls = 0;
  let connections = 0;
  let malformed = 0;
  const calls: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();

  const server = createServer((request, response) => {
    // Tests stop gateways that still have connections.
    request.on("error", () => {});
    response.on("error", () => {});
    const path = (request.url ?? "").split("?")[0] ?? "";
    const rows = CATALOGS[path];
    const anonymous = request.headers.authorization === undefined;
    if (rows && (anonymous || path === hidden)) {
      catalogCalls += 1;
      const catalogResponse = path === hidden && anonymous ? json(401, {}) : json(200, envelope(rows));
      const reply = catalogsUp ? catalogResponse : plain(503, "down");
      reply(receiveRequest(request, response), response);
      return;
    }
    const call = receiveRequest(request, response);
    calls.push(call);
    look?.(call, request);
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    request.on("end", () => void behaviour?.(call, response));
  });
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // A request that breaks off within its body is not malformed.
    if (error.code?.startsWith("HPE_") && error.code !== "HPE_INVALID_EOF_STATE") malformed += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    respondWith(...given) {
      behaviours = [...given];
      calls.length = 0;
    },
    onRequestHead(given) {
      look = given;
    },
    setCatalogsAvailable(up) {
      catalogsUp = up;
    },
    countCatalogRequests: () => catalogCalls,
    requireTokenFor(path) {
      hidden = path;
    },
    countMalformedRequests: () => malformed,
    countConnections: () => connections,
    close: endsWithTest(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    }),
  };
}

/** Accepts tokens that begin with `good`, and responds 401 to others. */
export const acceptGoodTokens: Responder = (call, response) =>
  call.headers.authorization?.startsWith("Bearer good")
    ? json(200, envelope([]), { "x-oauth-scopes": "*" })(call, response)
    : json(401, { errors: [{ reason: "Invalid Token" }] })(call, response);
