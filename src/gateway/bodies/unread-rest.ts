/**
 * The ends of a request and its response: the unread rest of a body after an early response, and a response that
 * waits for its record.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { UNREAD_REST } from "./policy.ts";
import { type Readable, Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";

const hasSmallRest = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"] ?? 0) <= UNREAD_REST.bytes;

/** Receives and discards the rest of a body, for a limited time. */
function discardRest(request: IncomingMessage, onTimeout: () => void, onEnd = (): void => {}): void {
  const timer = setTimeout(onTimeout, UNREAD_REST.ms);
  timer.unref();
  const end = (): void => {
    clearTimeout(timer);
    onEnd();
  };
  request.once("end", end).once("close", end);
  request.resume();
}

/**
 * Call this before the head of one of the gateway's own responses is written. It closes the connection after the
 * response if the rest of the body must not be read as the next request, or is too long to be discarded.
 *
 * @param rejectsBody whether the body was rejected before it was complete
 */
export function closeBeforeRest(
  request: IncomingMessage,
  response: ServerResponse,
  rejectsBody: boolean,
): void {
  const isRestReceived = request.complete || (response.shouldKeepAlive && hasSmallRest(request));
  if (rejectsBody || !isRestReceived) response.setHeader("connection", "close");
}

/**
 * Ends a response. The rest of the request's body is received and discarded for a short time, so that the client can
 * read the response and reuse the connection. A connection that is closed with unread bytes would be reset, and the
 * client could lose the response (RFC 9112 9.6).
 *
 * @param rest the unsent rest of the response
 */
export function endResponse(
  request: IncomingMessage,
  response: ServerResponse,
  rest: Buffer | string = "",
): void {
  if (request.complete) return void response.end(rest);
  if (response.getHeader("connection") !== "close") {
    response.end(rest);
    return discardRest(request, () => request.socket.destroy());
  }
  if (rest.length > 0) response.write(rest);
  else response.flushHeaders();
  const end = (): void => void response.end();
  discardRest(request, end, end);
}

/** Forwards a body, except for the chunk that would complete its length. */
class LastChunkHolder extends Transform {
  /** The part that is not forwarded. */
  held = Buffer.alloc(0);
  #remaining: number;

  /** @param length the length of the body. Infinite if it is unknown: then the end of the chunks is delayed */
  constructor(length: number) {
    super();
    this.#remaining = length;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#remaining -= chunk.length;
    if (this.#remaining > 0) return done(null, chunk);
    this.held = Buffer.concat([this.held, chunk]);
    return done();
  }
}

/**
 * Streams a body, except for the end of the response: the last byte of its length, or the end of its chunks. So the
 * response stays incomplete for the client until the caller ends it.
 *
 * @param onEnd receives the unsent rest, and ends the response
 * @param onError called if the body ends early or the client disconnects
 */
export function pipeAllButEnd(
  source: Readable,
  response: ServerResponse,
  onEnd: (rest: Buffer) => void,
  onError: (error: Error) => void,
): void {
  const holder = new LastChunkHolder(Number(response.getHeader("content-length") ?? Infinity));
  pipeline(source, holder, response, { end: false }).then(() => onEnd(holder.held), onError);
}
