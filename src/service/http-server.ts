import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A listening server. */
export interface HttpServer {
  /** `http://127.0.0.1:8080`, with the port that was really taken. */
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets requests in flight end, and breaks off what is left after the grace time. */
  drain(graceMs: number): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: RequestListener;
  /** The JSON body of an answer to something that is not HTTP. */
  readonly badRequest: () => string;
}

/** A head that takes longer is a slowloris; a body may be an upload over a slow line. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** How often it is looked who is late. */
const TIMEOUT_CHECK_MS = 5000;

/** Longer than the idle time of usual load balancers, so that it is they who close. */
const KEEP_ALIVE_MS = 65_000;

const MOST_CONNECTIONS = 10_000;

/** An exchange that has begun on a connection and is not over. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Keeps count of what is under way on each connection. */
function watchExchanges(server: Server): (socket: Socket) => readonly Exchange[] {
  const underWay = new WeakMap<Socket, Exchange[]>();
  server.prependListener("request", (request, response) => {
    const all = underWay.get(request.socket) ?? [];
    underWay.set(request.socket, all);
    const exchange = { request, response };
    all.push(exchange);
    response.once("close", () => void all.splice(all.indexOf(exchange), 1));
  });
  return (socket) => underWay.get(socket) ?? [];
}

/**
 * What the parser refuses is answered in JSON too, and the connection ends: what follows can't be trusted.
 * While the answer of a whole request is awaited on the connection, it is broken off without a word: the
 * client would take the refusal for that answer, or for a part of it.
 */
function answerGarbage(server: Server, badRequest: () => string): void {
  const underWay = watchExchanges(server);
  server.on("clientError", (_error: Error, socket: Socket) => {
    const [first, ...others] = underWay(socket);
    const anothers = first && (first.request.complete || first.response.headersSent || others.length > 0);
    if (!socket.writable || anothers) {
      socket.destroy();
      return;
    }
    const body = badRequest();
    const head = `HTTP/1.1 400 ${STATUS_CODES[400]}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
}

/**
 * What the parser lets pass and no server should read. HTTP/0.9, which it takes a request line with a bare line feed
 * for. Without a `Host`: Node would answer by itself, with no body. Chunks in HTTP/1.0: a proxy that doesn't know
 * them there has taken them for the next request (RFC 9112 6.1).
 */
function isUnsound({ httpVersion, headers }: IncomingMessage): boolean {
  if (httpVersion === "1.1") return headers.host === undefined;
  return httpVersion !== "1.0" || headers["transfer-encoding"] !== undefined;
}

/** Refuses it, and what stands behind it on the connection, which the parser may have read already. */
function refuseUnsound(handler: RequestListener, badRequest: () => string): RequestListener {
  const refused = new WeakSet<Socket>();
  return (request, response) => {
    if (refused.has(request.socket)) return;
    if (!isUnsound(request)) {
      handler(request, response);
      return;
    }
    refused.add(request.socket);
    const body = badRequest();
    const length = String(Buffer.byteLength(body));
    const headers = { "content-type": "application/json", "content-length": length, connection: "close" };
    response.writeHead(400, headers).end(body);
  };
}

async function drain(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A kept-alive connection becomes idle when its answer is out; nothing else would end it then.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

/** `http://127.0.0.1:8080` */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Begins to listen. @throws {Error} where the port is taken or the address is not this machine's. */
export async function listen({ host, port, handler, badRequest }: HttpServerOptions): Promise<HttpServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false,
    },
    refuseUnsound(handler, badRequest),
  );
  // Node would answer 417 to an expectation that it does not know; alpha has no such status.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.maxConnections = MOST_CONNECTIONS;
  answerGarbage(server, badRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const taken = (server.address() as AddressInfo).port;
  return { url: httpUrl(host, taken), port: taken, drain: (graceMs) => drain(server, graceMs) };
}
