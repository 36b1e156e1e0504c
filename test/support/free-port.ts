import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type NetConnectOpts } from "node:net";

/** Below the ports that systems give to connections, and to servers that ask for any: one of those could take the port. */
const FIRST_PORT = 10_000;
const LAST_PORT = 32_000;

/** A local port that is free now, and that only another test could take. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

/**
 * Closes a service whose gateway goes on calling it, and keeps its port, where connections are refused from then on. The
 * system would give the port to a server of another test, which would get those calls.
 */
export async function closeAndKeepPort(service: {
  readonly url: string;
  close(): Promise<void>;
}): Promise<void> {
  const server = createServer((socket) => socket.unref())
    .listen(0, "127.0.0.1")
    .unref();
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await service.close();
  // A port is taken as long as a connection has it on one side.
  const localPort = Number(new URL(service.url).port);
  const holder = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.1", localPort }).unref();
  await once(holder, "connect");
}

/** Whether a server listens there. */
export async function isListening(address: NetConnectOpts): Promise<boolean> {
  const socket = connect(address);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
