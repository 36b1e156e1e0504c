/** An old service that is not well, in a process of its own. The argument says how. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

const LONG = Buffer.alloc(10 * 1024 * 1024, " ");

const MODES: Readonly<Record<string, RequestListener>> = {
  // No answer that could be compared: after four differences its clients would wait as well.
  "after 5 s": (_request, response) => void wait(5000).then(() => response.writeHead(503).end("{}")),
  hangs: () => {},
  resets: (request) => void request.socket.resetAndDestroy(),
  "10 MB": (_request, response) => void response.end(LONG),
};

const server = createServer(MODES[process.argv[2] ?? ""]).listen(0, "127.0.0.1", () => {
  process.stdout.write(`Listening http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
