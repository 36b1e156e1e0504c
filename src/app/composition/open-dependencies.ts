/** Opens the services of a gateway in order: the stores, the operator's features, then the services that call v4. */
import { CLIENTS, openAudit, startAuditThread } from "../../audit/index.ts";
import {
  Forward,
  openLegacy,
  openOAuthServices,
  openSharedState,
  openUpstream,
  readLinkBase,
  type SharedState,
  UPSTREAM_TLS,
} from "../../gateway/index.ts";
import {
  type Closer,
  createMetrics,
  type Feature,
  type FeatureParts,
  type Log,
  type Metrics,
  openFeature,
  type OpenFeature,
  openLog,
  mayShareAddresses,
  type Settings,
  addressNetwork,
} from "../../base/index.ts";
import type { HostServices } from "./host-services.ts";
import { openV4 } from "../services/v4-service.ts";
import { COMPARISONS, loadInitialPack, PACK_CHOICE, SHADOW } from "../../compare/index.ts";
import type { LoadedPack, Pack } from "../../pack/index.ts";
import { UPSTREAM_TOKENS } from "../services/read-upstream-tokens.ts";
import { openTracingOf } from "../tracing/open-tracing.ts";
import { checkPagePaths, NO_PLAN_IN_FORCE, NOTICES, ROLLOUT, PLAN } from "../../migration/index.ts";

export interface DependenciesOptions {
  /** The pack, if it was already loaded. */
  readonly loaded?: LoadedPack | undefined;
  /** OpenTelemetry's variables. Default: the environment of the process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** The services of the embedding program. */
  readonly host?: HostServices;
  /** Whether dates of the plan may be earlier than the published ones. Default: false. */
  readonly isAnnounced?: boolean | undefined;
}

/** Opens dependencies in sequence, and stores how to close each of them. */
export class Opener {
  readonly features: OpenFeature<FeatureParts<Pack> | undefined>[] = [];
  readonly #settings: Settings;
  readonly #closers: Closer[];

  constructor(settings: Settings, closers: Closer[]) {
    this.#settings = settings;
    this.#closers = closers;
  }

  /** Adds an open dependency to the list. */
  add<T>(value: T, close: (value: T) => unknown): T {
    this.#closers.push(() => close(value));
    return value;
  }

