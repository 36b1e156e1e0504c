import type { RequestHandler } from "express";
import { type Pack, readPackFiles } from "../../pack/index.ts";
import {
  createMessageRejection,
  type HttpServer,
  listen,
  LONGEST_HEAD,
  warnOfUncheckedHost,
} from "../../gateway/index.ts";
import { isObserving, observedUrlOf, type Settings } from "../../base/index.ts";
import { startAdminListener, type AdminDependencies } from "../listeners/admin-listener.ts";
import { ActivePack } from "../pack/active-pack.ts";
import { createDependencies, type Dependencies } from "./dependencies.ts";
import type { DependenciesOptions } from "./open-dependencies.ts";
import { createPackReloader } from "../pack/pack-reloader.ts";
import type { Readiness } from "../../console/index.ts";
import { createPublicApp } from "../listeners/public-app.ts";
import { createReadiness, readInitialCatalogs } from "../listeners/readiness.ts";

/** Milliseconds that requests of the admin listener may take at shutdown. */
const ADMIN_DRAIN_MS = 100;

/** A running gateway. */
export type Service = Awaited<ReturnType<typeof startService>>;

/** A gateway without listeners. */
export interface GatewayHandlers {
  /** The middleware of the public port, with the active pack. */
  readonly router: RequestHandler;
  readonly activePack: ActivePack;
  /** The services that the admin application needs. */
  readonly admin: AdminDependencies;
  /** Handles messages that the public listener itself rejects. */
  readonly rejection: ReturnType<typeof createMessageRejection>;
  /** Reads the files of features again, and activates a new pack; see {@link createPackReloader}. */
  reload(): Promise<Error | undefined>;
  /**
   * Drains and closes. Readiness fails immediately.
   *
   * @param drain Ends the public listener.
   * @param drainAdmin Ends the admin listener, which serves until the stores are closed.
   */
  stop(drain?: () => Promise<unknown>, drainAdmin?: () => Promise<unknown>): Promise<void>;
}

/** Adds the gauges of the active pack and of known tokens. */
function addGauges(activePack: ActivePack, { metrics, shared, oauth }: Dependencies): void {
  const { tokens, limits } = shared;
  const catalogs = () => activePack.current().catalogs;
  metrics.addGauge(
    "catalogs_missing",
    "Catalogs that could not be read yet.",
    () => catalogs().missing().length,
  );
  metrics.addGauge("catalog_rows_left_out", "Catalog rows on which an expression of the pack fails.", () =>
    [...catalogs().leftOut().values()].reduce((sum, { count }) => sum + count, 0),
  );
  metrics.addGauge("known_tokens", "Tokens in the token cache.", () => tokens.size);
  metrics.addGauge(
    "accepted_tokens",
    "Tokens that v4 accepted within a day, at most 100 000.",
    () => tokens.acceptedCount,
  );
  metrics.addGauge(
    "rate_limit_keys",
    "Tokens and addresses that the rate limiter tracks.",
    () => limits.size,
  );
  metrics.addGauge(
    "known_grants",
    "Gateway tokens in the cache of the token store.",
    () => oauth.tokenStore.size,
  );
}

