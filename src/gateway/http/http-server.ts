import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { addressNetwork, Shares } from "../../base/index.ts";
import { handleExpectation } from "../bodies/expect-continue.ts";
import {
  rejectInvalid,
  rejectUnreadable,
  type InFlightRequest,
  type MessageRejection,
} from "./invalid-messages.ts";

/** A listening server. */
export type HttpServer = Awaited<ReturnType<typeof listen>>;

interface HttpServerOptions extends MessageRejection {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port. Default: false. */
  readonly reusePort?: boolean;
  /** Names of the settings for the host and the port. */
  readonly settings?: readonly [host: string, port: string];
  readonly handler: RequestListener;
  /**
   * Maximum number of bytes of the target with names and values of the headers. Trailers have the same limit. Default:
   * 16 kB.
   */
  readonly maxHeadSize?: number;
  /** Milliseconds that a connection with a request in flight may be without a byte in either direction. Default: 5 minutes. */
  readonly idleMs?: number;
  /** Maximum number of connections. Default: 10 000. */
  readonly maxConnections?: number;
}

/** Time limit for a head. A slower head is a Slowloris attack. A body may be an upload over a slow connection. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
const TIMEOUT_CHECK_MS = 5000;

/** Milliseconds without any bytes after which a connection is closed, because its client never reads the response. */
const IDLE_MS = 300_000;

/** Longer than the idle time of common load balancers, so that they close first. */
const KEEP_ALIVE_MS = 65_000;

const MAX_CONNECTIONS = 10_000;
/** Part of the connections above which idle ones are closed: one address could hold all of them for a minute. */
const NEARLY_FULL = 0.95;

/**
 * Maximum number of in-flight requests of one connection. A chunk may contain thousands of tiny requests, which are
 * handled before anything else. A response of some megabytes stays in memory until the client has read the ones
 * before it, so the limit is low. The response to the last request closes the connection (RFC 9112 9.3.2).
 */
const MAX_PIPELINED = 8;

interface Connection {
  readonly network: string;
  readonly inFlight: InFlightRequest[];
  /** Whether the last response has started, or is decided. */
  isClosing: boolean;
}

/** The connections of a server, and when they close. */
class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #byNetwork = new Shares();
  #isDraining = false;
  #requests = 0;

  constructor(server: Server, maxConnections: number) {
    server.maxConnections = maxConnections;
    server.on("connection", (socket) => {
      const network = addressNetwork(socket.remoteAddress ?? "");
      this.#open.set(socket, { network, inFlight: [], isClosing: false });
      this.#byNetwork.take(network);
      socket.once("close", () => {
        this.#open.delete(socket);
        this.#byNetwork.giveBack(network);
      });
      if (this.#open.size > NEARLY_FULL * maxConnections) this.#closeIdle();
    });
  }

  /** Closes the oldest idle connection of the network with the most connections, so that others find a place. */
  #closeIdle(): void {
    const [[largest] = []] = this.#byNetwork.largest(1);
    for (const [socket, { network, inFlight }] of this.#open)
      if (network === largest && inFlight.length === 0) return void socket.destroy();
  }

  get count(): number {
    return this.#open.size;
  }

  /** Number of requests so far. */
  get requests(): number {
    return this.#requests;
  }

  /**
   * Whether a request may be handled. False if the response to an earlier request is the last one of the connection. If
   * that response has ended, the connection is closed, because a client that sent a further request must not wait.
   */
  accept(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(request.socket);
    if (!connection) return false;
    if (connection.isClosing) {
      if (connection.inFlight.length === 0) request.socket.destroySoon();
      return false;
    }
    this.#requests += 1;
    const { inFlight } = connection;
    const exchange = { request, response };
    inFlight.push(exchange);
    response.on("close", () => void inFlight.splice(inFlight.indexOf(exchange), 1));
    // Node does not close the connection if a response was destroyed while it waited for earlier ones.
    if (!response.socket)
      response.once("socket", (socket) => {
        if (response.destroyed) socket.destroy();
      });
    if (this.#isDraining || inFlight.length >= MAX_PIPELINED) this.closeAfter(exchange);
    return true;
  }

  /**
   * Makes this response the last on its connection, unless its head was written. Later bytes are ignored. A handler may
   * already have set the header, for a response whose body has not arrived yet.
   */
  closeAfter({ request, response }: InFlightRequest): void {
    const connection = this.#open.get(request.socket);
    if (!connection || response.headersSent) return;
    connection.isClosing = true;
    response.shouldKeepAlive = false;
    response.setHeader("Connection", "close");
  }

  /** Returns the in-flight requests of a connection, in order. */
  inFlight(socket: Socket): readonly InFlightRequest[] {
    return this.#open.get(socket)?.inFlight ?? [];
  }

  /** From now on, each response is the last on its connection, and announces that (RFC 9112 9.6). */
  closeAllAfterResponse(): void {
    this.#isDraining = true;
    // The last of several in-flight requests closes the connection, because the other requests still need it.
    for (const { inFlight } of this.#open.values())
      for (const exchange of inFlight.slice(-1)) this.closeAfter(exchange);
  }

  /** Closes connections without a byte from the client. Node treats them as busy. */
  closeUnused(): void {
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0) socket.destroy();
  }
}

/** Counts the `Host` headers. Node only shows the first of two. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/** Matches a host (RFC 9110 7.2 and RFC 3986 3.2.2), without commas, because proxies join lines with commas. */
const HOST = /^(?:(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]+)(?::\d{0,5})?)?$/i;

