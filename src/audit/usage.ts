import type { AuditRecord } from "./record.ts";
import { truncateUtf8 } from "./redact-walk.ts";
import { WORTH, type StoredRow } from "./stored-row.ts";

/**
 * Which part of the summaries is asked for. They are kept by the day (UTC): a day of which a part lies
 * between the two moments counts whole.
 */
export interface UsageQuery {
  /** A token's fingerprint, `UNACCEPTED`, or null for requests without a token. Left out: all. */
  readonly client?: string | null;
  /** ISO 8601 in UTC with milliseconds; this moment included. */
  readonly since?: string;
  /** The same form; this moment excluded. */
  readonly until?: string;
  /** Rows, at most and by default 10 000: those with the most requests. */
  readonly limit?: number;
}

export const MAX_USAGE_ROWS = 10_000;

/**
 * All clients whose tokens v4 never accepted: whoever makes up tokens makes up no clients. What a client asked before v4
 * was first asked about its token moves to the client when v4 accepts it.
 */
export const UNACCEPTED = "unaccepted";

/** Bytes of a user agent in the summaries. */
const MAX_AGENT_BYTES = 200;
/** Bytes that a row of the summaries takes at most, with its place in the index. */
const ROW_BYTES = 1000;
const MAX_ROWS = 100_000;
const MIN_ROWS = 1000;

/**
 * Rows of the summaries that are kept: besides the records, whose room they never take, they may have a tenth of it,
 * and 100 MB at most. Above that those go first that are worth least: refusals, then what was asked least, then the
 * oldest.
 */
export const maxSummaryRows = (sizeLimit: number): number =>
  Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(sizeLimit / 10 / ROW_BYTES)));

/** Which rows go first, as SQL. */
export const LEAST_WORTH_ORDER = "(status >= 400) DESC, requests, last";

/** A user agent as the summaries have it. PostgreSQL has no text with U+0000 in it. */
export const usageAgent = (agent: string | null): string | null =>
  agent === null ? null : truncateUtf8(agent.replaceAll("\u0000", ""), MAX_AGENT_BYTES);

interface UsageCounts {
  readonly requests: number;
  /** Requests whose answer could not keep something. */
  readonly lossy: number;
  /** ISO 8601 in UTC with milliseconds: of the first of these requests, and of the last. */
  readonly first: string;
  readonly last: string;
}

/** One client. */
export interface ClientUsage extends UsageCounts {
  /** The token's fingerprint; `UNACCEPTED`: all tokens that v4 never accepted; null: all requests without a token. */
  readonly client: string | null;
  /** Of the client's last requests. */
  readonly userAgent: string | null;
  /** Requests answered with 400 or above. */
  readonly errors: number;
  /** Requests of the native lane. */
  readonly native: number;
}

/** What one client called on one route with one status. */
export interface RouteUsage extends UsageCounts {
  readonly client: string | null;
  readonly lane: AuditRecord["lane"];
  /** Null where no route of the pack matched, and on the native lane. */
  readonly route: string | null;
  readonly status: number;
  /** The id of one of these records, of the last of them; it may be deleted already. */
  readonly sample: string;
}

/** One day. */
export interface DayUsage {
  /** `2026-03-01`, in UTC. */
  readonly day: string;
  readonly alpha: number;
  readonly native: number;
  readonly errors: number;
  readonly lossy: number;
  /** Clients that spoke alpha on that day; those without a token are one. */
  readonly alphaClients: number;
}

/** Counts of everything recorded, kept up with every commit, so that reading them costs no look at the records. */
export interface UsageReader {
  /** Clients, those with the most requests first. @throws {AuditUnavailableError} */
  readonly clients: (query: UsageQuery) => Promise<readonly ClientUsage[]>;
  /** Client by client what it calls, the most used first. @throws {AuditUnavailableError} */
  readonly usage: (query: UsageQuery) => Promise<readonly RouteUsage[]>;
  /** Days with requests, in their order. @throws {AuditUnavailableError} */
  readonly days: (query: UsageQuery) => Promise<readonly DayUsage[]>;
}

/** Records of one commit that are counted together: a row of the summary table. */
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

/** The clients whose tokens v4 has accepted in one of the rows. */
export const acceptedClients = (rows: readonly Pick<StoredRow, "client" | "accepted">[]): Set<string> =>
  new Set(rows.flatMap(({ client, accepted }) => (client !== null && accepted ? [client] : [])));

/** What the record of a request is worth; `accepted`: whether v4 has accepted its token. */
export const worthOf = ({
  client,
  status,
  accepted,
}: Pick<StoredRow, "client" | "status" | "accepted">): number =>
  client !== null && accepted ? WORTH.accepted : status >= 400 ? WORTH.refused : WORTH.unaccepted;

/**
 * Folds the rows of a commit. What is null elsewhere is empty here, since it is part of a key.
 *
 * @param rows of which those whose token v4 has not accepted are counted as one client
 */
export function aggregateUsage(rows: Iterable<Omit<StoredRow, "record">>): UsageRow[] {
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

/** What is taken from the shared client when a token turns out to be a client's. */
export const subtractFromUnaccepted = (row: UsageRow): UsageRow => ({
  ...row,
  client: UNACCEPTED,
  requests: -row.requests,
  lossy: -row.lossy,
  first: Number.MAX_SAFE_INTEGER,
  last: 0,
});

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** First and last day of a query, both included. */
export function daysOf({ since, until }: UsageQuery): { first: string; last: string } {
  return {
    first: since === undefined ? "0000" : since.slice(0, 10),
    last: until === undefined ? "9999" : dayOf(Date.parse(until) - 1),
  };
}
