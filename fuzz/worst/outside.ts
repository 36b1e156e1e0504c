/** Whatever is not the gateway, in a thread of its own: the client, v4 and the login server. What they do costs the gateway's thread nothing. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { bytesOf, type Request, type Room } from "./request.ts";

/** A call to v4 and what it is answered. */
export interface Answer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly answers: unknown;
}

/** Of v4's catalogs, by path. */
export type Lists = Readonly<Record<string, readonly unknown[]>>;

export interface Ask {
  readonly url: string;
  readonly request: Request;
  readonly room: Room;
  readonly answers: readonly Answer[];
}

/** What came of it; status 0: no answer. */
export interface Came {
  readonly status: number;
  readonly bytes: number;
  readonly beginning: string;
}

const { lists } = workerData as { readonly lists: Lists };
const NONE = { data: [], page: 1, pages: 1, results: 0 };
let answers: readonly Answer[] = [];

function say(response: ServerResponse, status: number, body: unknown): void {
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

function answer({ method = "", url = "", headers }: IncomingMessage, response: ServerResponse): void {
  const path = url.split("?")[0] ?? "";
  const list = headers.authorization === undefined ? lists[path] : undefined;
  if (list) return say(response, 200, { data: list, page: 1, pages: 1, results: list.length });
  if (path.startsWith("/oauth/")) return say(response, 200, LOGIN);
  const found =
    answers.find((each) => each.method === method && each.path === url) ??
    answers.find((each) => each.method === method);
  return say(response, found?.status ?? 200, found?.answers ?? NONE);
}

const server = createServer((request, response) => {
  request.on("error", () => {});
  response.on("error", () => {});
  request.resume().on("end", () => answer(request, response));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

const sockets = new Map<string, Socket>();

/** One that is open, so that a connection is no part of what is measured. */
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

/** Waits for one answer. It has a length, but for a file, whose end is the connection's. */
function heard(socket: Socket): Promise<Came> {
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

async function ask({ url, request, room, answers: given }: Ask): Promise<Came> {
  answers = given;
  const socket = await connection(url);
  const came = heard(socket);
  socket.write(bytesOf(request, room), "latin1");
  return came;
}

parentPort?.on("message", (given: Ask) => {
  void ask(given).then((came) => parentPort?.postMessage(came, []));
});
parentPort?.postMessage({ port: (server.address() as AddressInfo).port }, []);
