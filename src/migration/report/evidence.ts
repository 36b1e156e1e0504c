import type { AuditQuery, AuditRecord, AuditStore, RouteUsage } from "../../audit/index.ts";

/** Maximum number of records that are read for each of the most used calls. */
const RECORDS_PER_CALL = 20;
/** Number of calls for which several records are read. For other calls, the sample record of the summaries is sufficient. */
const MOST_USED_CALLS = 100;
/** Number of calls that are read concurrently: enough for the store, and few enough for the memory. */
const CONCURRENCY = 16;

/** The requests of one client to one alpha route, with any status. */
export interface CallSummary {
  readonly client: string | null;
  readonly route: string;
  /** The usage by status, the most frequent first. */
  readonly statuses: readonly RouteUsage[];
  readonly requests: number;
}

type Records = Pick<AuditStore, "get" | "query">;
type Span = Pick<AuditQuery, "since" | "until">;

async function readSamples(store: Records, { statuses }: CallSummary): Promise<AuditRecord[]> {
  const found = await Promise.all(statuses.map(({ sample }) => store.get(sample)));
  return found.filter((record) => record !== undefined);
}

async function readRecent(
  store: Records,
  { client, route }: CallSummary,
  span: Span,
): Promise<readonly AuditRecord[]> {
  if (client === null) return [];
  return (await store.query({ ...span, client, route, limit: RECORDS_PER_CALL })).records;
}

/**
 * Reads records of each call and evaluates them, a few calls at a time, so that memory use is bounded.
 *
 * @param examine Evaluates a call by a few of its records, the newest first. The list is empty if all were deleted
 * @throws {AuditUnavailableError}
 */
export async function examineCalls<T>(
  store: Records,
  calls: readonly CallSummary[],
  span: Span,
  examine: (called: CallSummary, records: readonly AuditRecord[]) => T,
  onProgress: (done: number, total: number) => void,
): Promise<T[]> {
  const byUse = calls.toSorted((one, other) => other.requests - one.requests);
  const mostUsed = new Set(byUse.slice(0, MOST_USED_CALLS));
  const results: T[] = [];
  for (let from = 0; from < calls.length; from += CONCURRENCY) {
    const group = calls.slice(from, from + CONCURRENCY);
    const found = await Promise.all(
      group.map(async (called) => {
        const records = await readSamples(store, called);
        return mostUsed.has(called) ? [...records, ...(await readRecent(store, called, span))] : records;
      }),
    );
    results.push(...group.map((called, index) => examine(called, found[index] ?? [])));
    onProgress(Math.min(from + CONCURRENCY, calls.length), calls.length);
  }
  return results;
}
