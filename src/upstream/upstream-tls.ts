/** Connections to v4 with certificates that may change while the gateway runs. */
import { Agent, type AgentOptions } from "node:https";
import type { SecureContext } from "node:tls";
import { buildConnector } from "undici";

/** The certificates for the next connection. */
export type CurrentContext = () => SecureContext;

/** Creates what opens the connections of an undici pool. A resumed session would keep the former client certificate. */
export function createTlsConnector(current: CurrentContext, timeout: number): buildConnector.connector {
  let context: SecureContext | undefined;
  let connect: buildConnector.connector | undefined;
  return (options, callback) => {
    if (!connect || context !== current()) {
      context = current();
      connect = buildConnector({ timeout, secureContext: context, maxCachedSessions: 0 });
    }
    connect(options, callback);
  };
}

/** An agent of `node:https` whose new connections use the current certificates. */
export class TlsAgent extends Agent {
  readonly #current: CurrentContext;

  constructor(current: CurrentContext, options: AgentOptions) {
    super({ ...options, maxCachedSessions: 0 });
    this.#current = current;
  }

  override createConnection(
    ...[options, callback]: Parameters<Agent["createConnection"]>
  ): ReturnType<Agent["createConnection"]> {
    // Node's types leave out what it passes on to `tls.connect`.
    const withContext: typeof options & { secureContext: SecureContext } = {
      ...options,
      secureContext: this.#current(),
    };
    return super.createConnection(withContext, callback);
  }
}
