/** A TCP proxy that simulates faults of networks and services. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { endsWithTest } from "./ends-with-test.ts";

/** Handles a client connection; `dial` connects to the service. */
export type Fault = (client: Socket, dial: () => Socket) => void;

/** Forwards everything unchanged. */
export const forward: Fault = (client, dial) => {
  const service = dial();
  client.pipe(service).pipe(client);
};

/** Reads everything and never responds. */
export const readOnly: Fault = (client) => void client.resume();

/** Sends these bytes after the first bytes of the client; then ends, resets, or waits. */
export const respondWith =
  (bytes: string, then: "end" | "reset" | "wait"): Fault =>
  (client) => {
    client.once("data", () => {
      client.write(bytes, () => {
        if (then === "end") client.end();
        if (then === "reset") client.resetAndDestroy();
      });
    });
  };

/** Responds without an end. */
export const respondEndlessly =
  (first: string, again: string): Fault =>
  (client) => {
    client.once("data", () => {
      client.write(first);
      const timer = setInterval(() => client.write(again), 10);
      client.once("close", () => clearInterval(timer));
    });
  };

/** Resets the connection after this many bytes of the response. */
export const resetAfter =
  (bytes: number): Fault =>
  (client, dial) => {
    const service = dial();
    let left = bytes;
    client.pipe(service);
    service.on("data", (chunk: Buffer) => {
      const part = chunk.subarray(0, left);
      left -= part.length;
      client.write(part, () => {
        if (left === 0) client.resetAndDestroy();
      });
    });
  };

/** Delays all bytes of the response by this many milliseconds. */
export const delayBy =
  (ms: number): Fault =>
  (client, dial) => {
    const service = dial();
    client.pipe(service);
    service.on("data", (chunk: Buffer) => void setTimeout(() => client.destroyed || client.write(chunk), ms));
  };

/** Sends the response byte by byte, with this many milliseconds between two bytes. */
export const sendByteByByte =
  (ms: number): Fault =>
  (client, dial) => {
    const service = dial();
    const waiting: number[] = [];
    client.pipe(service);
    service.on("data", (chunk: Buffer) => void waiting.push(...chunk));
    const timer = setInterval(() => {
      const byte = waiting.shift();
      if (byte !== undefined) client.write(Buffer.of(byte));
    }, ms);
    client.once("close", () => clearInterval(timer));
  };

export interface FaultProxy {
  readonly port: number;
  /** Sets the fault of new connections and closes open ones. `refuse`: nothing listens on the port. */
  setFault(fault: Fault | "refuse"): Promise<void>;
  /** Stops forwarding on open connections without closing them. New connections are not affected. */
  freeze(): void;
  /** Open client connections. */
  countOpenConnections(): number;
  /** Client connections so far. */
  countConnections(): number;
  close(): Promise<void>;
}

/** Starts a proxy on a free port in front of the service at a URL, without a fault. It ends with the test. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port: behind } = new URL(target);
  const sockets = new Set<Socket>();
  let fault = forward;
  let connections = 0;
  let clients = 0;

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    return socket;
  }
  const server = createServer((client) => {
    connections += 1;
    clients += 1;
    keep(client).once("close", () => (clients -= 1));
    fault(client, () => {
      const service = keep(connect(Number(behind), hostname));
      client.once("close", () => service.destroy());
      service.once("close", () => client.destroy());
      return service;
    });
  });
  async function listen(port: number): Promise<void> {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  }
  async function end(): Promise<void> {
    const closed = server.listening ? once(server, "close") : undefined;
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async setFault(next) {
      await end();
      if (next === "refuse") return;
      fault = next;
      await listen(port);
    },
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    countOpenConnections: () => clients,
    countConnections: () => connections,
    close: endsWithTest(end),
  };
}
