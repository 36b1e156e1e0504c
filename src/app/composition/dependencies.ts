/** Opens all services of a gateway in order, and closes them in reverse order. */
import { addAuditMetrics } from "../../audit/index.ts";
import {
  createBodyReaders,
  createInFlightTracker,
  createProxyWarning,
  TokenCheckBudget,
  createTokenLocks,
  type RequestBodies,
  watchFullness,
} from "../../gateway/index.ts";
import { closeAll, type Closer, countDroppedLines, type Settings } from "../../base/index.ts";
import { createPageState } from "../../migration/index.ts";
import {
  type DependenciesOptions,
  Opener,
  openFeatures,
  openStores,
  openUpstreamServices,
  type Stores,
} from "./open-dependencies.ts";

/** The services that a gateway opens before it listens. */
export type Dependencies = Awaited<ReturnType<typeof openDependencies>>;

/** Milliseconds that closing waits for the audit records of aborted requests. */
const LAST_RECORDS_MS = 1000;

/**
 * Opens the dependencies of a gateway. No request is sent to v4 yet.
 *
 * @throws {PackError} If the pack is invalid.
 * @throws {AuditUnavailableError} or {StateUnavailableError} If a store can't be opened.
 * @throws {SeedError} If the seed file of the sandbox is invalid.
 * @throws {SettingsError} If the sandbox is used with a pack for a different v4, or if tokens that the pack needs are
 *   missing.
 */
export async function createDependencies(
  settings: Settings,
  options: DependenciesOptions = {},
): Promise<Dependencies> {
  const closers: Closer[] = [];
  try {
    return await openDependencies(settings, options, closers);
  } catch (error) {
    await closeAll(closers).catch(() => {});
    throw error;
  }
}

/** Adds the metrics of the process and of its stores. */
function addMetrics({ metrics, audit, state, shared }: Stores, bodies: RequestBodies): void {
  if (audit) {
    addAuditMetrics(metrics, audit.stats);
    metrics.addGauge("audit_store_up", "1 while the audit store can be written, otherwise 0.", () =>
      Number(audit.ready()),
    );
  }
  metrics.addGauge(
    "state_store_up",
    "1 while Redis or the SQLite state store can be used, otherwise 0.",
    () => Number(state.fault() === undefined && shared.problems().length === 0),
  );
  metrics.addGauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.addTotal(
    "log_dropped_total",
    "Log lines dropped because no program read standard error.",
    countDroppedLines,
  );
  metrics.addGauge("replicas", "Processes that share the rate limits.", shared.replicas);
}

async function openDependencies(settings: Settings, options: DependenciesOptions, closers: Closer[]) {
  const opener = new Opener(settings, closers);
  const stores = await openStores(settings, options, opener);
  const { log, metrics, state, listeners } = stores;
  const features = await openFeatures(settings, stores, options, opener);
  const services = await openUpstreamServices(settings, stores, opener);
  const bodies = createBodyReaders(settings.BODY_LIMIT);
  const inFlight = createInFlightTracker();
  addMetrics(stores, bodies);
  return {
    ...stores,
    ...features,
    ...services,
    /** The operator's features. Other members of this type are the parts of features that are needed for requests. */
    features: opener.features,
    stateFullness: opener.add(watchFullness(state, { log, metrics }), (each) => each.close()),
    tokenChecks: opener.add(new TokenCheckBudget(), (each) => each.close()),
    tokenLocks: createTokenLocks(),
    /** The shared part of the pages for clients. Undefined if the pages are off. */
    migrationPages: settings.MIGRATION_PAGE ? createPageState() : undefined,
    bodies,
    inFlight,
    onUntrustedProxy: createProxyWarning(log),
    /**
     * Closes all services, after the public listener was closed.
     *
     * @param closeListeners Closes the listeners that serve requests until the stores are closed.
     * @throws the first error, after all services were closed
     */
    async close(closeListeners: Closer): Promise<void> {
      listeners.close = closeListeners;
      // Aborted requests are recorded as well, because only the record shows whether v4 executed them.
      await inFlight.idle(LAST_RECORDS_MS);
      await closeAll(closers);
    },
  };
}
