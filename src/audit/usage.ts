import type { AuditRecord } from "./record.ts";
import { truncateUtf8 } from "./truncate.ts";
import { WORTH, type RecordColumns } from "./stored-row.ts";

/** A query of the summaries. These are stored by day (UTC): a day that is partly in the range counts as a whole. */
export interface UsageQuery {
  /** A token's fingerprint, `UNACCEPTED`, or null for requests without a token. Default: all. */
  readonly client?: string | null;
  /** ISO 8601 in UTC with milliseconds; this moment included. */
  readonly since?: string;
  /** The same form; this moment excluded. */
  readonly until?: string;
  /** Maximum number of rows, default 10 000. Those with the most requests are returned. */
  readonly limit?: number;
}

/** Maximum number of rows of a query. */
export const MAX_USAGE_ROWS = 10_000;

/**
 * All tokens that v4 has not accepted count as one client, so that invented tokens create no clients. When v4 accepts a
 * token, its earlier requests are moved to its client.
 */
export const UNACCEPTED = "unaccepted";

/** Maximum number of bytes of a user agent in the summaries. */
const MAX_AGENT_BYTES = 200;
/** Maximum number of bytes of a row of the summaries, including the index. */
const ROW_BYTES = 1000;
const MAX_ROWS = 100_000;
const MIN_ROWS = 1000;

/**
 * Returns the maximum number of rows of the summaries. They may take a tenth of the size limit of the records, up to 100 MB, in
 * addition to it. Above that, errors are deleted first, then the rows with the fewest requests, then the oldest.
 */
export const maxSummaryRows = (sizeLimit: number): number =>
  Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(sizeLimit / 10 / ROW_BYTES)));

/** The order in which rows are deleted, as SQL. */
export const LEAST_WORTH_ORDER = "(status >= 400) DESC, requests, last";

/** Shortens a user agent for the summaries. PostgreSQL can't store U+0000. */
export const usageAgent = (agent: string | null): string | null =>
  agent === null ? null : truncateUtf8(agent.replaceAll("\u0000", ""), MAX_AGENT_BYTES);

interface UsageCounts {
  readonly requests: number;
  /** Requests whose response lost something in translation. */
  readonly lossy: number;
  /** Times of the first and the last of these requests, in ISO 8601 with milliseconds, UTC. */
  readonly first: string;
  readonly last: string;
}

/** The summary of one client. */
export interface ClientUsage extends UsageCounts {
  /** The token's fingerprint; `UNACCEPTED`: all tokens that v4 never accepted; null: all requests without a token. */
  readonly client: string | null;
  /** Of the client's last requests. */
  readonly userAgent: string | null;
  /** Requests with status 400 or above. */
  readonly errors: number;
  /** Requests through the native proxy. */
  readonly native: number;
}

/** The requests of one client on one route with one status. */
export interface RouteUsage extends UsageCounts {
  readonly client: string | null;
  readonly lane: AuditRecord["lane"];
  /** Null if no route of the pack matched, and for native requests. */
  readonly route: string | null;
  readonly status: number;
  /** The id of the last of these records. It may have been deleted. */
  readonly sample: string;
}

/** The requests of one day. */
export interface DayUsage {
  /** `2026-03-01`, in UTC. */
  readonly day: string;
  readonly alpha: number;
  readonly native: number;
  readonly errors: number;
  readonly lossy: number;
  /** Clients that used alpha on that day. All requests without a token are one client. */
  readonly alphaClients: number;
}

/** Reads summaries of all records. They are updated with every commit, so reading them does not scan the records. */
export interface UsageReader {
  /** Returns clients, those with the most requests first. @throws {AuditUnavailableError} */
  readonly clients: (query: UsageQuery) => Promise<readonly ClientUsage[]>;
  /** Returns the routes of each client, those with the most requests first. @throws {AuditUnavailableError} */
  readonly usage: (query: UsageQuery) => Promise<readonly RouteUsage[]>;
  /** Returns days with requests in ascending order. @throws {AuditUnavailableError} */
  readonly days: (query: UsageQuery) => Promise<readonly DayUsage[]>;
}

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

/** Returns the clients whose tokens v4 has accepted in one of the rows. */
export const acceptedClients = (rows: readonly Pick<RecordColumns, "client" | "accepted">[]): Set<string> =>
  new Set(rows.flatMap(({ client, accepted }) => (client !== null && accepted ? [client] : [])));

/** Returns the priority of a record, one of `WORTH`. */
export const worthOf = ({
  client,
  status,
  accepted,
}: Pick<RecordColumns, "client" | "status" | "accepted">): number =>
  client !== null && accepted ? WORTH.accepted : status >= 400 ? WORTH.refused : WORTH.unaccepted;

/** The columns of a record that its summary needs. */
export type CountedRow = Omit<RecordColumns, "method" | "requestId">;

/**
 * Counts the rows of a commit. Rows with tokens that v4 has not accepted count as one client. Null is an empty string here,
 * because it is part of a key.
 */
export function aggregateUsage(rows: Iterable<CountedRow>): UsageRow[] {
  const folded = new Map<string, UsageRow>();
  for (const {
    id,
    time,
    client: fingerprint,
    accepted,
    lane,
    route,
    status,
    lossy,
    agent: whole,
    requests = 1,
  } of rows) {
    const day = dayOf(time);
    const agent = usageAgent(whole);
    const client = fingerprint === null || accepted ? fingerprint : UNACCEPTED;
    const key = [day, client, lane, route, status].join("\n");
    const row = folded.get(key);
    if (!row) {
      const counts = { requests, lossy: Number(lossy), first: time, last: time, sample: id, agent };
      folded.set(key, { day, client: client ?? "", lane, route: route ?? "", status, ...counts });
      continue;
    }
    row.requests += requests;
    row.lossy += Number(lossy);
    row.first = Math.min(row.first, time);
    if (time >= row.last) Object.assign(row, { last: time, sample: id, agent });
  }
  return [...folded.values()];
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

const DAY_MS = 86_400_000;
let lastDay = { number: 0, text: "1970-01-01" };

/** Returns the UTC day of a time, `2026-03-01`. @param time Milliseconds since the epoch. */
export function dayOf(time: number): string {
  const number = Math.floor(time / DAY_MS);
  // Nearly all records of a batch are of one day.
  if (number !== lastDay.number) lastDay = { number, text: new Date(time).toISOString().slice(0, 10) };
  return lastDay.text;
}

/** Returns the first and the last day of a query, both included. */
export function daysOf({ since, until }: UsageQuery): { first: string; last: string } {
  return {
    first: since === undefined ? "0000" : since.slice(0, 10),
    last: until === undefined ? "9999" : dayOf(Date.parse(until) - 1),
  };
}
