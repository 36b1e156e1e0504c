/** Opens all that a gateway depends on, as one list: it is closed in the opposite order. */
import {
  addAuditMetrics,
  type AuditStore,
  CLIENTS,
  type ClientsParts,
  openAudit,
  startAuditThread,
} from "../audit/index.ts";
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
  openLegacy,
  openOAuthServices,
  openSharedState,
  openUpstream,
  readLinkBase,
  type RequestBodies,
  type SharedState,
  type StateFullness,
  type TokenCheckBudget,
  type TokenLocks,
  UPSTREAM_TLS,
  type UpstreamClient,
  watchFullness,
} from "../gateway/index.ts";
import {
  closeAll,
  type Closer,
  countDroppedLines,
  createMetrics,
  type Feature,
  type FeatureParts,
  type KeyValueStore,
  type Log,
  type Metrics,
  openFeature,
  type OpenFeature,
  openLog,
  mayShareAddresses,
  type Settings,
  type Tracing,
  addressNetwork,
} from "../base/index.ts";
import type { HostServices } from "./host-services.ts";
import { openV4, type V4Service } from "./services/v4-service.ts";
import {
  COMPARISONS,
  type ComparisonsParts,
  loadInitialPack,
  PACK_CHOICE,
  type PackChoice,
  SHADOW,
  type OpenShadow,
} from "../compare/index.ts";
import type { LoadedPack, Pack } from "../pack/index.ts";
import { UPSTREAM_TOKENS, type UpstreamTokensParts } from "./services/read-upstream-tokens.ts";
import { openTracingOf } from "./services/open-tracing.ts";
import {
  checkPagePaths,
  createPageState,
  NO_PLAN_IN_FORCE,
  NOTICES,
  type PageState,
  ROLLOUT,
  type Rollout,
  PLAN,
  type PlanInForce,
} from "../migration/index.ts";

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

