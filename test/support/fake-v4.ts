/**
 * A v4 that says what a test tells it to, whether that is HTTP or not. Its catalogs are in order all the same,
 * so that a gateway before it becomes ready.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A call as it arrived. */
export interface ReceivedRequest {
  readonly method: string;
  /** With query, as it stood in the request line. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Bytes of the body so far. */
  received(): Buffer;
  /** The body as JSON. */
  json(): unknown;
  /** Resolves when the call is over: was it broken off before it had its response? */
  readonly ended: Promise<"answered" | "broken off">;
}

/** What the service does with a call; run when its body is in. */
export type Responder = (call: ReceivedRequest, response: ServerResponse) => unknown;

export interface FakeV4 {
  readonly url: string;
  /** Calls with credentials, in the order of their arrival. */
  readonly calls: ReceivedRequest[];
  /** Sets what every following call is answered with; several: one after the other, the last one for good. */
  respondWith(...behaviours: readonly [Responder, ...Responder[]]): void;
  /** Runs as soon as the head of a call is in, before the body. */
  onRequestHead(look: ((call: ReceivedRequest, request: IncomingMessage) => void) | undefined): void;
  /** What the catalogs say; `false`: they are down. */
  setCatalogsAvailable(up: boolean): void;
  /** How often it was asked for one. */
  countCatalogRequests(): number;
  /** The path of a catalog that is shown to nobody without a token. */
  requireTokenFor(path: string): void;
  /** How often something came that is no HTTP. */
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

/** Answers JSON. */
export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string | string[]>> = {}): Responder =>
  (_call, response) => {
    const text = JSON.stringify(body);
    const length = String(Buffer.byteLength(text));
    response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
    response.end(text);
  };

/** Answers what it is given: text or bytes under any status and headers. */
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

/** Never answers. */
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
      response.once("close", () => resolve(response.writableFinished ? "answered" : "broken off"));
    }),
  };
}

/** Starts one on a free port, or on the one that it is given. */
export async function startFakeV4(port = 0): Promise<FakeV4> {
  let behaviours: Responder[] = [json(200, {})];
  let look: ((call: ReceivedRequest, request: IncomingMessage) => void) | undefined;
  let catalogsUp = true;
  let hidden = "";
  let catalogCalls = 0;
  let connections = 0;
  let garbage = 0;
  const calls: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();

  const server = createServer((request, response) => {
    // A gateway that goes away is part of the game.
    request.on("error", () => {});
    response.on("error", () => {});
    const path = (request.url ?? "").split("?")[0] ?? "";
    const rows = CATALOGS[path];
    const anonymous = request.headers.authorization === undefined;
    if (rows && (anonymous || path === hidden)) {
      catalogCalls += 1;
      const shown = path === hidden && anonymous ? json(401, {}) : json(200, envelope(rows));
      const reply = catalogsUp ? shown : plain(503, "down");
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
    // A call that is broken off in its body is no garbage.
    if (error.code?.startsWith("HPE_") && error.code !== "HPE_INVALID_EOF_STATE") garbage += 1;
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
    countMalformedRequests: () => garbage,
    countConnections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** v4 as it treats tokens: those that begin with `good` are good. */
export const acceptGoodTokens: Responder = (call, response) =>
  call.headers.authorization?.startsWith("Bearer good")
    ? json(200, envelope([]), { "x-oauth-scopes": "*" })(call, response)
    : json(401, { errors: [{ reason: "Invalid Token" }] })(call, response);
