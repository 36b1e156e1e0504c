/** Streams the request of an exchange to the upstream, and its response to the client, with http-proxy-middleware. */
import { Agent as HttpAgent, type IncomingMessage } from "node:http";
import { createProxyMiddleware, type Plugin } from "http-proxy-middleware";
import type { Exchange } from "./exchange.ts";
import { ForwardedRequest } from "./forwarded-request.ts";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import type { UpstreamOptions } from "../upstream/client.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";

/** Sends the requests of exchanges to one upstream, and the upstream's responses to their clients. */
export type Proxy = ReturnType<typeof createProxy>;

/**
 * The member of a request that contains its forwarding function. Not a `WeakMap`: V8 keeps the values of an old
 * `WeakMap` until the next full garbage collection, so each request and response would first move to the old space.
 */
const FORWARDED = Symbol("forwarded request");

type SentRequest = IncomingMessage & { [FORWARDED]?: ForwardedRequest };

/** Creates the proxy to one upstream. */
export function createProxy(options: UpstreamOptions) {
  const agent = createAgent(options);
  const followRequests: Plugin = (server) => {
    server.on("proxyReq", (upstreamRequest, request: SentRequest) =>
      request[FORWARDED]?.onConnection(upstreamRequest),
    );
    server.on("proxyRes", (upstreamResponse, request: SentRequest) =>
      request[FORWARDED]?.onResponse(upstreamResponse),
    );
    server.on("error", (error, request: SentRequest | undefined) => request?.[FORWARDED]?.onError(error));
  };
  const proxy = createProxyMiddleware({
    target: new URL(options.origin.origin),
    changeOrigin: true,
    agent,
    selfHandleResponse: true,
    // The default plugins would write their own errors, and a log line for each request.
    ejectPlugins: true,
    plugins: [followRequests],
    pathRewrite(_path, request: SentRequest, _response, requestOptions) {
      const one = request[FORWARDED];
      Object.assign(requestOptions ?? {}, { buffer: one?.body() });
      return one?.target;
    },
  });
  return {
    forward(exchange: Exchange): void {
      const request: SentRequest = exchange.request;
      const send = (): void => {
        // The library compares the path with a filter, and skips a path that it can't parse. The rewriter uses the real
        // path.
        request.url = "/";
        void proxy(request, exchange.response, () => {});
      };
      request[FORWARDED] = new ForwardedRequest(exchange, options, send);
      send();
    },
    /** Closes all connections. */
    close: () => agent.destroy(),
  };
}

/** An idle connection is closed before common servers close it. */
const IDLE_MS = 4000;

const MAX_CONNECT_MS = 10_000;

/** Ends a connection that does not open in time. */
function limitConnect(socket: Socket, event: "connect" | "secureConnect", ms: number): void {
  const timer = setTimeout(
    () => socket.destroy(new UpstreamError("unreachable", `no connection in ${ms} ms`)),
    ms,
  );
  const clear = (): void => clearTimeout(timer);
  socket.once(event, clear).once("close", clear);
}

/** Creates the agent. Certificates may change while the gateway runs: each new connection uses the current ones. */
function createAgent({ origin, connections, timeoutMs, secureContext }: UpstreamOptions): HttpAgent {
  const isSecure = origin.protocol === "https:";
  const options = {
    keepAlive: true,
    maxSockets: connections,
    maxFreeSockets: connections,
    timeout: IDLE_MS,
    // A resumed session would use the previous client certificate.
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
