/** The connections of the forward to one upstream. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { UpstreamError } from "../upstream/upstream-error.ts";
import type { CurrentContext } from "../upstream/upstream-tls.ts";

/** An idle connection is closed before usual servers close it. */
const IDLE_MS = 4000;

const MAX_CONNECT_MS = 10_000;

export interface AgentOptions {
  readonly origin: URL;
  readonly connections: number;
  readonly timeoutMs: number;
  /** The certificates of connections. Default: Node's own. */
  readonly secureContext?: CurrentContext | undefined;
}

/** Ends a connection that does not open in time. */
function limitConnect(socket: Socket, event: "connect" | "secureConnect", ms: number): void {
  const timer = setTimeout(
    () => socket.destroy(new UpstreamError("unreachable", `no connection in ${ms} ms`)),
    ms,
  );
  const clear = (): void => clearTimeout(timer);
  socket.once(event, clear).once("close", clear);
}

/** Creates the agent. Certificates may change while the gateway runs: those of the next connection are the current ones. */
export function createAgent({ origin, connections, timeoutMs, secureContext }: AgentOptions): HttpAgent {
  const isSecure = origin.protocol === "https:";
  const options = {
    keepAlive: true,
    maxSockets: connections,
    maxFreeSockets: connections,
    timeout: IDLE_MS,
    // A resumed session would keep the former client certificate.
    ...(isSecure && { maxCachedSessions: 0 }),
  };
  const agent = isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  const connect = agent.createConnection.bind(agent);
  const connectMs = Math.min(timeoutMs, MAX_CONNECT_MS);
  agent.createConnection = (target, callback) => {
    const socket = connect(
      { ...target, ...(secureContext && { secureContext: secureContext() }) },
      callback,
    ) as Socket;
    limitConnect(socket, isSecure ? "secureConnect" : "connect", connectMs);
    return socket;
  };
  return agent;
}
