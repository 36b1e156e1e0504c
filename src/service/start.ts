import { setTimeout as wait } from "node:timers/promises";
import type { Pack } from "../mapping/pack.ts";
import type { Settings } from "../settings/table.ts";
import { listenForAdmins } from "./admin.ts";
import { createEditions } from "./editions.ts";
import { listen, type HttpServer, type HttpServerOptions } from "./http-server.ts";
import { closeParts, openParts, type Parts, type PartsOptions } from "./parts.ts";
import { createReload, type Reload } from "./reloads.ts";

/** How long the start waits for the catalogs; a v4 that is slower finds a gateway that runs and is not ready yet. */
const FIRST_READING_MS = 2000;

/** How long readiness waits for a v4 that was left alone. */
const PROBE_MS = 500;

/** How long a request of the admin listener may go on at the end. */
export const LAST_LOOK_MS = 100;

/** A running gateway. */
export interface Service {
  readonly url: string;
  /** Undefined where the admin listener is off. */
  readonly adminUrl: string | undefined;
  /** A token of the embedded sandbox, where that is used. */
  readonly sandboxToken: string | undefined;
  /** An OAuth client of the embedded sandbox, where its login server is used too. */
  readonly sandboxClient: string | undefined;
  readonly upstreamUrl: string;
  /** What the pack says of clients, for the example that a start prints. */
  readonly alpha: Pack["dialect"]["alpha"];
  /** Why it is not ready; empty when it is. */
  readiness(): readonly string[] | Promise<readonly string[]>;
  /** Takes another pack into use; see `createReload`. */
  readonly reload: Reload;
  /** Drains and ends: readiness goes, requests in flight end, the audit is flushed. */
  stop(): Promise<void>;
}

/**
 * Builds a gateway from its settings and starts it. While v4 is down it runs and is not ready, and becomes
 * ready by itself.
 *
 * @throws {PackError} for a pack that can't be used; an error of the system for a port or folder that can't.
 */
export async function startService(settings: Settings, options: PartsOptions = {}): Promise<Service> {
  return serveParts(settings, await openParts(settings, options));
}

/** Begins to serve with parts that are open. They are closed again where that fails. */
export async function serveParts(
  settings: Settings,
  parts: Parts,
  connections: Pick<HttpServerOptions, "requestsPerConnection"> = {},
): Promise<Service> {
  const { audit, state, shared, exchanged, metrics, v4, log, first } = parts;
  const editions = createEditions(settings, parts);
  let gateway: HttpServer | undefined;
  let admin: HttpServer | undefined;
  let draining = false;
  const { tokens, limits } = shared;
  const missing = (): readonly string[] => editions.current().catalogs.missing();
  metrics.gauge("catalogs_missing", "Catalogs that could not be read yet.", () => missing().length);
  metrics.gauge("known_tokens", "Tokens whose facts are remembered.", () => tokens.size);
  metrics.gauge("rate_limit_keys", "Tokens and addresses whose requests are counted.", () => limits.size);
  metrics.gauge("known_grants", "Tokens looked up among those handed out.", () => exchanged.grants.size);

  /** Finds out whether v4 is back, where it was left alone: without clients nothing else would. */
  async function v4Faults(): Promise<string[]> {
    const { breaker } = parts.upstream;
    if (breaker.state() === "half-open")
      await Promise.race([editions.current().catalogs.refresh(), wait(PROBE_MS, undefined, { ref: false })]);
    return breaker.state() === "open" ? ["v4 fails, and is left alone for a moment"] : [];
  }

  const readiness = async (): Promise<string[]> => [
    ...(draining ? ["draining"] : []),
    ...missing().map((reason) => `catalog ${reason}`),
    ...(await v4Faults()),
    ...parts.upstream.shortages(),
    ...parts.native.shortages(),
    ...[audit?.fault() ?? []].flat(),
    ...(state.ready() ? [] : ["the state store does not answer"]),
    ...shared.faults(),
  ];

  async function stop(): Promise<void> {
    if (draining) return;
    draining = true;
    editions.stop();
    await gateway?.drain(settings.SHUTDOWN_GRACE_MS);
    await closeParts(parts, async () => admin?.drain(LAST_LOOK_MS));
  }

  try {
    const { HOST: host, PORT: port } = settings;
    gateway = await listen({
      ...connections,
      host,
      port,
      handler: (request, response) => editions.current().handler(request, response),
      badRequest: () => editions.current().badRequest,
    });
    const { purge } = shared.tokens;
    const pack = (): Pack => editions.current().pack;
    admin = await listenForAdmins(settings, parts, { readiness, metrics, pack, purgeTokens: purge });
  } catch (error) {
    await stop();
    throw error;
  }
  await Promise.race([
    editions.current().catalogs.refresh(),
    wait(FIRST_READING_MS, undefined, { ref: false }),
  ]);
  return {
    url: gateway.url,
    adminUrl: admin?.url,
    sandboxToken: v4.sandbox?.tokens.full,
    sandboxClient: settings.AUTH_URL ? undefined : v4.sandbox?.application()?.id,
    upstreamUrl: v4.origin.href.replace(/\/$/, ""),
    alpha: first.pack.dialect.alpha,
    readiness,
    reload: createReload(settings, { first, use: editions.replace, log, metrics }),
    stop,
  };
}
