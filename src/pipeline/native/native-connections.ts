/** The connections of the native proxy to v4. */
import * as http from "node:http";
import * as https from "node:https";
import { TlsAgent, type CurrentContext } from "../../upstream/upstream-tls.ts";

/**
 * How long a connection may be idle, in milliseconds: less than the five seconds after which usual servers close it. If v4
 * gives another time in `Keep-Alive`, Node's agent takes the shorter one, minus a second.
 */
const IDLE_MS = 4000;

/**
 * Creates the agent of one gateway. Its connections are opened when they are needed.
 *
 * @param connections Connections at a time.
 */
export function createAgent(
  origin: URL,
  connections: number,
  secureContext: CurrentContext | undefined,
): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: connections,
    maxFreeSockets: connections,
    timeout: IDLE_MS,
    scheduling: "lifo",
  } as const;
  if (secureContext) return new TlsAgent(secureContext, options);
  return origin.protocol === "https:" ? new https.Agent(options) : new http.Agent(options);
}

/** Whether v4 closed the connection while it was idle: it had served another request, and sent no byte for this one. */
export const wasClosedWhileIdle = (
  { reusedSocket, socket }: http.ClientRequest,
  { code }: NodeJS.ErrnoException,
  bytesBefore: number,
): boolean =>
  reusedSocket && (code === "ECONNRESET" || code === "EPIPE") && socket?.bytesRead === bytesBefore;
