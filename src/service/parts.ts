import type { AuditStore } from "../audit/store.ts";
import type { BrownOuts } from "../brown-outs/brown-outs.ts";
import { createNativeLane } from "../gateway/native-lane.ts";
import { readRequestBodies, type RequestBodies } from "../gateway/read-bytes.ts";
import type { PackFiles } from "../mapping/load.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import type { Settings } from "../settings/table.ts";
import type { KeyedStore } from "../shared-state/keyed-store.ts";
import { takeTurns, type Turns } from "../tokens/turns.ts";
import { openTracing } from "../tracing/open.ts";
import type { Tracing } from "../tracing/span.ts";
import type { UpstreamClient } from "../upstream/client.ts";
import { openAuditStore } from "./audit-store.ts";
import { plannedBrownOuts } from "./brown-outs.ts";
import { openExchanged, type Exchanged, type ExchangedParts } from "./exchanged.ts";
import { connectV4 } from "./connect-v4.ts";
import { loadFiles, readPackOf, type LoadedPack } from "./loaded-pack.ts";
import { createLog, type Log } from "./log.ts";
import { v4Service, type V4Service } from "./sandbox.ts";
import type { Shared } from "./share.ts";
import { openShared } from "./shared.ts";
import { workUnderWay, type UnderWay } from "./under-way.ts";

/** What a gateway is made of, opened and not yet listening. */
export interface Parts {
  readonly log: Log;
  /** The pack to begin with. */
  readonly first: LoadedPack;
  readonly v4: V4Service;
  /** Undefined where auditing is off. */
  readonly audit: AuditStore | undefined;
  /** Grants and what clients asked for. */
  readonly state: KeyedStore;
  readonly exchanged: Exchanged;
  readonly shared: Shared;
  readonly metrics: Metrics;
  readonly brownOuts: BrownOuts;
  readonly upstream: UpstreamClient;
  readonly native: ReturnType<typeof createNativeLane>;
  readonly turns: Turns;
  readonly bodies: RequestBodies;
  readonly underWay: UnderWay;
  /** Undefined where no traces are wanted. */
  readonly tracing: Tracing | undefined;
}

/** How long the end waits for the records of requests that were broken off. */
const LAST_RECORDS_MS = 1000;

interface Stores {
  readonly audit: AuditStore | undefined;
  readonly shared: Shared;
  readonly exchanged: Exchanged;
}

async function openAudit(settings: Settings, log: Log): Promise<AuditStore | undefined> {
  if (settings.AUDIT === "off") return undefined;
  const options = {
    durability: settings.AUDIT_DURABILITY,
    retentionDays: settings.AUDIT_RETENTION_DAYS,
    sizeLimit: settings.AUDIT_SIZE_LIMIT,
    onFault: (error: unknown) => log.error({ err: error }, "the audit store failed"),
  };
  return openAuditStore(settings, options);
}

async function openStores(
  settings: Settings,
  of: Omit<ExchangedParts, "state">,
  share: (log: Log) => Promise<Shared>,
): Promise<Stores> {
  const audit = await openAudit(settings, of.log);
  let shared: Shared | undefined;
  try {
    shared = await share(of.log);
    return { audit, shared, exchanged: openExchanged(settings, { ...of, state: shared.state }) };
  } catch (error) {
    await closeAll([() => audit?.close(), () => shared?.close()]).catch(() => {});
    throw error;
  }
}

export interface PartsOptions {
  /** The files of the pack to begin with. Default: as the settings say. */
  readonly files?: PackFiles;
  /** The pack to begin with, where it is made already. */
  readonly loaded?: LoadedPack;
  /** What this process shares with others, and how. Default: as the settings say. */
  readonly share?: (log: Log) => Promise<Shared>;
}

/**
 * Opens the parts of a gateway; v4 is not asked for anything yet.
 *
 * @throws {PackError} for a pack that can't be used, {AuditUnavailable} or {StateUnavailable} for a data folder
 *   that can't.
 */
export async function openParts(
  settings: Settings,
  { files, loaded, share = (log) => openShared(settings, log) }: PartsOptions = {},
): Promise<Parts> {
  const log = createLog(settings.LOG_LEVEL, settings.LOG_FORMAT);
  const first = loaded ?? loadFiles(files ?? readPackOf(settings), settings);
  const brownOuts = plannedBrownOuts(settings, first.pack);
  const v4 = await v4Service(settings);
  const tracing = await openTracing(process.env, (message) => log.warn({ message }, "spans were not sent"));
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
  const bodies = readRequestBodies(settings.BODY_LIMIT);
  metrics.gauge("body_bytes", "Bytes of request bodies in memory.", () => bodies.bytes);
  metrics.gauge("replicas", "Processes that share the limits, this one among them.", stores.shared.replicas);
  return {
    log,
    first,
    v4,
    ...stores,
    state: stores.shared.state,
    metrics,
    brownOuts,
    upstream,
    native: createNativeLane({ ...way, breaker: upstream.breaker }),
    turns: takeTurns(),
    bodies,
    underWay: workUnderWay(),
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
export async function closeParts(parts: Parts, last: () => Promise<unknown>): Promise<void> {
  // What was broken off is recorded too: whether v4 did it can be found out there alone.
  await parts.underWay.ended(LAST_RECORDS_MS);
  await closeAll([
    () => parts.audit?.close(),
    () => parts.exchanged.close(),
    () => parts.shared.close(),
    last,
    () => parts.tracing?.close(),
    () => parts.metrics.close(),
    () => parts.upstream.close(),
    () => parts.v4.close(),
  ]);
}
