/** A sandbox and its login server behind TLS. */
import { createServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import type { RequestListener } from "node:http";
import type { TLSSocket } from "node:tls";
import { createSandbox, type SandboxService } from "../../src/sandbox/create-sandbox.ts";

/** A server of which the test sees who connected. */
interface TlsServer {
  readonly url: string;
  /** Common names of the client certificates of requests; undefined for a request without one. */
  readonly clients: (string | undefined)[];
  close(): Promise<void>;
}

async function listen(options: ServerOptions, listener: RequestListener): Promise<TlsServer> {
  const clients: (string | undefined)[] = [];
  const server = createServer(options, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    clients.push(subject?.CN as string | undefined);
    // Each request is on a connection with the certificates of its time.
    response.shouldKeepAlive = false;
    listener(request, response);
  });
  // Clients that reject the certificate, or have none.
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clients,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface TlsSandbox extends Pick<SandboxService, "tokens"> {
  readonly v4: TlsServer;
  readonly login: TlsServer;
  close(): Promise<void>;
}

/**
 * Starts both.
 *
 * @param v4 Options of v4's server: its certificate, and whether it requires one of clients.
 * @param login Those of the login server.
 */
export async function startTlsSandbox(v4: ServerOptions, login: ServerOptions): Promise<TlsSandbox> {
  const { listener, loginListener, tokens } = createSandbox();
  const servers = [await listen(v4, listener), await listen(login, loginListener)] as const;
  return {
    tokens,
    v4: servers[0],
    login: servers[1],
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}
