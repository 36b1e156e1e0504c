import type { ReadinessScope } from "../../admin/admin-app.ts";
import { createMetricsAggregate } from "../../observability/metrics/aggregate.ts";
import { observedUrlOf } from "../../config/observing.ts";
import type { Settings } from "../../config/setting-definitions.ts";
import type { PackFiles } from "../../mapping/load/load-pack.ts";
import { startWorkerPool, type WorkerPool } from "./worker-pool.ts";
import { startAdminListener } from "../admin-listener.ts";
import { httpUrl, type HttpServer } from "../http-server.ts";
import { readPackFiles, type LoadedPack } from "../loaded-pack.ts";
import {
  closeDependencies,
  createDependencies,
  type Dependencies,
  type DependenciesOptions,
} from "../dependencies.ts";
import { createPackReloader } from "../pack-reloader.ts";
import { ADMIN_DRAIN_MS, type Service } from "../start.ts";
import { workerEnvironment } from "./worker-process.ts";

/** Why the gateway is not ready, each reason once. A worker that is draining does not count: the others serve. */
async function checkReadiness(
  workers: WorkerPool,
  { audit, shared }: Dependencies,
  scope: ReadinessScope,
): Promise<readonly string[]> {
  const reasonsByWorker = await workers.each((worker) =>
    worker.call("readiness", scope).catch(() => ["a worker does not respond"]),
  );
  const serving = [...reasonsByWorker.values()].filter((reasons) => !reasons.includes("draining"));
  const reasons = [
    ...(serving.length === 0 ? ["no worker serves"] : []),
    ...serving.flat(),
    ...(scope === "all" ? [...[audit?.fault() ?? []].flat(), ...shared.problems()] : []),
  ];
  return [...new Set(reasons)];
}

/**
 * Starts a gateway of several processes: workers that serve requests, and this one, the primary. The primary has the
 * admin listener and the embedded sandbox. What the workers share is in Redis, as between replicas.
 *
 * @throws As `startService`, and {WorkerStartError} If a worker can't start.
 */
export async function startWorkers(
  settings: Settings,
  { isAnnounced }: Pick<DependenciesOptions, "isAnnounced"> = {},
): Promise<Service> {
  const dependencies = await createDependencies(settings, { servesRequests: false, isAnnounced });
  const { log, metrics, shared, v4, initialPack, packChoice } = dependencies;
  let { files, pack } = initialPack;
  const aggregate = createMetricsAggregate();
  let admin: HttpServer | undefined;
  let workers: WorkerPool | undefined;
  let stopping: Promise<void> | undefined;

  async function metricsText(): Promise<string> {
    const values = await workers?.each((worker) => worker.call("metrics").catch(() => []));
    return aggregate.text(new Map([[0, await metrics.json()], ...(values ?? [])]));
  }
  async function readiness(scope: ReadinessScope = "all"): Promise<readonly string[]> {
    if (stopping) return ["draining"];
    return workers ? checkReadiness(workers, dependencies, scope) : ["starting"];
  }
  async function sendToWorkers(packFiles: PackFiles): Promise<void> {
    await workers?.each((worker) => worker.call("reload", packFiles).catch(() => {}));
  }
  /** Workers get valid packs only. One that is restarted later starts with this pack too. */
  async function activate(loaded: LoadedPack): Promise<void> {
    ({ files, pack } = loaded);
    dependencies.sunset.usePack(pack);
    dependencies.rollout.usePack(pack);
    dependencies.comparisons.usePack(pack);
    await sendToWorkers(files);
  }
  const reloadPack = createPackReloader(settings, {
    initial: initialPack,
    readFiles: (active) => packChoice?.files(active) ?? readPackFiles(settings),
    activate,
    checkPack(next) {
      dependencies.sunset.checkPack(next);
      dependencies.rollout.checkPack(next);
    },
    log,
    metrics,
  });
  async function reload(next?: PackFiles): Promise<Error | undefined> {
    // Each worker reads the files of the operator, and the candidate, itself.
    // With the plan and the rollout, which name clients.
    dependencies.clients.reload();
    dependencies.notices.reload();
    await sendToWorkers(files);
    return reloadPack(next);
  }
  let unfollow: (() => void) | undefined;
  async function drain(): Promise<void> {
    unfollow?.();
    await Promise.all([workers?.drain(settings.SHUTDOWN_GRACE_MS), dependencies.notices.close()]);
    await closeDependencies(dependencies, async () => admin?.drain(ADMIN_DRAIN_MS));
  }
  const stop = (): Promise<void> => (stopping ??= drain());

  try {
    workers = await startWorkerPool({
      size: settings.WORKERS,
      environment: workerEnvironment({ origin: v4.origin, authOrigin: v4.authOrigin }),
      api: { pack: () => files },
      onExit(worker, how) {
        aggregate.removeProcess(worker);
        log.error({ code: "AG_WORKER_EXITED", how }, "a worker exited and is restarted");
      },
    });
    admin = await startAdminListener(settings, dependencies, {
      readiness,
      metrics: { text: metricsText, contentType: metrics.contentType },
      pack: () => pack,
      files: () => files,
      purgeTokens: shared.tokens.purge,
    });
    unfollow = packChoice?.follow(dependencies.state, reload, metrics);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: httpUrl(settings.HOST, workers.port),
    adminUrl: admin?.url,
    sandboxToken: v4.sandbox?.tokens.full,
    sandboxClient: settings.AUTH_URL ? undefined : v4.sandbox?.application()?.id,
    upstreamUrl: v4.origin.href.replace(/\/$/, ""),
    observedUrl: observedUrlOf(settings),
    dialect: initialPack.pack.dialect,
    readiness,
    reload,
    stop,
  };
}