/** Creates the request handlers of a gateway with open dependencies. */
export function createHandlers(settings: Settings, dependencies: Dependencies): GatewayHandlers {
  const { shared, metrics, log, initialPack, packChoice, features } = dependencies;
  // It is unknown whether clients of the old service have credentials.
  if (!isObserving(settings)) warnOfUncheckedHost(settings, initialPack.pack, log);
  const activePack = new ActivePack(settings, dependencies);
  const checkReadiness = createReadiness(activePack, dependencies);
  let isDraining = false;
  addGauges(activePack, dependencies);

  const readiness: Readiness = async (scope) => [
    ...(isDraining ? ["draining"] : []),
    ...(await checkReadiness(scope)),
  ];
  dependencies.tokensOfUpstream.follow(activePack.refreshTokens);
  const reloadPack = createPackReloader(settings, {
    initial: initialPack,
    readFiles: (active) => packChoice?.files(active) ?? readPackFiles(settings),
    async activate(loaded, isSuperseded) {
      await activePack.replace(loaded, isSuperseded);
      for (const { parts } of features) parts?.usePack?.(loaded.pack);
    },
    checkPack,
    log,
    metrics,
  });

  /** Checks a new pack. @throws {Error} if the file of a feature uses names that a pack does not define */
  function checkPack(next: Pack): void {
    for (const { feature, parts } of features) {
      const missing = parts?.missingNames?.(next) ?? [];
      if (missing.length > 0) throw new Error(`${feature.setting}: the pack has no ${missing.join(", ")}`);
    }
  }

  async function reload(): Promise<Error | undefined> {
    // This is done first, because revoked tokens must not stay valid until the catalogs of a new pack are read.
    for (const { parts } of features) parts?.reload?.();
    const problem = await reloadPack();
    for (const { parts } of features) await parts?.afterPackReload?.();
    return problem;
  }
  packChoice?.follow({ packs: activePack, checkPack, reload });
  /** The services that the admin application needs. */
  const admin: AdminDependencies = {
    readiness,
    metrics,
    pack: () => activePack.current().pack,
    files: () => activePack.current().files,
    catalogs: () => activePack.current().catalogs,
    purgeTokens: shared.tokens.purge,
  };
  return {
    router: activePack.handle,
    activePack,
    admin,
    rejection: createMessageRejection(dependencies, admin.pack),
    reload,
    async stop(drain = async () => {}, drainAdmin = async () => {}) {
      if (isDraining) return;
      isDraining = true;
      activePack.stop();
      await Promise.all([drain(), ...features.map(({ parts }) => parts?.stop?.())]);
      await dependencies.close(drainAdmin);
    },
  };
}

/**
 * Starts a gateway. While v4 is down, the gateway runs but is not ready; it becomes ready after v4 responds.
 *
 * @throws {PackError} If the pack is invalid. A system error if a port or a folder can't be used.
 */
export async function startService(settings: Settings, options: DependenciesOptions = {}) {
  const dependencies = await createDependencies(settings, options);
  const { v4, initialPack } = dependencies;
  const handlers = createHandlers(settings, dependencies);
  const { activePack, router, reload } = handlers;
  let gateway: HttpServer | undefined;
  let admin: HttpServer | undefined;

  const stop = (): Promise<void> =>
    handlers.stop(
      async () => gateway?.drain(settings.SHUTDOWN_GRACE_MS),
      async () => admin?.drain(ADMIN_DRAIN_MS),
    );

  try {
    const { HOST: host, PORT: port, REUSE_PORT: reusePort } = settings;
    gateway = await listen({
      host,
      port,
      reusePort,
      handler: createPublicApp(router),
      // A response may need several calls of v4 in sequence.
      idleMs: Math.max(300_000, 10 * settings.UPSTREAM_TIMEOUT_MS),
      // The application itself rejects shorter ones, so that they are recorded.
      maxHeadSize: 4 * LONGEST_HEAD,
      ...handlers.rejection,
    });
    admin = await startAdminListener(settings, dependencies, handlers.admin);
  } catch (error) {
    await stop();
    throw error;
  }
  await readInitialCatalogs(activePack);
  return {
    url: gateway.url,
    /** URL of the admin listener; undefined if it is off. */
    adminUrl: admin?.url,
    /** A token of the embedded sandbox, if that is used. */
    sandboxToken: v4.sandbox?.tokens.full,
    /** An OAuth client of the embedded sandbox, if its login server is used. */
    sandboxClient: settings.AUTH_URL ? undefined : v4.sandbox?.application()?.id,
    upstreamUrl: v4.origin.href.replace(/\/$/, ""),
    /** The old service, if the gateway observes. Undefined otherwise. */
    observedUrl: observedUrlOf(settings),
    /** The pack's description of both APIs, which `serve` prints. */
    dialect: initialPack.pack.dialect,
    /** The reasons why the gateway is not ready. Empty if it is. */
    readiness: handlers.admin.readiness,
    open: { handlers, audit: dependencies.audit },
    /** Number of open client connections, and number of client requests so far. */
    connections: gateway.connections,
    requests: gateway.requests,
    /** Reads the tokens file again and activates a new pack; see {@link createPackReloader}. */
    reload,
    /** Drains and closes: readiness fails, in-flight requests finish, the audit is committed. */
    stop,
  };
}
