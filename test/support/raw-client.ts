/** A client that sends any bytes on a connection, and collects all bytes of the responses. */
import { connect, type Socket } from "node:net";

export interface RawResponse {
  readonly status: number;
  readonly phrase: string;
  /** Lower-case names; of a repeated one the last line. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawClient {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /** All received bytes. */
  text(): string;
  /** Whether the other side has ended the connection. */
  isEnded(): boolean;
  /** Waits for this many complete responses (with a Content-Length). */
  waitForResponses(count: number): Promise<RawResponse[]>;
  /** Waits until the other side ends the connection, then returns all received bytes. */
  waitForEnd(): Promise<string>;
  close(): void;
}

function parse(text: string): { readonly responses: RawResponse[]; readonly rest: string } {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return { responses, rest };
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n");
    const [, status = "0", phrase = ""] = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(first) ?? [];
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    ) as Record<string, string>;
    const length = Number(headers["content-length"] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length) return { responses, rest };
    responses.push({ status: Number(status), phrase, headers, body });
    rest = rest.slice(end + 4 + length);
  }
}

/** A URL, or the path of a socket. */
function connectTo(address: string): Socket {
  if (address.startsWith("/")) return connect({ path: address, allowHalfOpen: true });
  const { hostname, port } = new URL(address);
  return connect({ host: hostname, port: Number(port), allowHalfOpen: true });
}

/** Connects to the address of a URL, or to a socket. */
export async function openRawClient(address: string): Promise<RawClient> {
  const socket = connectTo(address);
  let text = "";
  const waiting: (() => void)[] = [];
  const received = (): void => {
    for (const wake of waiting.splice(0)) wake();
  };
  let over = false;
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    text += chunk;
    received();
  });
  const finish = () => {
    over = true;
    received();
  };
  socket.on("end", finish).on("close", finish).on("error", finish);
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));

  const until = async (enough: () => boolean): Promise<void> => {
    while (!enough()) {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
      });
    }
  };

  return {
    socket,
    send: (bytes) => void socket.write(bytes, typeof bytes === "string" ? "latin1" : undefined),
    text: () => text,
    isEnded: () => over,
    async waitForResponses(count) {
      await until(() => over || parse(text).responses.length >= count);
      return parse(text).responses;
    },
    async waitForEnd() {
      await until(() => over);
      return text;
    },
    close: () => void socket.destroy(),
  };
}

/** Raw clients that are closed together. */
export interface RawClients extends Iterable<RawClient> {
  /** Connects another client and sends its first bytes. */
  open(bytes: string): Promise<RawClient>;
  closeAll(): void;
}

/** @param url Where the clients connect to; it is read at each connection. */
export function createRawClients(url: () => string): RawClients {
  const clients: RawClient[] = [];
  return {
    async open(bytes) {
      const client = await openRawClient(url());
      clients.push(client);
      client.send(bytes);
      return client;
    },
    closeAll() {
      for (const client of clients.splice(0)) client.close();
    },
    [Symbol.iterator]: () => clients.values(),
  };
}
