/** Opens all that a gateway depends on, as one list: it is closed in the opposite order. */
import { addAuditMetrics, type AuditStore, type ClientsParts } from "../audit/index.ts";
import {
  createBodyReaders,
  createInFlightTracker,
  createForward,
  createProxyWarning,
  createTokenCheckBudget,
  createTokenLocks,
  type InFlightTracker,
  type LegacyService,
  type OAuthServices,
  type OnUntrustedProxy,
  type RequestBodies,
  type SharedState,
  type StateFullness,
  type TokenCheckBudget,
  type TokenLocks,
  type UpstreamClient,
  watchFullness,
} from "../gateway/index.ts";
import {
  closeAll,
  type Closer,
  countDroppedLines,
  type FeatureParts,
  type KeyValueStore,
  type Log,
  type Metrics,
  type OpenFeature,
  type Settings,
  type Tracing,
} from "../base/index.ts";
import type { V4Service } from "./services/v4-service.ts";
import type { ComparisonsParts, PackChoice, OpenShadow } from "../compare/index.ts";
import type { LoadedPack, Pack } from "../pack/index.ts";
import type { UpstreamTokensParts } from "./services/read-upstream-tokens.ts";
import { createPageState, type PageState, type Rollout, type PlanInForce } from "../migration/index.ts";
import {
  type DependenciesOptions,
  Opener,
  openFeatures,
  openStores,
  openUpstreamServices,
  type Stores,
} from "./open-dependencies.ts";

/** The services that a gateway opens before it listens. */
export interface Dependencies {
  readonly log: Log;
  /** The pack at the start. */
  readonly initialPack: LoadedPack;
  /** Undefined without a candidate. */
  readonly packChoice: PackChoice | undefined;
  /** The tokens that the upstream gets in place of the clients'. */
  readonly tokensOfUpstream: UpstreamTokensParts;
  readonly v4: V4Service;
  /** Undefined if auditing is off. */
  readonly audit: AuditStore | undefined;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  readonly oauth: OAuthServices;
  readonly shared: SharedState;
  readonly stateFullness: StateFullness;
  readonly metrics: Metrics;
  /** The operator's features. The rest of this list has what requests need of them. */
  readonly features: readonly OpenFeature<FeatureParts<Pack> | undefined>[];
  /** The plan by which the old API ends. */
  readonly plan: PlanInForce;
  /** The names of clients. */
  readonly clients: Pick<ClientsParts, "current">;
  /** Takes results of comparisons. */
  readonly reportComparison: ComparisonsParts["report"];
  /** Comparisons of the old service and the translation; undefined without a rollout. */
  readonly shadow: OpenShadow | undefined;
  readonly upstream: UpstreamClient;
  readonly nativeProxy: ReturnType<typeof createForward>;
  /** The old service; undefined if the settings name none. */
  readonly legacy: LegacyService | undefined;
  /** Decides who gets the translation and who the old service; undefined: all get the translation. */
  readonly rollout: Rollout | undefined;
  readonly tokenLocks: TokenLocks;
  readonly tokenChecks: TokenCheckBudget;
  /** The shared part of the pages for clients; undefined if they are off. */
  readonly migrationPages: PageState | undefined;
  readonly bodies: RequestBodies;
  readonly inFlight: InFlightTracker;
  readonly onUntrustedProxy: OnUntrustedProxy;
  /** Undefined if tracing is off. */
  readonly tracing: Tracing | undefined;
  /**
   * Closes all of it, once the public listener is closed.
   *
   * @param closeListeners Closes the listeners that serve requests until the stores are closed.
   * @throws The first error, once all have been tried.
   */
  close(closeListeners: Closer): Promise<void>;
}

/** How long closing waits for the audit records of requests that were aborted. */
const LAST_RECORDS_MS = 1000;

/**
 * Opens the dependencies of a gateway. v4 gets no request yet.
 *
 * @throws {PackError} If the pack is invalid.
 * @throws {AuditUnavailableError} or {StateUnavailableError} If a store can't be opened.
 * @throws {SeedError} If the seed file of the sandbox is invalid.
 * @throws {SettingsError} If the sandbox is used with a pack for another v4, or if tokens that the pack needs are missing.
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
function addMetrics({ metrics, audit, shared }: Stores, bodies: RequestBodies): void {
  if (audit) addAuditMetrics(metrics, audit.stats);
  metrics.addGauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.addTotal(
    "log_dropped_total",
    "Log lines dropped because nobody read standard error.",
    countDroppedLines,
  );
  metrics.addGauge("replicas", "Processes that share the rate limits.", shared.replicas);
}

async function openDependencies(
  settings: Settings,
  options: DependenciesOptions,
  closers: Closer[],
): Promise<Dependencies> {
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
    features: opener.features,
    stateFullness: opener.add(watchFullness(state, { log, metrics }), (each) => each.close()),
    tokenChecks: opener.add(createTokenCheckBudget(), (each) => each.close()),
    tokenLocks: createTokenLocks(),
    migrationPages: settings.MIGRATION_PAGE ? createPageState() : undefined,
    bodies,
    inFlight,
    onUntrustedProxy: createProxyWarning(log),
    async close(closeListeners) {
      listeners.close = closeListeners;
      // Aborted requests are recorded too: only their record says whether v4 executed them.
      await inFlight.idle(LAST_RECORDS_MS);
      await closeAll(closers);
    },
  };
}
