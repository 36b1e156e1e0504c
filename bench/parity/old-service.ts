/**
 * The old service in a process of its own. The first argument says how well it is. One that answers takes what it says
 * from the gateway of the second argument, once for each path: it costs the machine next to nothing afterwards.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

const [mode = "", gateway = ""] = process.argv.slice(2);

const LONG = Buffer.alloc(10 * 1024 * 1024, " ");

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Node writes them itself. */
const CONNECTION = new Set(["connection", "keep-alive", "transfer-encoding", "content-length", "date"]);

const answers = new Map<string, Promise<Answer>>();

async function ask(path: string, authorization: string): Promise<Answer> {
  const response = await fetch(`${gateway}${path}`, { headers: { authorization } });
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !CONNECTION.has(name))),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

async function repeat({ url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = answers.get(url) ?? ask(url, headers.authorization ?? "");
  answers.set(url, answer);
  const [{ status, headers: fields, body }] = await Promise.all([answer, wait(1)]);
  response.writeHead(status, fields).end(body);
}

const MODES: Readonly<Record<string, RequestListener>> = {
  "after 1 ms": (request, response) => void repeat(request, response),
  // No answer that could be compared: after four differences its clients would wait as well.
  "after 5 s": (_request, response) => void wait(5000).then(() => response.writeHead(503).end("{}")),
  hangs: () => {},
  resets: (request) => void request.socket.resetAndDestroy(),
  "10 MB": (_request, response) => void response.end(LONG),
};

const server = createServer(MODES[mode]).listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
