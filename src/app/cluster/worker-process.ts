import type { Settings } from "../../config/setting-definitions.ts";
import { createLeasedLimiter, type LeasedLimiter } from "../../rate-limit/leased-limiter.ts";
import type { LimiterName } from "../../rate-limit/limiter.ts";
import type { TokenCacheBackend } from "../../auth/token-cache.ts";
import type { PrimaryApi, WorkerApi } from "./rpc-api.ts";
import { createRpc, type RpcPeer } from "./ipc-rpc.ts";
import { guardProcess } from "../process-guard.ts";
import { createLog } from "../../observability/log.ts";
import { createDependencies } from "../dependencies.ts";
import {
  createLocalState,
  openKeyValueStore,
  openSharedState,
  withLocalFallback,
  type SharedState,
} from "../state-backends.ts";
import { serveDependencies, type ListeningService } from "../start.ts";

/**
 * The system gives a connection to the worker that accepts first, which may be the same one many times. Keep-alive
 * connections are closed after this number of requests: the next one goes to the worker with the least load.
 */
const REQUESTS_PER_CONNECTION = 100;

const VARIABLE = "ALPHA_GATEWAY_WORKER";

/** The addresses of v4, which the primary has resolved: it runs the embedded sandbox. */
interface WorkerUpstream {
  readonly origin: URL;
  readonly authOrigin: URL | undefined;
}

/** The environment variable with which the primary gives its workers the addresses of v4. */
export const workerEnvironment = (upstream: WorkerUpstream): Record<string, string> => ({
  [VARIABLE]: JSON.stringify(upstream),
});

/** The settings of a worker: no admin listener, and the v4 of the primary. */
function workerSettings(settings: Settings): Settings {
  const { origin, authOrigin } = JSON.parse(process.env[VARIABLE] ?? "") as Record<string, string>;
  return {
    ...settings,
    ADMIN_PORT: "off",
    UPSTREAM_URL: new URL(origin ?? ""),
    AUTH_URL: authOrigin === undefined ? undefined : new URL(authOrigin),
  };
}

type PurgeListener = (fingerprint: string) => void;

/** A limiter whose counts are in the primary, for all workers. */
const createPrimaryLimiter = (primary: RpcPeer<PrimaryApi>, name: LimiterName): LeasedLimiter =>
  createLeasedLimiter({
    lease: (key, wantsMore) => primary.call("leaseLimit", name, key, wantsMore),
    refund: (key, count) => primary.call("refundLimit", name, key, count),
  });

/** A token cache in the primary. `onPurge` subscribes to purges of other processes. */
const createPrimaryTokenCache = (
  primary: RpcPeer<PrimaryApi>,
  onPurge: TokenCacheBackend["onPurge"],
): TokenCacheBackend => ({
  get: (hash) => primary.call("getTokenInfo", hash),
  set: (hash, info) => primary.call("setTokenInfo", hash, info),
  purge: (fingerprint) => primary.call("purge", fingerprint),
  onPurge,
});

/** State that the primary shares among workers. While it does not respond, each worker has its share of the limits. */
function openPrimaryState(
  settings: Settings,
  primary: RpcPeer<PrimaryApi>,
  limiters: Readonly<Record<LimiterName, LeasedLimiter>>,
  onPurge: TokenCacheBackend["onPurge"],
): SharedState {
  const backend = {
    limiter: (name: LimiterName) => limiters[name],
    tokenCache: createPrimaryTokenCache(primary, onPurge),
    replicas: () => settings.WORKERS,
  };
  const state = openKeyValueStore(settings, createLog(settings.LOG_LEVEL, settings.LOG_FORMAT));
  return {
    ...withLocalFallback(backend, createLocalState(settings), settings),
    state,
    problems: () => [],
    replicas: backend.replicas,
    close: state.close,
  };
}

/**
 * Serves requests as a worker until the primary drains it. Workers ignore signals: a terminal sends them to all
 * processes, and the primary handles them.
 *
 * @returns The exit code.
 */
export async function runWorker(given: Settings): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  const settings = workerSettings(given);
  const guard = guardProcess(createLog(settings.LOG_LEVEL, settings.LOG_FORMAT), settings.SHUTDOWN_GRACE_MS);
  const drained = Promise.withResolvers<void>();
  const purgeListeners: PurgeListener[] = [];
  const api: WorkerApi = {
    readiness: (scope) => service.readiness(scope),
    metrics: () => dependencies.metrics.json(),
    purge(fingerprint) {
      for (const listener of purgeListeners) listener(fingerprint);
    },
    endLease: (name, key) => limiters[name].endLease(key),
    reload(files) {
      void service.reload(files);
    },
    drain: drained.resolve,
  };
  const primary = createRpc<PrimaryApi>(process, { ...api });
  const limiters = {
    all: createPrimaryLimiter(primary, "all"),
    create: createPrimaryLimiter(primary, "create"),
  };
  const dependencies = await createDependencies(settings, {
    files: await primary.callDuringStart("pack"),
    stateBackend: async (log) =>
      settings.REDIS_URL === undefined
        ? openPrimaryState(settings, primary, limiters, (listener) => void purgeListeners.push(listener))
        : openSharedState(settings, log),
  });
  let service: ListeningService;
  try {
    service = await serveDependencies(settings, dependencies, {
      requestsPerConnection: REQUESTS_PER_CONNECTION,
    });
  } catch (error) {
    // The primary reports it once for all workers.
    await primary.callDuringStart("refused", (error as Error).message);
    return 1;
  }
  guard.drainWith(service.stop);
  await primary.callDuringStart("listening", Number(service.url.slice(service.url.lastIndexOf(":") + 1)));
  // Another pack may have been activated while this worker started.
  await service.reload(await primary.callDuringStart("pack"));
  await drained.promise;
  await service.stop();
  process.disconnect();
  return 0;
}
