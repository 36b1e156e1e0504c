/** From plain data to HTTP. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { AlphaResponse, FileResponse } from "../pipeline/response.ts";
import { delayResponseEnd } from "./delay-response-end.ts";

/** How long the rest of a body that nobody reads is received and discarded. */
const LINGER_MS = 2000;

/** In bytes. A rest that is declared to be longer ends its connection; a shorter one is received and discarded. */
const SMALL_REST = 65_536;

/**
 * Ends the connection once the rest of a rejected body has arrived, or its time is over. If the connection ended at
 * once, with unread bytes, it would be reset, and the client could lose the response (RFC 9112 9.6).
 */
function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  timer.unref();
  if (request.readableEnded) return end();
  request.once("end", end).once("close", end);
  request.resume();
}

/** Receives and discards the rest of a body, for a limited time, so that the next request can be read. */
function discardRest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
  timer.unref();
  const end = () => clearTimeout(timer);
  request.once("end", end).once("close", end);
  request.resume();
}

const hasSmallRest = ({ headers }: IncomingMessage): boolean =>
  Number(headers["content-length"] ?? 0) <= SMALL_REST;

/** Sends an error in place of a file, unless a part of the file was sent. @param names headers of the file */
function sendInstead(
  request: IncomingMessage,
  response: ServerResponse,
  names: readonly string[],
  error: AlphaResponse,
): void {
  if (response.headersSent) return void response.destroy();
  for (const name of [...names, "content-length"]) response.removeHeader(name);
  sendResponse(request, response, error, false);
}

/**
 * Sends a file as fast as the client receives it. Where the file breaks off, so does the connection, and the client
 * sees it. The same happens where the record must be durable first and cannot be written; while nothing was sent, the
 * client gets that error.
 */
function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, recorded }: AlphaResponse,
  { length, stream }: FileResponse,
): void {
  if (length !== undefined) response.setHeader("content-length", length);
  // The head is written with the first byte.
  response.statusCode = status;
  if (recorded)
    delayResponseEnd(response, async () => {
      const instead = await recorded;
      return instead && (() => sendInstead(request, response, Object.keys(headers), instead));
    });
  if (request.method !== "HEAD") return void pipeline(stream, response, () => {});
  stream.destroy();
  response.end();
}

/**
 * Sends the response of a pipeline. Does nothing where the client has disconnected.
 *
 * @param rejectsBody whether the request's body was rejected before it was complete; its connection then ends
 */
export function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  result: AlphaResponse,
  rejectsBody: boolean,
): void {
  const { status, phrase, headers, body, file } = result;
  if (response.destroyed || response.headersSent) return void file?.stream.destroy();
  // Middleware may have set headers, as those of CORS. `writeHead` with a list would look each name up in them twice.
  for (const name in headers) response.setHeader(name, headers[name] ?? "");
  if (file) return sendFile(request, response, result, file);
  // RFC 9110 8.6: none with 204. With 304 it would be that of the response to a GET.
  if (status !== 204 && status !== 304) response.setHeader("content-length", body.length);
  const isUnread = !request.complete;
  const lingers = rejectsBody || (isUnread && !(response.shouldKeepAlive && hasSmallRest(request)));
  // The rest of a rejected body must not be read as the next request.
  if (lingers) response.setHeader("connection", "close");
  if (phrase === undefined) response.writeHead(status);
  else response.writeHead(status, phrase);
  if (!lingers) {
    response.end(body);
    if (isUnread) discardRest(request);
    return;
  }
  response.write(body);
  endAfterBody(request, response);
}
