/** The client, v4 and the login server, in a separate thread, so that their work costs the gateway's thread nothing. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { bytesOf, type Request, type SizeLimits } from "./raw-request.ts";

/** A request to v4 and the response to it. */
export interface V4Response {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

/** The rows of v4's catalogs, by path. */
export type Lists = Readonly<Record<string, readonly unknown[]>>;

export interface Job {
  readonly url: string;
  readonly request: Request;
  readonly limits: SizeLimits;
  readonly responses: readonly V4Response[];
}

/** The response; status 0: there was none. */
export interface ClientResponse {
  readonly status: number;
  readonly bytes: number;
  readonly beginning: string;
}

const { lists } = workerData as { readonly lists: Lists };
const NONE = { data: [], page: 1, pages: 1, results: 0 };
let responses: readonly V4Response[] = [];

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = body === undefined ? "" : JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    "x-oauth-scopes": "*",
  });
  response.end(text);
}

const LOGIN = {
  access_token: "v4-token",
  token_type: "bearer",
  scope: "*",
  expires_in: 7200,
  refresh_token: "r",
};

function respond({ method = "", url = "", headers }: IncomingMessage, response: ServerResponse): void {
  const path = url.split("?")[0] ?? "";
  const list = headers.authorization === undefined ? lists[path] : undefined;
  if (list) return sendJson(response, 200, { data: list, page: 1, pages: 1, results: list.length });
  if (path.startsWith("/oauth/")) return sendJson(response, 200, LOGIN);
  const found =
    responses.find((each) => each.method === method && each.path === url) ??
    responses.find((each) => each.method === method);
  return sendJson(response, found?.status ?? 200, found?.body ?? NONE);
}

const server = createServer((request, response) => {
  request.on("error", () => {});
  response.on("error", () => {});
  request.resume().on("end", () => respond(request, response));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

const sockets = new Map<string, Socket>();

/** Reuses an open connection, so that connecting is not part of the measured cost. */
async function connection(url: string): Promise<Socket> {
  const open = sockets.get(url);
  if (open?.writable) return open;
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true).on("error", () => {});
  await once(socket, "connect");
  sockets.set(url, socket);
  return socket;
}

const LATE_MS = 5_000;

/** Waits for one response. All have a length, except files, which end with the connection. */
function readResponse(socket: Socket): Promise<ClientResponse> {
  return new Promise((resolve) => {
    let text = "";
    const end = (): void => {
      clearTimeout(timer);
      socket.removeAllListeners("data").removeAllListeners("close");
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
      if (status === 0 || /^connection: close/im.test(text.slice(0, text.indexOf("\r\n\r\n"))))
        socket.destroy();
      resolve({
        status,
        bytes: text.length,
        beginning: text.slice(text.indexOf("\r\n\r\n") + 4).slice(0, 200),
      });
    };
    const timer = setTimeout(end, LATE_MS);
    socket.on("close", end);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = /^content-length: (\d+)/im.exec(text.slice(0, head))?.[1];
      if (
        text.startsWith("HTTP/1.1 204") ||
        (length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= head + 4 + Number(length))
      )
        end();
    });
  });
}

async function send({ url, request, limits, responses: given }: Job): Promise<ClientResponse> {
  responses = given;
  const socket = await connection(url);
  const response = readResponse(socket);
  socket.write(bytesOf(request, limits), "latin1");
  return response;
}

parentPort?.on("message", (given: Job) => {
  void send(given).then((response) => parentPort?.postMessage(response, []));
});
parentPort?.postMessage({ port: (server.address() as AddressInfo).port }, []);
