import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A request whose answer is not over. */
export interface OpenRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** What comes over the connections of a server, and when each of them ends. */
export interface Connections {
  /** May this request be handled? Not behind one whose answer is the last of its connection. */
  accept(request: IncomingMessage, response: ServerResponse): boolean;
  /** Makes this answer the last of its connection; what the parser has read behind it is left alone. */
  closeAfter(exchange: OpenRequest): void;
  /** What is under way on a connection, in its order. */
  openRequests(socket: Socket): readonly OpenRequest[];
  /** From now on every answer is the last of its connection, and says so (RFC 9112 9.6). */
  closeAllAfterResponse(): void;
  /** Ends those over which nothing has come yet. Node takes them for busy. */
  closeUnused(): void;
  /** How many are open. */
  count(): number;
}

interface Connection {
  readonly openRequests: OpenRequest[];
  accepted: number;
  /** Is its last answer under way, or out? */
  isClosing: boolean;
}

/**
 * Requests that may wait on one connection for their answers. A chunk of bytes holds thousands of tiny ones, and each
 * is handled before anything else. The answer of the last one ends the connection (RFC 9112 9.3.2).
 */
const MAX_PIPELINED = 64;

/** Begins to watch a server. `most`: requests on a connection, the last of which ends it. */
export function watchConnections(server: Server, most: number): Connections {
  const open = new Map<Socket, Connection>();
  let lastAnswers = false;

  server.on("connection", (socket) => {
    open.set(socket, { openRequests: [], accepted: 0, isClosing: false });
    socket.once("close", () => open.delete(socket));
  });

  function endWith({ request, response }: OpenRequest): void {
    const connection = open.get(request.socket);
    if (!connection || response.headersSent) return;
    connection.isClosing = true;
    response.shouldKeepAlive = false;
  }

  return {
    closeAfter: endWith,
    accept(request, response) {
      const connection = open.get(request.socket);
      if (!connection || connection.isClosing) return false;
      const { openRequests: underWay } = connection;
      const exchange = { request, response };
      underWay.push(exchange);
      response.once("close", () => void underWay.splice(underWay.indexOf(exchange), 1));
      connection.accepted += 1;
      if (lastAnswers || connection.accepted >= most || underWay.length >= MAX_PIPELINED) endWith(exchange);
      return true;
    },
    openRequests: (socket) => open.get(socket)?.openRequests ?? [],
    closeAllAfterResponse() {
      lastAnswers = true;
      // Of several on one connection it is the last that ends it: those before would take it from the others.
      for (const { openRequests: underWay } of open.values())
        for (const exchange of underWay.slice(-1)) endWith(exchange);
    },
    closeUnused() {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy();
    },
    count: () => open.size,
  };
}
