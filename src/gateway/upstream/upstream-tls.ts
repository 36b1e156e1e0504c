/** Connections to v4 with certificates that may change while the gateway runs. */
import type { SecureContext } from "node:tls";
import { buildConnector } from "undici";

/** The certificates for the next connection. */
export type CurrentContext = () => SecureContext;

/** Creates what opens the connections of an undici pool, over HTTP/1.1. A resumed session would keep the former client certificate. */
export function createTlsConnector(current: CurrentContext, timeout: number): buildConnector.connector {
  let context: SecureContext | undefined;
  let connect: buildConnector.connector | undefined;
  return (options, callback) => {
    if (!connect || context !== current()) {
      context = current();
      connect = buildConnector({
        timeout,
        secureContext: context,
        maxCachedSessions: 0,
        allowH2: false,
      });
    }
    connect(options, callback);
  };
}
