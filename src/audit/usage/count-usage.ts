/** Counts the records of a commit for the summaries. */
import type { IndexRow } from "../store/record-row.ts";
import type { Keyed } from "./summary-key.ts";
import { dayNumber, usageAgent } from "./usage.ts";

/** A row of the summary table: the records of one commit that are counted together. */
export interface UsageRow {
  readonly day: number;
  readonly client: string;
  readonly lane: string;
  readonly route: string;
  readonly status: number;
  requests: number;
  lossy: number;
  /** Milliseconds since the epoch. */
  first: number;
  last: number;
  sample: string;
}

/** The columns of a record that its summary needs. */
export type CountedRow = Keyed<Omit<IndexRow, "requestId" | "start" | "size">>;

/** Counts the rows of a commit by their keys. Null is an empty string here, because it is part of a key. */
export function aggregateUsage(rows: Iterable<CountedRow>): UsageRow[] {
  const folded = new Map<string, UsageRow>();
  for (const { id, time, key: client, lane, route, status, lossy, requests = 1 } of rows) {
    if (requests === 0) continue;
    const day = dayNumber(time);
    const key = [day, client, lane, route, status].join("\n");
    const row = folded.get(key);
    if (!row) {
      const counts = { requests, lossy: Number(lossy), first: time, last: time, sample: id };
      folded.set(key, { day, client, lane, route: route ?? "", status, ...counts });
      continue;
    }
    row.requests += requests;
    row.lossy += Number(lossy);
    row.first = Math.min(row.first, time);
    row.last = Math.max(row.last, time);
    if (id > row.sample) row.sample = id;
  }
  return [...folded.values()];
}

/** The requests of one token in a commit, with the columns of its table. Times are milliseconds since the epoch; 0: none. */
export interface TokenRow {
  readonly fingerprint: string;
  readonly key: string;
  agent: string | null;
  first: number;
  last: number;
  last_alpha: number;
  last_native: number;
  requests: number;
  native: number;
}

/** Counts the rows of a commit by the tokens that v4 has accepted. @param keys The keys of these tokens */
export function aggregateTokens(rows: Iterable<CountedRow>, keys: ReadonlyMap<string, string>): TokenRow[] {
  const tokens = new Map<string, TokenRow>();
  for (const { client: fingerprint, accepted, time, lane, agent: whole, requests = 1 } of rows) {
    if (fingerprint === null || !accepted || requests === 0) continue;
    const isNative = lane === "native";
    const last_alpha = isNative ? 0 : time;
    const last_native = isNative ? time : 0;
    const native = isNative ? requests : 0;
    const row = tokens.get(fingerprint);
    if (!row) {
      const key = keys.get(fingerprint) ?? fingerprint;
      const agent = usageAgent(whole);
      const counts = { agent, first: time, last: time, last_alpha, last_native, requests, native };
      tokens.set(fingerprint, { fingerprint, key, ...counts });
      continue;
    }
    row.requests += requests;
    row.native += native;
    row.first = Math.min(row.first, time);
    row.last_alpha = Math.max(row.last_alpha, last_alpha);
    row.last_native = Math.max(row.last_native, last_native);
    if (time >= row.last) Object.assign(row, { last: time, agent: usageAgent(whole) });
  }
  return [...tokens.values()];
}
