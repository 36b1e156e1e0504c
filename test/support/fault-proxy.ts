/** A TCP proxy that does to its connections what networks and broken services do. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** What becomes of a connection; `dial` opens the one to the service behind. */
export type Fault = (client: Socket, dial: () => Socket) => void;

/** Nothing is wrong. */
export const forward: Fault = (client, dial) => {
  const service = dial();
  client.pipe(service).pipe(client);
};

/** Takes whatever comes, and says nothing. */
export const readOnly: Fault = (client) => void client.resume();

/** Says this as soon as something comes, whatever it is; then ends, resets, or waits. */
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

/** Says this again and again, and never ends. */
export const respondEndlessly =
  (first: string, again: string): Fault =>
  (client) => {
    client.once("data", () => {
      client.write(first);
      const timer = setInterval(() => client.write(again), 10);
      client.once("close", () => clearInterval(timer));
    });
  };

/** Lets this many bytes of the response through, and resets then. */
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

/** Lets answers through this many milliseconds after they came. */
export const delayBy =
  (ms: number): Fault =>
  (client, dial) => {
    const service = dial();
    client.pipe(service);
    service.on("data", (chunk: Buffer) => void setTimeout(() => client.destroyed || client.write(chunk), ms));
  };

/** Lets the response through in single bytes, this many milliseconds apart. */
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
  /** From now on. Connections that are open are ended. `refuse`: nothing listens any more. */
  setFault(fault: Fault | "refuse"): Promise<void>;
  /** Nothing goes through the connections that are open any more, and nobody is told. New ones are not touched. */
  freeze(): void;
  /** Connections that are open. */
  countOpenConnections(): number;
  /** Connections that have been made. */
  countConnections(): number;
  close(): Promise<void>;
}

/** Begins on a free port, with nothing wrong, before the service at a URL. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port: behind } = new URL(target);
  const sockets = new Set<Socket>();
  let fault = forward;
  let made = 0;
  let clients = 0;

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    return socket;
  }
  const server = createServer((client) => {
    made += 1;
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
    countConnections: () => made,
    close: end,
  };
}
