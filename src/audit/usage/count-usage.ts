/** Counts the records of a commit for the summaries. */
import type { IndexRow, RecordColumns } from "../store/stored-row.ts";
import { UNACCEPTED, type Keyed } from "./summary-key.ts";
import { dayOf, usageAgent } from "./usage.ts";

/** A row of the summary table: the records of one commit that are counted together. */
export interface UsageRow {
  readonly day: string;
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
  agent: string | null;
}

/** The columns of a record that its summary needs. */
export type CountedRow = Keyed<Omit<RecordColumns, "method" | "requestId">>;

/** Counts the rows of a commit by their keys. Null is an empty string here, because it is part of a key. */
export function aggregateUsage(rows: Iterable<CountedRow>): UsageRow[] {
  const folded = new Map<string, UsageRow>();
  for (const { id, time, key: client, lane, route, status, lossy, agent: whole, requests = 1 } of rows) {
    if (requests === 0) continue;
    const day = dayOf(time);
    const agent = usageAgent(whole);
    const key = [day, client, lane, route, status].join("\n");
    const row = folded.get(key);
    if (!row) {
      const counts = { requests, lossy: Number(lossy), first: time, last: time, sample: id, agent };
      folded.set(key, { day, client, lane, route: route ?? "", status, ...counts });
      continue;
    }
    row.requests += requests;
    row.lossy += Number(lossy);
    row.first = Math.min(row.first, time);
    if (time >= row.last) Object.assign(row, { last: time, sample: id, agent });
  }
  return [...folded.values()];
}

/** The requests of one token in a commit. Times are milliseconds since the epoch; 0: none. */
export interface TokenRow {
  readonly fingerprint: string;
  readonly key: string;
  agent: string | null;
  first: number;
  last: number;
  lastAlpha: number;
  lastNative: number;
  requests: number;
  native: number;
}

/** Counts the rows of a commit by the tokens that v4 has accepted. @param keys The keys of these tokens */
export function aggregateTokens(rows: Iterable<CountedRow>, keys: ReadonlyMap<string, string>): TokenRow[] {
  const tokens = new Map<string, TokenRow>();
  for (const { client: fingerprint, accepted, time, lane, agent: whole, requests = 1 } of rows) {
    if (fingerprint === null || !accepted || requests === 0) continue;
    const isNative = lane === "native";
    const lastAlpha = isNative ? 0 : time;
    const lastNative = isNative ? time : 0;
    const native = isNative ? requests : 0;
    const row = tokens.get(fingerprint);
    if (!row) {
      const key = keys.get(fingerprint) ?? fingerprint;
      const agent = usageAgent(whole);
      const counts = { agent, first: time, last: time, lastAlpha, lastNative, requests, native };
      tokens.set(fingerprint, { fingerprint, key, ...counts });
      continue;
    }
    row.requests += requests;
    row.native += native;
    row.first = Math.min(row.first, time);
    row.lastAlpha = Math.max(row.lastAlpha, lastAlpha);
    row.lastNative = Math.max(row.lastNative, lastNative);
    if (time >= row.last) Object.assign(row, { last: time, agent: usageAgent(whole) });
  }
  return [...tokens.values()];
}

/** Returns the counts to subtract from `UNACCEPTED` when v4 has accepted a token. */
export const subtractFromUnaccepted = (row: UsageRow): UsageRow => ({
  ...row,
  client: UNACCEPTED,
  requests: -row.requests,
  lossy: -row.lossy,
  first: Number.MAX_SAFE_INTEGER,
  last: 0,
});

/** The requests of a commit that have the same bits of names. */
export interface BitsRow {
  readonly day: string;
  readonly client: string;
  readonly route: string;
  readonly pack: string;
  readonly bits: Buffer;
  requests: number;
}

/**
 * Counts the rows of a commit by the bits of a column, of which few differ. Rows without bits and callers without an accepted token
 * are left out.
 */
export function countByBits<Column extends "sentBits" | "lostBits">(
  rows: Iterable<Pick<Keyed<IndexRow>, "time" | "key" | "route" | "requests" | Column>>,
  column: Column,
): Iterable<BitsRow> {
  const counted = new Map<string, BitsRow>();
  for (const row of rows) {
    const { time, key: client, route, requests = 1 } = row;
    const text: string | undefined = row[column];
    if (!text || route === null || client === UNACCEPTED) continue;
    const day = dayOf(time);
    const id = `${day}\n${client}\n${route}\n${text}`;
    const same = counted.get(id);
    if (same) same.requests += requests;
    else {
      const [pack = "", digits = ""] = text.split(" ");
      counted.set(id, { day, client, route, pack, bits: Buffer.from(digits, "hex"), requests });
    }
  }
  return counted.values();
}
