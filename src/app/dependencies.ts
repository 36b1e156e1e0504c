import type { AuditStore } from "../audit/store.ts";
import type { BrownOuts } from "../pipeline/brown-outs/brown-outs.ts";
import { createNativeProxy } from "../pipeline/native/native-proxy.ts";
import { createBodyReaders, type RequestBodies } from "../pipeline/http/read-body.ts";
import type { PackFiles } from "../mapping/load/load-pack.ts";
import { createMetrics, type Metrics } from "../observability/metrics/metrics.ts";
import type { Settings } from "../config/schema.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { createTokenLocks, type TokenLocks } from "../auth/token-locks.ts";
import { openTracing, type Tracing } from "../observability/tracing/tracing.ts";
import type { UpstreamClient } from "../upstream/client.ts";
import { openAuditStore } from "./audit-store.ts";
import { plannedBrownOuts } from "./brown-out-schedule.ts";
import { openOAuthServices, type OAuthServices, type OAuthServicesOptions } from "./oauth-services.ts";
import { connectV4 } from "./connect-v4.ts";
import { loadFiles, readPackOf, type LoadedPack } from "./load-pack.ts";
import { createLog, type Log } from "../observability/log.ts";
import { v4Service, type V4Service } from "./v4-service.ts";
import type { SharedState } from "./state-backends.ts";
import { openSharedState } from "./open-state.ts";
import { createInFlightTracker, type InFlightTracker } from "./in-flight.ts";

/** What a gateway is made of, opened and not yet listening. */
export interface Dependencies {
  readonly log: Log;
  /** The pack to begin with. */
  readonly initialPack: LoadedPack;
  readonly v4: V4Service;
  /** Undefined where auditing is off. */
  readonly audit: AuditStore | undefined;
  /** Grants and what clients asked for. */
  readonly state: KeyValueStore;
  readonly oauth: OAuthServices;
  readonly shared: SharedState;
  readonly metrics: Metrics;
  readonly brownOuts: BrownOuts;
  readonly upstream: UpstreamClient;
  readonly nativeProxy: ReturnType<typeof createNativeProxy>;
  readonly tokenLocks: TokenLocks;
  readonly bodies: RequestBodies;
  readonly inFlight: InFlightTracker;
  /** Undefined where no traces are wanted. */
  readonly tracing: Tracing | undefined;
}

/** How long the end waits for the records of requests that were broken off. */
const LAST_RECORDS_MS = 1000;

interface Stores {
  readonly audit: AuditStore | undefined;
  readonly shared: SharedState;
  readonly oauth: OAuthServices;
}

async function openAudit(settings: Settings, log: Log): Promise<AuditStore | undefined> {
  if (settings.AUDIT === "off") return undefined;
  const options = {
    durability: settings.AUDIT_DURABILITY,
    retentionDays: settings.AUDIT_RETENTION_DAYS,
    sizeLimit: settings.AUDIT_SIZE_LIMIT,
    onFault: (error: unknown) =>
      log.error({ code: "AG_AUDIT_STORE_FAILED", err: error }, "the audit store failed"),
  };
  return openAuditStore(settings, options);
}

async function openStores(
  settings: Settings,
  of: Omit<OAuthServicesOptions, "state">,
  share: (log: Log) => Promise<SharedState>,
): Promise<Stores> {
  const audit = await openAudit(settings, of.log);
  let shared: SharedState | undefined;
  try {
    shared = await share(of.log);
    const oauth = openOAuthServices(settings, { ...of, state: shared.state });
    // A store that is away is read by the first request that needs it.
    await oauth.epoch.read().catch(() => {});
    return { audit, shared, oauth };
  } catch (error) {
    await closeAll([() => audit?.close(), () => shared?.close()]).catch(() => {});
    throw error;
  }
}

export interface DependenciesOptions {
  /** The files of the pack to begin with. Default: as the settings say. */
  readonly files?: PackFiles;
  /** The pack to begin with, where it is made already. */
  readonly loaded?: LoadedPack;
  /** OpenTelemetry's variables. Default: those of the process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** What this process shares with others, and how. Default: as the settings say. */
  readonly stateBackend?: (log: Log) => Promise<SharedState>;
}

/**
 * Opens the parts of a gateway; v4 is not asked for anything yet.
 *
 * @throws {PackError} for a pack that can't be used, {AuditUnavailable} or {StateUnavailable} for a data folder
 *   that can't.
 */
export async function createDependencies(
  settings: Settings,
  {
    files,
    loaded,
    environment = process.env,
    stateBackend: share = (log) => openSharedState(settings, log),
  }: DependenciesOptions = {},
): Promise<Dependencies> {
  const log = createLog(settings.LOG_LEVEL, settings.LOG_FORMAT);
  const first = loaded ?? loadFiles(files ?? readPackOf(settings), settings);
  const brownOuts = plannedBrownOuts(settings, first.pack);
  const v4 = await v4Service(settings);
  const tracing = await openTracing(environment, (message) =>
    log.warn({ code: "AG_TRACE_EXPORT_FAILED", message }, "spans were not sent"),
  );
  const of = { pack: first.pack, log, authOrigin: v4.authOrigin, tracing };
  const stores = await openStores(settings, of, share).catch(async (error: unknown) => {
    await closeAll([() => v4.close(), () => tracing?.close()]).catch(() => {});
    throw error;
  });
  const { audit } = stores;
  const metrics = createMetrics();
  if (audit) metrics.watchAudit(audit.stats);
  const way = {
    origin: v4.origin,
    timeoutMs: settings.UPSTREAM_TIMEOUT_MS,
    connections: settings.UPSTREAM_CONNECTIONS,
  };
  const upstream = connectV4(way, { log, metrics });
  const bodies = createBodyReaders(settings.BODY_LIMIT);
  metrics.gauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.gauge("replicas", "Processes that share the limits, this one among them.", stores.shared.replicas);
  return {
    log,
    initialPack: first,
    v4,
    ...stores,
    state: stores.shared.state,
    metrics,
    brownOuts,
    upstream,
    nativeProxy: createNativeProxy({ ...way, breaker: upstream.breaker }),
    tokenLocks: createTokenLocks(),
    bodies,
    inFlight: createInFlightTracker(),
    tracing,
  };
}

/**
 * Closes all, one after the other, whatever fails: one that can't be closed keeps no other open.
 *
 * @throws what failed first, once all have been tried
 */
async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Ends the parts, once nothing is listened to any more; `last` are the listeners that may be asked until the end. */
export async function closeDependencies(parts: Dependencies, last: () => Promise<unknown>): Promise<void> {
  // What was broken off is recorded too: whether v4 did it can be found out there alone.
  await parts.inFlight.idle(LAST_RECORDS_MS);
  await closeAll([
    () => parts.audit?.close(),
    () => parts.oauth.close(),
    () => parts.shared.close(),
    last,
    () => parts.tracing?.close(),
    () => parts.metrics.close(),
    () => parts.upstream.close(),
    () => parts.v4.close(),
  ]);
}
