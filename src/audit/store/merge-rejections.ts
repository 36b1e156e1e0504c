import type { AuditRecord } from "../record/record.ts";
import type { AuditStore } from "./store.ts";

/** Milliseconds during which requests of one kind share a record. */
const WINDOW_MS = 60_000;
/** Maximum number of kinds that are stored. If there are more, the oldest window ends early. */
const MAX_WINDOWS = 10_000;

interface MergeOptions {
  /** Returns the network of an address. All addresses of a network are treated as one sender. */
  readonly networkOf: (address: string) => string;
  /** Length of a window in milliseconds. */
  readonly windowMs?: number;
}

/** Milliseconds after which an appended record has been committed or dropped. */
const COMMITTED_MS = 1000;

/** Rejected requests of one kind since the first of them was recorded. */
interface Window {
  /** The id of the first record, and the time when it was recorded, by `performance.now()`. */
  readonly first: string;
  readonly begunAt: number;
  requests: number;
  last: AuditRecord | undefined;
  readonly timer: NodeJS.Timeout;
}

/**
 * Returns the kind of a request. A token that v4 has not accepted can be invented, so such callers are distinguished by
 * their addresses.
 */
function kindOf({ lane, client, alpha }: AuditRecord, networkOf: MergeOptions["networkOf"]): string {
  const { fingerprint, accepted, address, application, label } = client;
  const caller = fingerprint !== null && accepted !== false ? fingerprint : networkOf(address);
  return [label, application, caller, lane, alpha.method, alpha.route, alpha.status].join("\n");
}

/**
 * Returns a record that only contains counts. It contains no data of its client, because the data of an erased client
 * must not be stored again.
 */
function withoutClient(record: AuditRecord): AuditRecord {
  const { id, client, alpha } = record;
  const { method, route, status } = alpha;
  const isRefused = client.accepted === false;
  return {
    ...record,
    requestId: id,
    client: { fingerprint: null, ...(isRefused && { accepted: false }), userAgent: null, address: "" },
    alpha: { method, path: "", route, query: "", filter: null, status },
    losses: [],
    warnings: ["audit: the client is left out, since the first record is gone"],
  };
}

/**
 * Wraps a store, so that a client above its limit can't write as many records as it sends requests. The first request
 * of each kind that a limit rejects without a call of v4 is recorded immediately. Further ones in the same minute share
 * one record that contains their number. The summaries include each of them.
 */
export function mergeRejections(
  store: AuditStore,
  { networkOf, windowMs = WINDOW_MS }: MergeOptions,
): AuditStore {
  const windows = new Map<string, Window>();

  /**
   * Whether the first record of a window no longer exists: its client may have been erased, or the record was dropped
   * or evicted. If the store can't be read, the record is assumed to exist.
   */
  async function isGone({ first }: Window): Promise<boolean> {
    try {
      return (await store.get(first)) === undefined;
    } catch {
      return false;
    }
  }

  async function endWindow(kind: string): Promise<void> {
    const window = windows.get(kind);
    if (!window) return;
    clearTimeout(window.timer);
    windows.delete(kind);
    const { requests, last } = window;
    const isCommitted = performance.now() - window.begunAt >= COMMITTED_MS;
    if (!last) return;
    const record = isCommitted && (await isGone(window)) ? withoutClient(last) : last;
    const warnings = [...record.warnings, `audit: ${requests} rejected requests have this one record`];
    try {
      await store.append(
        requests === 1 ? record : { ...record, warnings, requests: last.requests === 0 ? 0 : requests },
      );
    } catch {
      // The store counts the record as dropped.
    }
  }

  function append(record: AuditRecord): void | Promise<void> {
    // The status is not enough, because a pack may use the same status for other rejections.
    if (record.rejectedBy !== "limit" || record.v4.length > 0) return store.append(record);
    const kind = kindOf(record, networkOf);
    const window = windows.get(kind);
    if (window) {
      window.requests += 1;
      window.last = record;
      return;
    }
    const [oldest] = windows.keys();
    if (windows.size >= MAX_WINDOWS && oldest !== undefined) void endWindow(oldest);
    const timer = setTimeout(() => void endWindow(kind), windowMs).unref();
    windows.set(kind, { first: record.id, begunAt: performance.now(), requests: 0, last: undefined, timer });
    return store.append(record);
  }

  return {
    ...store,
    append,
    async close() {
      await Promise.all([...windows.keys()].map(endWindow));
      await store.close();
    },
  };
}
