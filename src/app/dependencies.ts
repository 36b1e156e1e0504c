/** Opens and closes all that a gateway depends on. It is one file, since it is one list: what is opened in this order is closed in another. */
import {
  addAuditMetrics,
  type AuditStore,
  type ClientsService,
  openAudit,
  openClients,
  startAuditThread,
} from "../audit/index.ts";
import {
  addressNetwork,
  createBodyReaders,
  createInFlightTracker,
  createNativeProxy,
  createProxyWarning,
  createTokenCheckBudget,
  createTokenLocks,
  type InFlightTracker,
  type LegacyService,
  type OAuthServices,
  type OnUntrustedProxy,
  openLegacy,
  openOAuthServices,
  openSharedState,
  openUpstream,
  openUpstreamTls,
  readLinkBase,
  type RequestBodies,
  type SharedState,
  type StateFullness,
  type TokenCheckBudget,
  type TokenLocks,
  type UpstreamClient,
  type UpstreamTls,
  watchFullness,
} from "../gateway/index.ts";
import {
  countDroppedLines,
  createMetrics,
  type KeyValueStore,
  type Log,
  type Metrics,
  openLog,
  type Settings,
  type Tracing,
} from "../base/index.ts";
import type { HostServices } from "./host-services.ts";
import { openV4, type V4Service } from "./services/v4-service.ts";
import {
  type ComparisonsService,
  loadInitialPack,
  openComparisonsService,
  openPackChoice,
  openShadow,
  type PackChoice,
  type ShadowService,
} from "../compare/index.ts";
import type { LoadedPack } from "../pack/index.ts";
import { readUpstreamTokens } from "./services/read-upstream-tokens.ts";
import { openTracingOf } from "./services/open-tracing.ts";
import {
  checkPagePaths,
  createPageState,
  type NoticesService,
  openNotices,
  openRollout,
  openSunset,
  type PageState,
  type RolloutService,
  type SunsetService,
} from "../migration/index.ts";

/** What a gateway needs to serve requests, opened, before it listens. */
export interface Dependencies {
  readonly log: Log;
  /** The pack at the start. */
  readonly initialPack: LoadedPack;
  /** Undefined without a candidate. */
  readonly packChoice: PackChoice | undefined;
  readonly v4: V4Service;
  /** The certificates towards v4; undefined if no setting names any. */
  readonly tls: UpstreamTls | undefined;
  /** Undefined if auditing is off. */
  readonly audit: AuditStore | undefined;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  readonly oauth: OAuthServices;
  readonly shared: SharedState;
  readonly stateFullness: StateFullness;
  readonly metrics: Metrics;
  /** The plan by which the old API ends. */
  readonly sunset: SunsetService;
  /** Notices about the migration. */
  readonly notices: NoticesService;
  /** The names of clients. */
  readonly clients: ClientsService;
  /** Results of comparisons. */
  readonly comparisons: ComparisonsService;
  /** Comparisons of the old service and the translation; undefined without a rollout. */
  readonly shadow: ShadowService | undefined;
  readonly upstream: UpstreamClient;
  readonly nativeProxy: ReturnType<typeof createNativeProxy>;
  /** The old service; undefined if the settings name none. */
  readonly legacy: LegacyService | undefined;
  /** Who gets the translation, and who the old service. */
  readonly rollout: RolloutService;
  readonly tokenLocks: TokenLocks;
  readonly tokenChecks: TokenCheckBudget;
  /** What the pages for clients share; undefined if they are off. */
  readonly migrationPages: PageState | undefined;
  readonly bodies: RequestBodies;
  readonly inFlight: InFlightTracker;
  readonly onUntrustedProxy: OnUntrustedProxy;
  /** Undefined if tracing is off. */
  readonly tracing: Tracing | undefined;
}

export interface DependenciesOptions {
  /** The pack, if it is loaded already. */
  readonly loaded?: LoadedPack | undefined;
  /** OpenTelemetry's variables. Default: those of the process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** What the embedding program gives to the gateway. */
  readonly host?: HostServices;
  /** Whether dates of the sunset plan may be earlier than those that were published. Default: false. */
  readonly isAnnounced?: boolean | undefined;
}

/** How long closing waits for the audit records of requests that were aborted. */
const LAST_RECORDS_MS = 1000;

/** What is open. It is closed in the opposite order, also if one can't be opened. */
type Closers = (() => unknown)[];

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
  const closers: Closers = [];
  try {
    return await openDependencies(settings, options, closers);
  } catch (error) {
    await closeAll(closers.toReversed()).catch(() => {});
    throw error;
  }
}

