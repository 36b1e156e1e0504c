import { errorText } from "../../config/error-text.ts";
import { isObserving } from "../../config/observing.ts";
import type { Settings } from "../../config/setting-definitions.ts";
import type { PrimaryApi, WorkerApi } from "./rpc-api.ts";
import { createRpc } from "./ipc-rpc.ts";
import { guardProcess } from "../process-guard.ts";
import { createLog } from "../../observability/log.ts";
import { createDependencies } from "../dependencies.ts";
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

/** The settings of a worker: no admin listener, the v4 of the primary, and no notices, which the primary sends. */
function workerSettings(settings: Settings): Settings {
  const { origin, authOrigin } = JSON.parse(process.env[VARIABLE] ?? "") as Record<string, string>;
  const own = { ...settings, ADMIN_PORT: "off", NOTICES_FILE: undefined } as const;
  if (isObserving(settings)) return own;
  return {
    ...own,
    UPSTREAM_URL: new URL(origin ?? ""),
    AUTH_URL: authOrigin === undefined ? undefined : new URL(authOrigin),
  };
}

/**
 * Serves requests as a worker until the primary drains it. Workers ignore signals: a terminal sends them to all
 * processes, and the primary handles them. Nor do they announce a plan: one that is restarted later would accept dates
 * that nobody has announced.
 *
 * @returns The exit code.
 */
export async function runWorker(given: Settings): Promise<number> {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
  const settings = workerSettings(given);
  const guard = guardProcess(createLog(settings.LOG_LEVEL, settings.LOG_FORMAT), settings.SHUTDOWN_GRACE_MS);
  const drained = Promise.withResolvers<void>();
  const api: WorkerApi = {
    readiness: (scope) => service.readiness(scope),
    metrics: () => dependencies.metrics.json(),
    reload(files) {
      void service.reload(files);
    },
    drain: drained.resolve,
  };
  const primary = createRpc<PrimaryApi>(process, { ...api });
  const dependencies = await createDependencies(settings, {
    files: await primary.callDuringStart("pack"),
  });
  let service: ListeningService;
  try {
    service = await serveDependencies(settings, dependencies, {
      requestsPerConnection: REQUESTS_PER_CONNECTION,
    });
  } catch (error) {
    // The primary reports it once for all workers.
    await primary.callDuringStart("refused", errorText(error));
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
