import type { Settings } from "../../config/schema.ts";
import type { PrimaryApi, WorkerApi } from "./rpc-api.ts";
import { createRpc, type RpcPeer } from "./ipc-rpc.ts";
import { createPrimaryLimiter, createPrimaryTokenCache } from "./primary-backend.ts";
import { guardProcess } from "../process-guard.ts";
import { createLog } from "../../observability/log.ts";
import { createDependencies } from "../dependencies.ts";
import { createLocalState, withLocalFallback, type SharedState } from "../state-backends.ts";
import { openSharedState, openKeyValueStore } from "../open-state.ts";
import { serveDependencies, type Service } from "../start.ts";

/**
 * The system gives a connection to whichever worker takes it first, many at once perhaps to the same. Those that are
 * kept go round so: the next one finds the worker that has least to do.
 */
const REQUESTS_PER_CONNECTION = 100;

const VARIABLE = "ALPHA_GATEWAY_WORKER";

/** What the primary has settled for its workers. */
interface Settled {
  readonly origin: URL;
  readonly authOrigin: URL | undefined;
}

/** Tells it to them. */
export const workerEnvironment = (settled: Settled): Record<string, string> => ({
  [VARIABLE]: JSON.stringify(settled),
});

/** The settings of a worker: it has no admin listener, and its v4 is the primary's sandbox where that is embedded. */
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

/** Shares through the primary. Its share, while the primary doesn't answer, is that of one worker of all. */
function sharedThroughPrimary(
  settings: Settings,
  primary: RpcPeer<PrimaryApi>,
  onPurge: (hear: PurgeListener) => void,
): SharedState {
  const backend = {
    limiter: (name: "all" | "create") => createPrimaryLimiter(primary, name),
    tokenCache: createPrimaryTokenCache(primary, onPurge),
    replicas: () => settings.WORKERS,
  };
  const state = openKeyValueStore(settings);
  return {
    ...withLocalFallback(backend, createLocalState(settings), settings),
    state,
    problems: () => [],
    replicas: backend.replicas,
    close: state.close,
  };
}

/** Serves as a worker, until the primary lets it end. Signals are the primary's to hear: a terminal sends them to all. */
export async function runWorker(given: Settings): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  const settings = workerSettings(given);
  const guard = guardProcess(createLog(settings.LOG_LEVEL, settings.LOG_FORMAT), settings.SHUTDOWN_GRACE_MS);
  const asked = Promise.withResolvers<void>();
  const purgeListeners: PurgeListener[] = [];
  const duties: WorkerApi = {
    readiness: () => service.readiness(),
    metrics: () => parts.metrics.json(),
    purge(fingerprint) {
      for (const hear of purgeListeners) hear(fingerprint);
    },
    reload(files) {
      void service.reload(files);
    },
    drain: asked.resolve,
  };
  const primary = createRpc<PrimaryApi>(process, { ...duties });
  const parts = await createDependencies(settings, {
    files: await primary.askPatiently("pack"),
    stateBackend: async (log) =>
      settings.REDIS_URL === undefined
        ? sharedThroughPrimary(settings, primary, (hear) => void purgeListeners.push(hear))
        : openSharedState(settings, log),
  });
  let service: Service;
  try {
    service = await serveDependencies(settings, parts, { requestsPerConnection: REQUESTS_PER_CONNECTION });
  } catch (error) {
    // The primary says so, once for all workers.
    await primary.askPatiently("refused", (error as Error).message);
    return 1;
  }
  guard.drainWith(service.stop);
  await primary.askPatiently("listening", Number(service.url.slice(service.url.lastIndexOf(":") + 1)));
  // One that was taken into use while this worker began.
  await service.reload(await primary.askPatiently("pack"));
  await asked.promise;
  await service.stop();
  process.disconnect();
  return 0;
}