async function openDependencies(
  settings: Settings,
  { loaded, environment = process.env, host = {}, isAnnounced = false }: DependenciesOptions,
  closers: Closers,
): Promise<Dependencies> {
  // First: it starts while this thread compiles the pack.
  const auditThread = startAuditThread(settings);
  closers.push(() => auditThread?.terminate());
  const log = openLog(settings, host.logger);
  const packChoice = await openPackChoice(settings, log);
  const initialPack = loadInitialPack(settings, loaded, packChoice);
  const { pack } = initialPack;
  // Only checked here, before anything is opened: each active pack reads its own.
  readUpstreamTokens(settings, pack);
  readLinkBase(settings, pack);
  checkPagePaths(settings, pack);
  const metrics = createMetrics(host.metrics);
  closers.push(metrics.close);
  const tracing = await openTracingOf(host.tracer, environment, log);
  closers.push(() => tracing?.close());
  let checkDirectory: RolloutService["checkDirectory"] = () => {};
  const clients = openClients(settings, log, metrics, (next, active) => checkDirectory(next, active));
  closers.push(clients.close);
  const tls = openUpstreamTls(settings, log);
  closers.push(() => tls?.close());
  const v4 = await openV4(settings, pack, log);
  closers.push(() => v4.close());
  const auditContext = { log, pack, networkOf: addressNetwork, directory: clients.current };
  const audit = await openAudit(settings, auditContext, auditThread);
  closers.push(() => audit?.close());
  const shared = await openSharedState(settings, log);
  closers.push(() => shared.close());
  const sunset = await openSunset(settings, {
    pack,
    clients,
    state: shared.state,
    audit,
    replicas: shared.replicas,
    isAnnounced,
    log,
    metrics,
  });
  closers.push(sunset.close);
  const legacy = openLegacy(settings, { log, metrics, tls });
  const rollout = await openRollout(settings, {
    pack,
    clients,
    state: shared.state,
    legacy,
    log,
    metrics,
  });
  closers.push(rollout.close);
  ({ checkDirectory } = rollout);
  const notices = openNotices(settings, {
    directory: clients.current,
    state: shared.state,
    audit,
    sunset,
    log,
    metrics,
  });
  closers.push(notices.close);
  const comparisons = openComparisonsService(settings, { pack, state: shared.state, metrics, log });
  closers.push(comparisons.close);
  const shadow = openShadow(settings, {
    rollout: rollout.rollout,
    legacy,
    state: shared.state,
    report: comparisons.report,
    tokenParameter: pack.credentials.client?.queryParameter,
    log,
    metrics,
  });
  closers.push(() => shadow?.close());
  const oauth = openOAuthServices(settings, {
    pack,
    log,
    authOrigin: v4.authOrigin,
    tracing,
    secureContext: tls?.contextFor(v4.authOrigin?.origin === v4.origin.origin),
    state: shared.state,
  });
  // If the store is down, the first request that needs the epoch reads it.
  await oauth.epoch.read().catch(() => {});
  const upstreamOptions = {
    name: pack.dialect.upstream.name,
    origin: v4.origin,
    timeoutMs: settings.UPSTREAM_TIMEOUT_MS,
    connections: settings.UPSTREAM_CONNECTIONS,
    secureContext: tls?.contextFor(true),
  };
  const upstream = openUpstream(upstreamOptions, log, metrics);
  const bodies = createBodyReaders(settings.BODY_LIMIT);
  if (audit) addAuditMetrics(metrics, audit.stats);
  metrics.addGauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.addTotal("log_dropped_total", "Log lines that nobody read.", countDroppedLines);
  metrics.addGauge("replicas", "Processes that share the limits, this one among them.", shared.replicas);
  return {
    log,
    initialPack,
    packChoice,
    v4,
    tls,
    audit,
    shared,
    oauth,
    state: shared.state,
    stateFullness: watchFullness(shared.state, { log, metrics }),
    metrics,
    sunset,
    notices,
    clients,
    comparisons,
    shadow,
    upstream,
    nativeProxy: createNativeProxy({ ...upstreamOptions, breaker: upstream.breaker }),
    legacy,
    rollout,
    tokenLocks: createTokenLocks(),
    tokenChecks: createTokenCheckBudget(),
    migrationPages: settings.MIGRATION_PAGE ? createPageState() : undefined,
    bodies,
    inFlight: createInFlightTracker(),
    onUntrustedProxy: createProxyWarning(log),
    tracing,
  };
}

/**
 * Closes the dependencies, once the public listener is closed.
 *
 * @param closeListeners Closes the listeners that serve requests until the stores are closed.
 * @throws The first error, once all have been tried: one that can't be closed keeps no other open.
 */
export async function closeDependencies(
  dependencies: Dependencies,
  closeListeners: () => Promise<unknown>,
): Promise<void> {
  // Aborted requests are recorded too: only their record says whether v4 executed them.
  await dependencies.inFlight.idle(LAST_RECORDS_MS);
  await closeAll([
    () => dependencies.tokenChecks.close(),
    // They read the audit store and write the state store.
    () => dependencies.notices.close(),
    () => dependencies.audit?.close(),
    () => dependencies.oauth.close(),
    () => dependencies.stateFullness.close(),
    () => dependencies.shadow?.close(),
    () => dependencies.comparisons.close(),
    () => dependencies.sunset.close(),
    () => dependencies.rollout.close(),
    () => dependencies.shared.close(),
    closeListeners,
    () => dependencies.tracing?.close(),
    () => dependencies.metrics.close(),
    () => dependencies.nativeProxy.close(),
    () => dependencies.legacy?.proxy.close(),
    () => dependencies.upstream.close(),
    () => dependencies.tls?.close(),
    () => dependencies.clients.close(),
    () => dependencies.v4.close(),
  ]);
}

/** Calls all functions in order. @throws The first error, once all have been called. */
async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
