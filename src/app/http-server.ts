import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { watchConnections, type Connections } from "./connections.ts";

/** A listening server. */
export interface HttpServer {
  /** `http://127.0.0.1:8080`, with the port that was really taken. */
  readonly url: string;
  readonly port: number;
  /**
   * Lets requests in flight end, and breaks off what is left after the grace time. Every answer is the last of its
   * connection. Where connections are open, they and new ones are good for a moment more.
   */
  drain(graceMs: number): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  /** The settings that host and port come from. */
  readonly settings?: readonly [host: string, port: string];
  readonly handler: RequestListener;
  /** The JSON body of an answer to something that is not HTTP. */
  readonly badRequest: () => string;
  /** Requests after which a client has to connect anew. Default: there is no end. */
  readonly requestsPerConnection?: number;
}

/** A head that takes longer is a slowloris; a body may be an upload over a slow line. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** How often it is looked who is late. */
const TIMEOUT_CHECK_MS = 5000;

/** Longer than the idle time of usual load balancers, so that it is they who close. */
const KEEP_ALIVE_MS = 65_000;

const MOST_CONNECTIONS = 10_000;

/**
 * What the parser refuses is answered in JSON too, and the connection ends: what follows can't be trusted.
 * While the answer of a whole request is awaited on the connection, it is broken off without a word: the
 * client would take the refusal for that answer, or for a part of it.
 */
function answerGarbage(server: Server, connections: Connections, badRequest: () => string): void {
  server.on("clientError", (_error: Error, socket: Socket) => {
    const [first, ...others] = connections.openRequests(socket);
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

/** How often `Host` stands in a head; of two, Node shows the first. */
function hosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/**
 * What the parser lets pass and no server should read. HTTP/0.9, which it takes a request line with a bare line feed
 * for. Without a `Host`, or with two (RFC 9112 3.2): Node would answer by itself, with no body, or read the first.
 * Chunks in HTTP/1.0: a proxy that doesn't know them there has taken them for the next request (RFC 9112 6.1).
 * Codings before `chunked` (RFC 9112 6.1): nobody here undoes them, and another server may not know them.
 */
function isUnsound({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  const named = hosts(rawHeaders);
  const coding = headers["transfer-encoding"];
  if (httpVersion === "1.1")
    return named !== 1 || (coding !== undefined && coding.trim().toLowerCase() !== "chunked");
  return httpVersion !== "1.0" || named > 1 || coding !== undefined;
}

/** Hands on what is to be handled; what is unsound is refused, with what stands behind it on the connection. */
function requestListener(
  { handler, badRequest }: HttpServerOptions,
  connections: Connections,
): RequestListener {
  return (request, response) => {
    if (!connections.accept(request, response)) return;
    if (!isUnsound(request)) {
      handler(request, response);
      return;
    }
    connections.closeAfter({ request, response });
    const body = badRequest();
    const length = String(Buffer.byteLength(body));
    response.writeHead(400, { "content-type": "application/json", "content-length": length }).end(body);
  };
}

/**
 * Part of the grace time in which connections are still taken and kept, where any are open: a balancer that has not
 * heard yet of the end may just be sending something on one of them. A quarter of the usual grace is longer than two
 * looks of usual balancers at the readiness.
 */
const FAREWELL = 1 / 4;

async function drain(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  connections.closeAllAfterResponse();
  if (connections.count() > 0) await wait(graceMs * FAREWELL);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection may become idle when its answer is out; nothing else would end it then.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    connections.closeUnused();
  }, 50);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

/** `http://127.0.0.1:8080` */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

const PORT_FAULTS: Readonly<Record<string, string>> = {
  EADDRINUSE: "something else listens there",
  EACCES: "this user may not listen there",
  EADDRNOTAVAIL: "it is not an address of this machine",
};

/** The gateway can't listen on its address. The message names the settings to change, and the system's error code. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly code = "AG_LISTEN_FAILED";
}

/** The error for an address that can't be listened on, with the settings to change. */
export function listenFault(
  error: NodeJS.ErrnoException,
  {
    host,
    port,
    settings: [hostName, portName] = ["HOST", "PORT"],
  }: Pick<HttpServerOptions, "host" | "port" | "settings">,
): ListenError {
  const { code = "" } = error;
  const name = code === "EADDRNOTAVAIL" ? hostName : portName;
  const reason = PORT_FAULTS[code] ?? error.message;
  return new ListenError(`${name}: can't listen on ${host}:${port}: ${reason} (${code}).`);
}

/** Begins to listen. @throws {ListenError} if the port is taken or the address is not this machine's. */
export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, badRequest, requestsPerConnection = Infinity } = options;
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
  });
  const connections = watchConnections(server, requestsPerConnection);
  server.on("request", requestListener(options, connections));
  // Node would answer 417 to an expectation that it does not know; alpha has no such status.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.maxConnections = MOST_CONNECTIONS;
  answerGarbage(server, connections, badRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenFault(error, options)));
    server.listen(port, host, resolve);
  });
  const taken = (server.address() as AddressInfo).port;
  return { url: httpUrl(host, taken), port: taken, drain: (graceMs) => drain(server, connections, graceMs) };
}
