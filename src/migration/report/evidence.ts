import type { AuditQuery, AuditRecord, AuditStore, RouteUsage } from "../../audit/index.ts";

/** Records that are read for each of the most used calls. */
const RECORDS_PER_CALL = 20;
/** Calls for which several records are read. For the others, one record of the summaries is enough. */
const MOST_USED_CALLS = 100;
/** Calls that are read concurrently: enough for the store, and few enough for the memory. */
const CONCURRENCY = 16;

/** The requests of one client to one alpha route, with any status. */
export interface CallSummary {
  readonly client: string | null;
  readonly route: string;
  /** By status, the most frequent first. */
  readonly statuses: readonly RouteUsage[];
  readonly requests: number;
}

/** Evaluates a call. `records` are a few of its records, the newest first; empty if all are deleted. */
export type ExamineCall<T> = (called: CallSummary, records: readonly AuditRecord[]) => T;

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

/** The input of the evidence, and how it is evaluated. */
export interface Examination<T> {
  readonly store: Records;
  readonly calls: readonly CallSummary[];
  readonly span: Span;
  readonly examine: ExamineCall<T>;
  readonly onProgress: (done: number, total: number) => void;
}

/**
 * Reads records of each call and evaluates them, a few calls at a time, so that memory use is bounded.
 *
 * @throws {AuditUnavailableError}
 */
export async function examineCalls<T>(examination: Examination<T>): Promise<T[]> {
  const { store, calls, span, examine, onProgress } = examination;
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
