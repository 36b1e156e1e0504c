/** The HTTP server: reads the whole request within limits and writes the response. */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import type { SandboxRequest, SandboxResponse, Upload } from "./request-types.ts";

/** Maximum size of a JSON body in bytes; a longer body is rejected with 400. Files have their own limit. */
const maxBodyBytes = 1_048_576;

export interface Listener {
  /** Base URL of the server, e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Creates the listener of the service: it reads a request, handles it and writes the response. */
export function createRequestListener(
  handleRequest: (request: SandboxRequest) => SandboxResponse,
  isToken: (authorization: string | undefined) => boolean,
  log: RequestLog,
): RequestListener {
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const type = request.headers["content-type"] ?? "";
      const most = isUpload(type) ? maxUploadBytes : maxBodyBytes;
      const bytes = await readBody(request, most);
      const text = bytes && !isUpload(type) ? bytes.toString("utf8") : "";
      const { method = "", url = "", headers } = request;
      log.add({ method, path: url, headers, body: text });
      const fault = isToken(headers.authorization) ? readFault(headers[faultHeader]) : {};
      if (fault.delay) await wait(fault.delay, undefined, { ref: false });
      if (fault.reset) return void request.socket.destroy();
      const upload = bytes && isUpload(type) ? await readUpload(type, bytes) : undefined;
      const reply =
        fault.reply ?? (bytes ? handleRequest(toSandboxRequest(request, text, upload)) : bodyTooLong(most));
      send(response, reply);
    } catch {
      // The client disconnected while its body was being read.
      response.destroy();
    }
  }
  return (request, response) => void serve(request, response);
}

/** Starts a server. @throws {Error} if the port is in use. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<Listener> {
  const server = createServer({ requestTimeout: 30_000 }, listener);
  server.on("clientError", rejectConnection);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    close: () => close(server),
  };
}

function toSandboxRequest(
  request: IncomingMessage,
  body: string,
  upload: Upload | undefined,
): SandboxRequest {
  const { method = "", url = "", headers, socket } = request;
  const filter = headers["x-filter"];
  return {
    // Node omits the body of a HEAD response.
    method: method === "HEAD" ? "GET" : method,
    target: url,
    authorization: headers.authorization,
    // Repeated headers are joined by a comma. That is invalid JSON, so the filter is rejected.
    filter: Array.isArray(filter) ? filter.join(", ") : filter,
    body,
    ...(upload && { upload }),
    address: socket.remoteAddress ?? "",
  };
}

/** Reads a body; undefined if it exceeds the limit. The rest is read and discarded, so that the client gets the response. */
export async function readBody(request: AsyncIterable<Buffer>, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= most) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes > most ? undefined : Buffer.concat(chunks);
}

function bodyTooLong(most: number): SandboxResponse {
  return {
    status: 400,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ errors: [{ reason: `The body is longer than ${most} bytes` }] }),
  };
}

function send(response: ServerResponse, { status, headers, body }: SandboxResponse): void {
  const length = status === 204 ? {} : { "Content-Length": Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...length });
  response.end(body);
}

/** Responds with JSON even if Node rejects a message before it is a request (long headers, no HTTP). */
function rejectConnection(_error: Error, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify({ errors: [{ reason: "The request is not well-formed" }] });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function close(server: ReturnType<typeof createServer>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

// The log of the last requests, for inspecting what clients send.

export interface LoggedRequest {
  readonly method: string;
  /** Path and query, as received. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON, otherwise the text; undefined if there is no body. */
  readonly body: unknown;
}

const maxRequests = 200;
/** Maximum length of a logged body, in characters. Longer bodies are truncated. */
const maxBodyCharacters = 65_536;

interface RequestLog {
  readonly requests: readonly LoggedRequest[];
  add(request: LoggedRequest & { readonly body: string }): void;
}

export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = [];
  return {
    requests,
    add(request) {
      if (requests.length >= maxRequests) requests.shift();
      requests.push({ ...request, body: parseLoggedBody(request.body) });
    },
  };
}

function parseLoggedBody(text: string): unknown {
  if (text === "") return undefined;
  if (text.length > maxBodyCharacters) return text.slice(0, maxBodyCharacters);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// File uploads: a ticket attachment as multipart form, a thumbnail as image body.

/** Maximum size of an upload in bytes. It exceeds every endpoint's limit, so that the endpoint can report its own. */
const maxUploadBytes = 6 * 1_048_576;

function isUpload(contentType: string): boolean {
  return /^(?:multipart\/form-data|image\/)/i.test(contentType);
}

/** Returns the form member `file` or the image body; undefined if the form is invalid or lacks that member. */
async function readUpload(contentType: string, bytes: Uint8Array): Promise<Upload | undefined> {
  if (/^image\//i.test(contentType)) return { name: "", bytes };
  try {
    const headers = { "content-type": contentType };
    const file = (await new Response(Buffer.from(bytes), { headers }).formData()).get("file");
    if (file === null || typeof file === "string") return undefined;
    return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
  } catch {
    return undefined;
  }
}

// Fault injection for tests of clients: `X-Sandbox-Fault: 503`, `delay=1500` (milliseconds, then the
// normal response), `reset` (closes the connection without a response), `garbage` (200 with an invalid
// JSON body), or several of them, separated by commas. Ignored on requests
// without a token of the sandbox.

const faultHeader = "x-sandbox-fault";

interface InjectedFault {
  /** Delay of the response, in milliseconds. */
  readonly delay?: number;
  readonly reset?: true;
  /** Response to send instead. The request is not executed. */
  readonly reply?: SandboxResponse;
}

/** Maximum delay in milliseconds. Longer delays are shortened to it. */
const maxDelayMs = 60_000;

function readFault(header: string | string[] | undefined): InjectedFault {
  const words = header === undefined ? [] : String(header).split(",");
  return words.reduce<InjectedFault>((fault, word) => ({ ...fault, ...parseFault(word.trim()) }), {});
}

function parseFault(word: string): InjectedFault {
  const delay = /^delay=(\d{1,9})$/.exec(word)?.[1];
  if (delay !== undefined) return { delay: Math.min(Number(delay), maxDelayMs) };
  if (word === "reset") return { reset: true };
  if (word === "garbage") return { reply: reply(200, '{"data": [{"id": 52') };
  if (word === "503") return { reply: errorReply(503, "The service is not available") };
  return {
    reply: errorReply(400, "X-Sandbox-Fault is 503, delay=MILLISECONDS, reset or garbage, e.g. delay=1500"),
  };
}

function errorReply(status: number, reason: string): SandboxResponse {
  return reply(status, JSON.stringify({ errors: [{ reason }] }));
}

function reply(status: number, body: string): SandboxResponse {
  return { status, headers: { "Content-Type": "application/json" }, body };
}
