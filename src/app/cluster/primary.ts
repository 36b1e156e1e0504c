import { createMetricsAggregate } from "../../observability/metrics/aggregate.ts";
import type { Settings } from "../../config/schema.ts";
import { startWorkerPool, type WorkerPool } from "./worker-pool.ts";
import type { PrimaryApi } from "./rpc-api.ts";
import { startAdminListener } from "../admin-listener.ts";
import { httpUrl, type HttpServer } from "../http-server.ts";
import type { LoadedPack } from "../load-pack.ts";
import { closeDependencies, createDependencies, type Dependencies } from "../dependencies.ts";
import { createPackReloader } from "../pack-reloader.ts";
import { createLocalState, type LocalState } from "../state-backends.ts";
import { openSharedState } from "../open-state.ts";
import { ADMIN_DRAIN_MS, type Service } from "../start.ts";
import { workerEnvironment } from "./worker.ts";

/** What the workers share, kept here. */
const dutiesOf = ({
  limiters: counters,
  tokens,
}: LocalState): Omit<PrimaryApi, "listening" | "refused" | "purge" | "pack"> => ({
  consumeLimit: (name, key) => counters[name].consume(key),
  refundLimit: (name, key) => counters[name].refund(key),
  getTokenInfo: tokens.entryWithTtl,
  setTokenInfo(hash, facts) {
    if (facts === undefined) void tokens.purge(hash);
    else if (facts.refused) tokens.setRejected(hash);
    else tokens.setScopes(hash, facts.grants);
  },
});

/** Why not all of it is ready, each reason once. A worker that ends to be begun again is none: the others serve. */
async function readinessOf(crew: WorkerPool, { audit, shared }: Dependencies): Promise<readonly string[]> {
  const told = await crew.each((worker) =>
    worker.call("readiness").catch(() => ["a worker does not answer"]),
  );
  const serving = [...told.values()].filter((reasons) => !reasons.includes("draining"));
  const reasons = [
    ...(serving.length === 0 ? ["no worker serves"] : []),
    ...serving.flat(),
    ...[audit?.fault() ?? []].flat(),
    ...shared.problems(),
  ];
  return [...new Set(reasons)];
}

/**
 * Starts a gateway of several processes: workers that serve, and this one, which has the admin listener, the
 * embedded sandbox, and what the workers share where there is no Redis.
 *
 * @throws like `startService`, and {WorkerFailed} where a worker can't begin.
 */
export async function startWorkers(settings: Settings): Promise<Service> {
  const own = createLocalState(settings);
  const parts = await createDependencies(settings, {
    stateBackend: (log) => openSharedState(settings, log, { local: own, serves: false }),
  });
  const { log, metrics, shared, v4 } = parts;
  let { files, pack } = parts.initialPack;
  const figures = createMetricsAggregate();
  let admin: HttpServer | undefined;
  let crew: WorkerPool | undefined;
  let stopping: Promise<void> | undefined;

  async function purge(fingerprint = ""): Promise<void> {
    try {
      await shared.tokens.purge(fingerprint);
    } finally {
      await crew?.each((worker) => worker.call("purge", fingerprint));
    }
  }
  async function text(): Promise<string> {
    const served = await crew?.each((worker) => worker.call("metrics").catch(() => []));
    return figures.text(new Map([[0, await metrics.json()], ...(served ?? [])]));
  }
  async function readiness(): Promise<readonly string[]> {
    if (stopping) return ["draining"];
    return crew ? readinessOf(crew, parts) : ["starting"];
  }
  /** What is refused here no worker hears of; one that is begun again later begins with this pack too. */
  async function use(loaded: LoadedPack): Promise<void> {
    ({ files, pack } = loaded);
    await crew?.each((worker) => worker.call("reload", files).catch(() => {}));
  }
  async function end(): Promise<void> {
    await crew?.drain(settings.SHUTDOWN_GRACE_MS);
    await closeDependencies(parts, async () => admin?.drain(ADMIN_DRAIN_MS));
  }
  const stop = (): Promise<void> => (stopping ??= end());

  metrics.gauge(
    "rate_limit_keys",
    "Tokens and addresses whose requests are counted.",
    () => shared.limits.size,
  );
  try {
    crew = await startWorkerPool({
      size: settings.WORKERS,
      environment: workerEnvironment({ origin: v4.origin, authOrigin: v4.authOrigin }),
      api: { ...dutiesOf(own), purge, pack: () => files },
      onExit(worker, how) {
        figures.ended(worker);
        log.error({ code: "AG_WORKER_EXITED", how }, "a worker exited and is restarted");
      },
    });
    admin = await startAdminListener(settings, parts, {
      readiness,
      metrics: { text, contentType: metrics.contentType },
      pack: () => pack,
      purgeTokens: purge,
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: httpUrl(settings.HOST, crew.port),
    adminUrl: admin?.url,
    sandboxToken: v4.sandbox?.tokens.full,
    sandboxClient: settings.AUTH_URL ? undefined : v4.sandbox?.application()?.id,
    upstreamUrl: v4.origin.href.replace(/\/$/, ""),
    alpha: parts.initialPack.pack.dialect.alpha,
    readiness,
    reload: createPackReloader(settings, { initial: parts.initialPack, activate: use, log, metrics }),
    stop,
  };
}