  async addFeature<Needs, Parts extends FeatureParts<Pack> | undefined>(
    feature: Feature<Needs, Parts>,
    needs: Needs,
    { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
  ): Promise<Parts> {
    const opened = await openFeature(feature, this.#settings, needs, { log, metrics, isReadOnly: false });
    this.features.push(this.add(opened, (each) => each.close()));
    return opened.parts;
  }
}

/** Opens the log, the pack, v4, and the stores. */
export async function openStores(
  settings: Settings,
  { loaded, environment = process.env, host = {} }: DependenciesOptions,
  opener: Opener,
) {
  // Started first, so that it can start while this thread compiles the pack.
  const auditThread = opener.add(startAuditThread(settings), (thread) => thread?.terminate());
  const log = openLog(settings, host.logger);
  const metrics = opener.add(createMetrics(host.metrics), (each) => each.close());
  const tracing = opener.add(await openTracingOf(host.tracer, environment, log), (each) => each?.close());
  const listeners: { close: Closer } = { close: () => {} };
  opener.add(listeners, ({ close }) => close());
  const watched = { log, metrics };
  /** Opened on first use: an invalid pack is rejected before that, unless a different pack may be promoted. */
  let opening: Promise<SharedState> | undefined;
  const sharedState = (): Promise<SharedState> =>
    (opening ??= openSharedState(settings, log).then((opened) => opener.add(opened, (each) => each.close())));
  const openStore = async () => (await sharedState()).state;
  const packChoice = await opener.addFeature(PACK_CHOICE, { openStore }, watched);
  const initialPack = loadInitialPack(settings, loaded, packChoice);
  const { pack } = initialPack;
  // The tokens are only validated here. Each active pack reads its own tokens.
  const tokensOfUpstream = await opener.addFeature(UPSTREAM_TOKENS, { pack }, watched);
  readLinkBase(settings, pack);
  checkPagePaths(settings, pack);
  const clients = await opener.addFeature(CLIENTS, undefined, watched);
  const tls = await opener.addFeature(UPSTREAM_TLS, undefined, watched);
  const v4 = opener.add(await openV4(settings, pack, log), (each) => each.close());
  const auditContext = { log, pack, networkOf: addressNetwork, directory: clients.current };
  const audit = opener.add(await openAudit(settings, auditContext, auditThread), (each) => each?.close());
  const shared = await sharedState();
  return {
    log,
    metrics,
    /** The tracing of requests; undefined if it is off. */
    tracing,
    /** The choice between pack and candidate; undefined if there is no candidate. */
    packChoice,
    initialPack,
    /** The tokens that are sent to the upstream instead of the clients' tokens. */
    tokensOfUpstream,
    listeners,
    clients,
    tls,
    v4,
    /** The audit; undefined if it is off. */
    audit,
    shared,
    /** Token records, and the scopes that applications requested. */
    state: shared.state,
  };
}

export type Stores = Awaited<ReturnType<typeof openStores>>;

/** Opens the plan, the comparisons, the old service, and the roll-out, in the order of their pages in the console. */
export async function openFeatures(
  settings: Settings,
  stores: Stores,
  { isAnnounced = false }: DependenciesOptions,
  opener: Opener,
) {
  const { log, metrics, initialPack, clients, tls, audit, state } = stores;
  const { pack } = initialPack;
  const plan = await opener.addFeature(PLAN, { pack, clients, state, audit, isAnnounced }, stores);
  const { report } = await opener.addFeature(COMPARISONS, { pack, state }, stores);
  const legacy = opener.add(openLegacy(settings, { log, metrics, tls }), (each) => each?.proxy.close());
  const rollout = (await opener.addFeature(ROLLOUT, { pack, clients, state, legacy }, stores))?.rollout;
  const planStatus = () => plan?.status();
  await opener.addFeature(NOTICES, { directory: clients.current, state, audit, planStatus }, stores);
  const tokenParameter = pack.credentials.client?.queryParameter;
  const compared = { sides: rollout, legacy, state, report, tokenParameter };
  const shadow = await opener.addFeature(SHADOW, compared, stores);
  return {
    /** The plan for the end of the old API. */
    plan: plan?.rules ?? NO_PLAN_IN_FORCE,
    /** The old service. Undefined if `LEGACY_URL` is not set. */
    legacy,
    /** Decides which clients get the translation, and which get the old service. Undefined: all get the translation. */
    rollout,
    /** Stores results of comparisons. */
    reportComparison: report,
    /** Comparisons of the old service and the translation; undefined if there is no roll-out. */
    shadow,
  };
}

/** Opens the services that call v4. */
export async function openUpstreamServices(
  settings: Settings,
  { log, metrics, tracing, initialPack: { pack }, tls, v4, state }: Stores,
  opener: Opener,
) {
  const oauth = opener.add(
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
  // If the store is down, the first request that needs the epoch reads it later.
  await oauth.epoch.read().catch(() => {});
  const options = {
    name: pack.dialect.upstream.name,
    origin: v4.origin,
    timeoutMs: settings.UPSTREAM_TIMEOUT_MS,
    connections: settings.UPSTREAM_CONNECTIONS,
    secureContext: tls?.contextFor(true),
  };
  const areAddressesShared = mayShareAddresses(settings);
  const upstream = opener.add(openUpstream({ ...options, areAddressesShared }, log, metrics), (each) =>
    each.close(),
  );
  const forward = new Forward({ ...options, breaker: upstream.breaker });
  const nativeProxy = opener.add(forward, (each) => each.close());
  return { oauth, upstream, nativeProxy };
}
