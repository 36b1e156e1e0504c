/**
 * Adds features that undici's connections lack: it skips an unrequested `100 Continue`, reports whether v4 closed the
 * connection while idle, and distinguishes a reset from the end of a response.
 */
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import type { buildConnector } from "undici";

/** Index of the status code's first digit in a status line. */
const FIRST_DIGIT = "HTTP/1.1 ".length;
const [ZERO, ONE, TWO] = Buffer.from("012") as unknown as [number, number, number];
const [CARRIAGE_RETURN, LINE_FEED] = [0x0d, 0x0a];

/** Errors of reused connections that v4 closed without a byte of a response: it had closed them before the request. */
const closedWhileIdle = new WeakSet<Error>();

/** Whether a request failed because v4 closed its idle connection. */
export const wasClosedWhileIdle = (error: unknown): boolean =>
  error instanceof Error && closedWhileIdle.has(error);

/** One connection, which sends one request at a time. */
class WatchedConnection {
  #requests = 0;
  #hasResponse = false;
  /** Index of the next byte in a status line, or the kind of the current head: informational or final. */
  #place: number | "informational" | "final" = "final";
  #lineLength = 0;

  get isClosedWhileIdle(): boolean {
    return this.#requests > 1 && !this.#hasResponse;
  }

  beginRequest(): void {
    this.#requests += 1;
    this.#hasResponse = false;
    this.#place = 0;
  }

  /**
   * Changes the status 100 before a final response to 102, in place. undici destroys a connection that sends an
   * unrequested 100, although a client must skip it (RFC 9110 15.2). undici skips all statuses from 102.
   */
  receive(bytes: Buffer): void {
    this.#hasResponse = true;
    for (let at = 0; at < bytes.length && this.#place !== "final"; at += 1) {
      const byte = bytes[at];
      if (this.#place === "informational") this.#readHead(byte);
      else if (this.#readStatusLine(this.#place, byte)) bytes[at] = TWO;
    }
  }

  /** @returns whether the byte is the last digit of 100 */
  #readStatusLine(place: number, byte: number | undefined): boolean {
    if (place === 0 && (byte === CARRIAGE_RETURN || byte === LINE_FEED)) return false;
    const digit = place - FIRST_DIGIT;
    if (digit === 2) {
      this.#place = "informational";
      this.#lineLength = 1;
      return byte === ZERO;
    }
    const isFinal = (digit === 0 && byte !== ONE) || (digit === 1 && byte !== ZERO);
    this.#place = isFinal ? "final" : place + 1;
    return false;
  }

  #readHead(byte: number | undefined): void {
    if (byte === LINE_FEED) {
      if (this.#lineLength === 0) this.#place = 0;
      this.#lineLength = 0;
    } else if (byte !== CARRIAGE_RETURN) this.#lineLength += 1;
  }
}

const connections = new WeakMap<object, WatchedConnection>();

// Published before the first byte of each request of undici is written.
subscribe("undici:client:sendHeaders", (message) =>
  connections.get((message as { readonly socket: object }).socket)?.beginRequest(),
);

/** Watches a socket. The bytes pass through `push` before they are read. */
function watch(socket: Socket): void {
  const connection = new WatchedConnection();
  connections.set(socket, connection);
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk) connection.receive(chunk);
    return push(chunk, encoding);
  };
  socket.once("error", (error: NodeJS.ErrnoException) => {
    if (connection.isClosedWhileIdle) closedWhileIdle.add(error);
    // undici would treat a reset as the end of a response that has no length.
    if (error.code === "ECONNRESET") error.code = "UND_ERR_SOCKET";
  });
}

/** Watches the HTTP/1.1 connections that another function opens for undici. */
export function watchConnections(connect: buildConnector.connector): buildConnector.connector {
  return (target, done) =>
    connect(target, (...result) => {
      const [error, socket] = result;
      if (!error) watch(socket);
      done(...result);
    });
}
