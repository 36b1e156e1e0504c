/** A v4 service that serves its catalogs at once, and responds to other requests when a test releases them. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SlowV4 {
  readonly url: string;
  readonly port: number;
  /** Resolves when this many requests are waiting for their response. */
  waitForRequests(count: number): Promise<void>;
  /** Responds to all waiting requests with an empty list. */
  respondToAll(): void;
  close(): Promise<void>;
}

const CATALOGS = /^\/v4\/(?:regions|images|vm\/types|vm\/types-legacy|vm\/kernels)\?/;

const EMPTY_LIST = '{"data":[],"page":1,"pages":1,"results":0}';

const send = (response: ServerResponse): void =>
  void response.writeHead(200, { "content-type": "application/json" }).end(EMPTY_LIST);

/** @param options `silent`: catalogs wait too. `port`: default any free one. */
export async function startSlowV4({ silent = false, port = 0 } = {}): Promise<SlowV4> {
  const held = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (!silent && CATALOGS.test(request.url ?? "")) {
      send(response);
      return;
    }
    held.add(response);
    response.once("close", () => held.delete(response));
    server.emit("held");
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    async waitForRequests(count) {
      while (held.size < count) await once(server, "held");
    },
    respondToAll() {
      for (const response of held) send(response);
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
