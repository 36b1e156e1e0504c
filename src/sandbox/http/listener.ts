/** The socket side of the service: reads a request whole, within bounds, and writes the answer. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { faultHeader, readFault } from "./fault-injection.ts";
import type { RequestLog } from "./request-log.ts";
import type { SandboxRequest, SandboxResponse } from "./pipeline.ts";
import type { Upload } from "./upload.ts";
import { isUpload, maxUploadBytes, readUpload } from "./upload.ts";

/** The most bytes of a request body; a longer one is answered 400. Files may be longer. */
const maxBodyBytes = 1_048_576;

export interface Listener {
  /** `http://127.0.0.1:41234` */
  readonly url: string;
  close(): Promise<void>;
}

export async function listen(
  answer: (incoming: SandboxRequest) => SandboxResponse,
  log: RequestLog,
  host: string,
  port: number,
): Promise<Listener> {
  const server = createServer((request, response) => void serve(request, response));
  server.on("clientError", rejectConnection);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const type = request.headers["content-type"] ?? "";
      const most = isUpload(type) ? maxUploadBytes : maxBodyBytes;
      const bytes = await readBody(request, most);
      const text = bytes && !isUpload(type) ? bytes.toString("utf8") : "";
      const { method = "", url = "", headers } = request;
      log.add({ method, path: url, headers, body: text });
      const fault = readFault(headers[faultHeader]);
      if (fault.delay) await wait(fault.delay, undefined, { ref: false });
      if (fault.reset) return void request.socket.destroy();
      const upload = bytes && isUpload(type) ? await readUpload(type, bytes) : undefined;
      const reply =
        fault.reply ?? (bytes ? answer(toSandboxRequest(request, text, upload)) : bodyTooLong(most));
      send(response, reply);
    } catch {
      // The client went away while its body was being read: there is nobody to answer.
      response.destroy();
    }
  }

  return bind(server, host, port);
}

/** @throws {Error} where the port is taken. */
export async function bind(server: Server, host: string, port: number): Promise<Listener> {
  server.requestTimeout = 30_000;
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
    method,
    target: url,
    authorization: headers.authorization,
    // Two header lines arrive joined by a comma, which is no JSON and so refused.
    filter: Array.isArray(filter) ? filter.join(", ") : filter,
    body,
    ...(upload && { upload }),
    address: socket.remoteAddress ?? "",
  };
}

/** Undefined for a body above the limit; what is left of it is read and dropped, so that the answer arrives. */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
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

/** What Node refuses before it is a request (headers too long, no HTTP at all) still gets JSON. */
function rejectConnection(_error: Error, socket: Socket): void {
  if (!socket.writable) return void socket.destroy();
  const body = JSON.stringify({ errors: [{ reason: "The request is not well-formed" }] });
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  );
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
