import { setTimeout as wait } from "node:timers/promises";
import type { Pack } from "../mapping/pack.ts";
import type { Settings } from "../config/schema.ts";
import { startAdminListener } from "./admin-listener.ts";
import { createActivePack } from "./active-pack.ts";
import { listen, type HttpServer, type HttpServerOptions } from "./http-server.ts";
import {
  closeDependencies,
  createDependencies,
  type Dependencies,
  type DependenciesOptions,
} from "./dependencies.ts";
import { createPackReloader, type ReloadPack } from "./pack-reloader.ts";

/** How long the start waits for the catalogs; a v4 that is slower finds a gateway that runs and is not ready yet. */
const FIRST_READING_MS = 2000;

/** How long readiness waits for a v4 that was left alone. */
const PROBE_MS = 500;

/** How long a request of the admin listener may go on at the end. */
export const ADMIN_DRAIN_MS = 100;

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
  readonly reload: ReloadPack;
  /** Drains and ends: readiness goes, requests in flight end, the audit is flushed. */
  stop(): Promise<void>;
}

/**
 * Builds a gateway from its settings and starts it. While v4 is down it runs and is not ready, and becomes
 * ready by itself.
 *
 * @throws {PackError} for a pack that can't be used; an error of the system for a port or folder that can't.
 */
export async function startService(settings: Settings, options: DependenciesOptions = {}): Promise<Service> {
  return serveDependencies(settings, await createDependencies(settings, options));
}

/** Begins to serve with parts that are open. They are closed again where that fails. */
export async function serveDependencies(
  settings: Settings,
  parts: Dependencies,
  connections: Pick<HttpServerOptions, "requestsPerConnection"> = {},
): Promise<Service> {
  const { audit, state, shared, oauth: exchanged, metrics, v4, log, initialPack: first } = parts;
  const editions = createActivePack(settings, parts);
  let gateway: HttpServer | undefined;
  let admin: HttpServer | undefined;
  let draining = false;
  const { tokens, limits } = shared;
  const missing = (): readonly string[] => editions.current().catalogs.missing();
  metrics.gauge("catalogs_missing", "Catalogs that could not be read yet.", () => missing().length);
  metrics.gauge("known_tokens", "Tokens whose facts are remembered.", () => tokens.size);
  metrics.gauge("rate_limit_keys", "Tokens and addresses whose requests are counted.", () => limits.size);
  metrics.gauge("known_grants", "Tokens looked up among those handed out.", () => exchanged.tokenStore.size);

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
    ...parts.nativeProxy.shortages(),
    ...[audit?.fault() ?? []].flat(),
    ...(state.ready() ? [] : ["the state store does not answer"]),
    ...shared.problems(),
  ];

  async function stop(): Promise<void> {
    if (draining) return;
    draining = true;
    editions.stop();
    await gateway?.drain(settings.SHUTDOWN_GRACE_MS);
    await closeDependencies(parts, async () => admin?.drain(ADMIN_DRAIN_MS));
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
    admin = await startAdminListener(settings, parts, { readiness, metrics, pack, purgeTokens: purge });
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
    reload: createPackReloader(settings, { initial: first, activate: editions.replace, log, metrics }),
    stop,
  };
}
