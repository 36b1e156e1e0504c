/** Sends responses that are plain data over HTTP. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AlphaResponse, FileResponse } from "../request/response.ts";
import { closeBeforeRest, endResponse, pipeAllButEnd } from "../bodies/unread-rest.ts";

/**
 * Sends an error instead of a file, unless a part of the file was already sent. @param names the names of the file's
 * headers
 */
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
 * Sends a file as fast as the client receives it. If the file ends early, the connection is closed, so that the client
 * detects it. The same happens if the record must be durable first and can't be written. If nothing was sent yet, the
 * client gets the error of the record instead.
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
  const end = async (rest?: Buffer): Promise<void> => {
    const instead = await recorded;
    if (instead) sendInstead(request, response, Object.keys(headers), instead);
    else endResponse(request, response, rest);
  };
  const breakOff = (): void => void response.destroy();
  if (request.method === "HEAD") {
    stream.destroy();
    void end().catch(breakOff);
  } else pipeAllButEnd(stream, response, (rest) => void end(rest).catch(breakOff), breakOff);
}

/**
 * Sends the response of a pipeline. Does nothing if the client has disconnected.
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
  // Middleware may have set headers, such as CORS headers. `writeHead` with a list would look up each name twice.
  for (const name in headers) response.setHeader(name, headers[name] ?? "");
  if (file) return sendFile(request, response, result, file);
  // RFC 9110 8.6: a 204 must not contain a length. The length of a 304 would be that of the response to a GET.
  if (status !== 204 && status !== 304) response.setHeader("content-length", body.length);
  closeBeforeRest(request, response, rejectsBody);
  if (phrase === undefined) response.writeHead(status);
  else response.writeHead(status, phrase);
  endResponse(request, response, body);
}