export interface DependenciesOptions {
  /** The pack, if it is loaded already. */
  readonly loaded?: LoadedPack | undefined;
  /** OpenTelemetry's variables. Default: those of the process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The services of the embedding program. */
  readonly host?: HostServices;
  /** Whether dates of the plan may be earlier than those that were published. Default: false. */
  readonly isAnnounced?: boolean | undefined;
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

async function openDependencies(
  settings: Settings,
  { loaded, environment = process.env, host = {}, isAnnounced = false }: DependenciesOptions,
  closers: Closer[],
): Promise<Dependencies> {
  const features: OpenFeature<FeatureParts<Pack> | undefined>[] = [];

  /** Adds something that is open to the list. */
  function add<T>(value: T, close: (value: T) => unknown): T {
    closers.push(() => close(value));
    return value;
  }

  async function addFeature<Needs, Parts extends FeatureParts<Pack> | undefined>(
    feature: Feature<Needs, Parts>,
    needs: Needs,
  ): Promise<Parts> {
    const opened = await openFeature(feature, settings, needs, { log, metrics, isReadOnly: false });
    features.push(add(opened, (each) => each.close()));
    return opened.parts;
  }

  // First: it starts while this thread compiles the pack.
  const auditThread = add(startAuditThread(settings), (thread) => thread?.terminate());
  const log = openLog(settings, host.logger);
  const metrics = add(createMetrics(host.metrics), (each) => each.close());
  const tracing = add(await openTracingOf(host.tracer, environment, log), (each) => each?.close());
  let closeListeners: Closer = () => {};
  closers.push(() => closeListeners());
  /** Opened when it is first needed: an invalid pack is refused before that, unless another pack may be promoted. */
  let opening: Promise<SharedState> | undefined;
  const sharedState = (): Promise<SharedState> =>
    (opening ??= openSharedState(settings, log).then((opened) => add(opened, (each) => each.close())));
  const packChoice = await addFeature(PACK_CHOICE, { openStore: async () => (await sharedState()).state });
  const initialPack = loadInitialPack(settings, loaded, packChoice);
  const { pack } = initialPack;
  // Only checked here: each active pack reads its own.
  const upstreamTokens = await addFeature(UPSTREAM_TOKENS, { pack });
  readLinkBase(settings, pack);
  checkPagePaths(settings, pack);
  const clients = await addFeature(CLIENTS, undefined);
  const tls = await addFeature(UPSTREAM_TLS, undefined);
  const v4 = add(await openV4(settings, pack, log), (each) => each.close());
  const auditContext = { log, pack, networkOf: addressNetwork, directory: clients.current };
  const audit = add(await openAudit(settings, auditContext, auditThread), (each) => each?.close());
  const shared = await sharedState();
  const { state } = shared;
  const plan = await addFeature(PLAN, { pack, clients, state, audit, isAnnounced });
  const legacy = add(openLegacy(settings, { log, metrics, tls }), (each) => each?.proxy.close());
  const rollout = (await addFeature(ROLLOUT, { pack, clients, state, legacy }))?.rollout;
  const planStatus = () => plan?.status();
  await addFeature(NOTICES, { directory: clients.current, state, audit, planStatus });
  const { report } = await addFeature(COMPARISONS, { pack, state });
  const tokenParameter = pack.credentials.client?.queryParameter;
  const shadow = await addFeature(SHADOW, { sides: rollout, legacy, state, report, tokenParameter });
  const oauth = add(
    openOAuthServices(settings, {
      pack,
      log,
      authOrigin: v4.authOrigin,
      tracing,
      secureContext: tls?.contextFor(v4.authOrigin?.origin === v4.origin.origin),
      state,
    }),
    (each) => each.close(),
  );
  // If the store is down, the first request that needs the epoch reads it.
  await oauth.epoch.read().catch(() => {});
  const upstreamOptions = {
    name: pack.dialect.upstream.name,
    origin: v4.origin,
    timeoutMs: settings.UPSTREAM_TIMEOUT_MS,
    connections: settings.UPSTREAM_CONNECTIONS,
    secureContext: tls?.contextFor(true),
    breaker: { areAddressesShared: mayShareAddresses(settings) },
  };
  const upstream = add(openUpstream(upstreamOptions, log, metrics), (each) => each.close());
  const nativeProxy = add(createForward({ ...upstreamOptions, breaker: upstream.breaker }), (each) =>
    each.close(),
  );
  const stateFullness = add(watchFullness(state, { log, metrics }), (each) => each.close());
  const tokenChecks = add(createTokenCheckBudget(), (each) => each.close());
  const bodies = createBodyReaders(settings.BODY_LIMIT);
  const inFlight = createInFlightTracker();
  if (audit) addAuditMetrics(metrics, audit.stats);
  metrics.addGauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.addTotal(
    "log_dropped_total",
    "Log lines that were dropped because nobody read standard error.",
    countDroppedLines,
  );
  metrics.addGauge("replicas", "Processes that share the rate limits, including this one.", shared.replicas);
  return {
    log,
    initialPack,
    packChoice,
    tokensOfUpstream: upstreamTokens,
    v4,
    audit,
    shared,
    oauth,
    state,
    stateFullness,
    metrics,
    features,
    plan: plan?.rules ?? NO_PLAN_IN_FORCE,
    clients,
    reportComparison: report,
    shadow,
    upstream,
    nativeProxy,
    legacy,
    rollout,
    tokenLocks: createTokenLocks(),
    tokenChecks,
    migrationPages: settings.MIGRATION_PAGE ? createPageState() : undefined,
    bodies,
    inFlight,
    onUntrustedProxy: createProxyWarning(log),
    tracing,
    async close(lastListeners) {
      closeListeners = lastListeners;
      // Aborted requests are recorded too: only their record says whether v4 executed them.
      await inFlight.idle(LAST_RECORDS_MS);
      await closeAll(closers);
    },
  };
}
