import type { AuditRecord } from "../../audit/record.ts";
import type { AuditQuery, AuditStore } from "../../audit/store.ts";
import type { RouteUsage } from "../../audit/usage.ts";

/** Records that are looked at for what a client sends, of each of its most used calls. */
const LOOKED_AT = 20;
/** Calls that are looked at so; of the others the one record that the summaries name has to do. */
const CALLS_LOOKED_AT = 100;
/** Reads at a time: enough to keep the store busy, and few enough to keep what is held small. */
const AT_ONCE = 16;

/** What one client called on one route of alpha, whatever it was told. */
export interface CallSummary {
  readonly client: string | null;
  readonly route: string;
  /** By status, the most frequent first. */
  readonly statuses: readonly RouteUsage[];
  readonly requests: number;
}

/** Gives something for each call. `records` are a few of it, the newest first; none where all are deleted. */
export type ExamineCall<T> = (called: CallSummary, records: readonly AuditRecord[]) => T;

type Records = Pick<AuditStore, "get" | "query">;
type Span = Pick<AuditQuery, "since" | "until">;

async function samples(store: Records, { statuses }: CallSummary): Promise<AuditRecord[]> {
  const found = await Promise.all(statuses.map(({ sample }) => store.get(sample)));
  return found.filter((record) => record !== undefined);
}

async function recent(
  store: Records,
  { client, route }: CallSummary,
  span: Span,
): Promise<readonly AuditRecord[]> {
  if (client === null) return [];
  return (await store.query({ ...span, client, route, limit: LOOKED_AT })).records;
}

export interface Examination<T> {
  readonly store: Records;
  readonly calls: readonly CallSummary[];
  readonly span: Span;
  readonly examine: ExamineCall<T>;
  readonly onProgress: (done: number, of: number) => void;
}

/**
 * Reads records of each call and hands them over, a few calls at a time, so that no more is held at once.
 * What can't be read is a report that can't be made.
 *
 * @throws {AuditUnavailableError}
 */
export async function examineCalls<T>(examination: Examination<T>): Promise<T[]> {
  const { store, calls, span, examine, onProgress } = examination;
  const byUse = calls.toSorted((one, other) => other.requests - one.requests);
  const looked = new Set(byUse.slice(0, CALLS_LOOKED_AT));
  const results: T[] = [];
  for (let from = 0; from < calls.length; from += AT_ONCE) {
    const group = calls.slice(from, from + AT_ONCE);
    const found = await Promise.all(
      group.map(async (called) => {
        const records = await samples(store, called);
        return looked.has(called) ? [...records, ...(await recent(store, called, span))] : records;
      }),
    );
    results.push(...group.map((called, index) => examine(called, found[index] ?? [])));
    onProgress(Math.min(from + AT_ONCE, calls.length), calls.length);
  }
  return results;
}