/**
 * Whether the parser accepted a message that servers should reject. HTTP/0.9: the parser reads a request line with a
 * bare line feed as such. No `Host`, or two (RFC 9112 3.2): Node would respond without a body, or use the first. An
 * invalid host: servers interpret it in different ways. Chunks in HTTP/1.0: proxies without support for them have read
 * them as the next request (RFC 9112 6.1). Codings before `chunked` (RFC 9112 6.1): they are not decoded here, and
 * other servers may not support them.
 */
export function isInvalidMessage({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  const hostCount = countHosts(rawHeaders);
  if (!HOST.test(headers.host ?? "")) return true;
  const coding = headers["transfer-encoding"];
  if (httpVersion === "1.1")
    return hostCount !== 1 || (coding !== undefined && coding.trim().toLowerCase() !== "chunked");
  return httpVersion !== "1.0" || hostCount > 1 || coding !== undefined;
}

/** Forwards valid requests. An invalid request is rejected, with all later bytes of its connection. */
function createRequestListener(options: HttpServerOptions, connections: Connections): RequestListener {
  return (request, response) => {
    if (!connections.accept(request, response)) return;
    if (!isInvalidMessage(request)) {
      options.handler(request, response);
      return;
    }
    connections.closeAfter({ request, response });
    rejectInvalid(request, response, options);
  };
}

/**
 * Part of the grace time in which connections are still accepted and kept, if any are open. A load balancer that has
 * not detected the shutdown may be sending a request. A quarter of the default grace time is longer than two readiness
 * checks of common load balancers.
 */
const OPEN_PART = 1 / 4;

async function drain(server: Server, connections: Connections, graceMs: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs);
  connections.closeAllAfterResponse();
  if (connections.count > 0) await wait(graceMs * OPEN_PART);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection may become idle after its response, and no other code would close it then.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
    connections.closeUnused();
  }, 50);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}

/** Returns the address of a server: `http://127.0.0.1:8080`. */
const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port",
  EACCES: "this user may not listen there",
  EADDRNOTAVAIL: "it is not an address of this machine",
};

/**
 * The gateway can't listen on its address. The message names the settings to change, and the system's error code.
 *
 * @example
 * ```ts
 * import { createGateway, ListenError } from "alpha-gateway";
 *
 * const gateway = createGateway({ upstream: "https://api.example.com" });
 * await gateway.start().catch((error: unknown) => {
 *   if (error instanceof ListenError) console.error(error.message);
 * });
 * ```
 */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly code = "AG_LISTEN_FAILED";
}

/** Creates the error of a server that can't listen, with the setting to change. */
function listenError(
  error: NodeJS.ErrnoException,
  { host, port, settings: [hostName, portName] = ["HOST", "PORT"] }: HttpServerOptions,
): ListenError {
  const { code = "" } = error;
  const name = code === "EADDRNOTAVAIL" ? hostName : portName;
  const reason = LISTEN_ERRORS[code] ?? error.message;
  const advice = name === portName ? ` Choose another port with ${name}.` : "";
  return new ListenError(`${name}: can't listen on ${host}:${port}: ${reason} (${code}).${advice}`);
}

/** Starts a server. @throws {ListenError} if the port is in use or the address does not belong to this machine */
export async function listen(options: HttpServerOptions) {
  const { host, port, reusePort = false, idleMs = IDLE_MS, maxConnections = MAX_CONNECTIONS } = options;
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requireHostHeader: false,
    ...(options.maxHeadSize !== undefined && { maxHeaderSize: options.maxHeadSize }),
  });
  server.timeout = idleMs;
  // Node would silently drop the headers after the 2000th. Instead, their total size is limited.
  server.maxHeadersCount = 0;
  const connections = new Connections(server, maxConnections);
  server.on("request", createRequestListener(options, connections));
  // Node would send 100 before the request is checked.
  server.on("checkContinue", (request, response) => {
    handleExpectation(request, response);
    server.emit("request", request, response);
  });
  // Node would respond with 417 to an unknown expectation, but alpha has no such status.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  rejectUnreadable(server, (socket) => connections.inFlight(socket), options);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, options)));
    server.listen({ port, host, reusePort }, resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  return {
    /** The address with the actual port, such as `http://127.0.0.1:8080`. */
    url: httpUrl(host, actualPort),
    /** Number of open connections. */
    connections: (): number => connections.count,
    /** Number of requests so far. */
    requests: (): number => connections.requests,
    /**
     * Waits for in-flight requests, and closes the remaining ones after the grace time. Each response is the last on its
     * connection. New and open connections may still be used for a short time.
     */
    drain: (graceMs: number): Promise<void> => drain(server, connections, graceMs),
  };
}
