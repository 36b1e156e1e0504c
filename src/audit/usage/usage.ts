import { DAY_MS, formatDay } from "../../base/text/dates.ts";
import type { AuditRecord } from "../record/record.ts";
import { truncateUtf8 } from "../record/truncate.ts";

/** A query of the summaries. They are stored by day (UTC): all of a day is included if a part of it is in the range. */
export interface UsageQuery {
  /** The key of a client, or null for requests without a token. Default: all. */
  readonly client?: string | null;
  /** Keys of several clients. */
  readonly clients?: readonly (string | null)[];
  readonly lane?: AuditRecord["lane"] | undefined;
  /** Selects calls of the client's API, regardless of the service that responded: all lanes except `native`. */
  readonly isClientApi?: boolean | undefined;
  /** The route, named as in the pack. `sent` ignores it. */
  readonly route?: string | undefined;
  /** ISO 8601 in UTC with milliseconds; inclusive. */
  readonly since?: string;
  /** ISO 8601 in UTC with milliseconds; exclusive. */
  readonly until?: string;
  /** Maximum number of rows, default 10 000. Rows with the most requests are returned. */
  readonly limit?: number;
  /**
   * Only for `clients`, instead of `limit`: the maximum number of clients that are read, those that called on the most
   * days and routes. `limit` adds up all clients before it omits some.
   */
  readonly mostClients?: number;
}

/** Maximum number of rows of a query. */
export const MAX_USAGE_ROWS = 10_000;

/** Maximum number of sums for a report. All are in memory: about 400 bytes each. */
export const MAX_SUMS_READ = 200_000;

/** Maximum number of bytes of a user agent in the summaries. */
const MAX_AGENT_BYTES = 200;
/** Maximum number of rows of the summaries, by default. They take about 300 bytes each, with the indexes. */
export const MAX_SUMMARY_ROWS = 1_000_000;

/** Maximum number of tokens in the summaries, by default. */
export const MAX_TOKENS = 100_000;

/**
 * The share of the rows and of the tokens for newcomers: clients without a name that have only called on one day. Any
 * client can pretend to be many of them. If both this share and the limit are exceeded, newcomers are deleted first.
 */
export const NEWCOMERS_SHARE = 0.5;

/** Default number of days for which summaries are kept, so that they include a job that runs once a year. */
export const USAGE_RETENTION_DAYS = 400;

/** Maximum number of families of user agents that are kept for a client and a day: the most recently used ones. */
export const MOST_FAMILIES = 5;

/** Maximum number of tokens of a client that are read. */
export const MAX_TOKENS_READ = 1000;

/**
 * A query of tokens: those of the client with a key, those whose fingerprints start with these digits, or those with
 * these fingerprints.
 */
export type TokenQuery =
  | { readonly client: string }
  | { readonly fingerprint: string }
  | { readonly fingerprints: readonly string[] };

/** A query of the tokens that were used for calls of the client's API since a time, sorted by fingerprint. */
export interface TokenPage {
  /** The last fingerprint of the previous page; `""` for the first page. */
  readonly after: string;
  /** The time in ISO 8601. */
  readonly since: string;
}

/** Returns the keys of the clients of a query, with `""` for requests without a token; undefined: all clients. */
export const usageKeysOf = ({ client, clients }: UsageQuery): readonly string[] | undefined =>
  client === undefined
    ? clients?.map((key) => key ?? "")
    : [client, ...(clients ?? [])].map((key) => key ?? "");

/** Shortens a user agent for the summaries. */
export const usageAgent = (agent: string | null): string | null =>
  agent === null ? null : truncateUtf8(agent, MAX_AGENT_BYTES);

interface UsageCounts {
  readonly requests: number;
  /** Number of requests whose response lost something in translation. */
  readonly lossy: number;
  /** Times of the first and the last of these requests, in ISO 8601 with milliseconds, UTC. */
  readonly first: string;
  readonly last: string;
}

/** The summary of one client. */
export interface ClientUsage extends UsageCounts {
  /**
   * Its key: `label:NAME`, `application:ID`, the fingerprint of a token, `UNACCEPTED` for all tokens that v4 never accepted,
   * or null for all requests without a token.
   */
  readonly client: string | null;
  readonly label: string | null;
  readonly application: string | null;
  readonly fingerprint: string | null;
  /** Times of the last translated and the last forwarded request; null if missing. */
  readonly lastAlpha: string | null;
  readonly lastNative: string | null;
  /**
   * The longest time between the last translated request of a day and the first one of the next day with such requests,
   * in milliseconds; null if all were on one day.
   */
  readonly longestPauseMs: number | null;
  /** Number of the client's tokens that are listed. */
  readonly tokens: number;
  /** The user agent of the client's last requests. */
  readonly userAgent: string | null;
  /** The last user agents of the client's other programs, the latest first; left out if empty. */
  readonly otherAgents?: readonly string[];
  /** Number of requests with status 400 or above. */
  readonly errors: number;
  /** Number of requests through the native proxy. */
  readonly native: number;
}

/** Returns the user agents of a client as one text; null if not found. */
export const agentsText = ({
  userAgent,
  otherAgents = [],
}: Pick<ClientUsage, "userAgent" | "otherAgents">): string | null =>
  userAgent === null && otherAgents.length === 0
    ? null
    : [userAgent ?? "no user agent", ...otherAgents].join(", ");

/** One token of a client. */
export interface TokenUsage {
  readonly fingerprint: string;
  /** The key of the token's client. */
  readonly client: string;
  /** The user agent of the token's last request. */
  readonly userAgent: string | null;
  readonly first: string;
  readonly last: string;
  readonly lastAlpha: string | null;
  readonly lastNative: string | null;
  readonly requests: number;
  readonly native: number;
}

/** The requests of one client on one route with one status. */
export interface RouteUsage extends UsageCounts {
  readonly client: string | null;
  readonly lane: AuditRecord["lane"];
  /** Name of the route; null if no route of the pack matched, and for native requests. */
  readonly route: string | null;
  readonly status: number;
  /** The id of the last of these records, which may have been deleted. */
  readonly sample: string;
}

/** Maximum number of counted records of a token, the newest first. */
export const MAX_RECORDS_COUNTED = 100_000;

/** The usage of one token, even if its requests are counted together with those of other tokens. */
export interface TokenActivity {
  /** The counts of the token; undefined if none of its requests was counted. */
  readonly token: TokenUsage | undefined;
  /**
   * The token's requests by route, those with the most requests first. The summaries of a client with several tokens
   * don't distinguish them: in that case, the stored records are counted, and `sample` is empty.
   */
  readonly routes: readonly RouteUsage[];
}

/** The requests of one day. */
export interface DayUsage {
  /** `2026-03-01`, in UTC. */
  readonly day: string;
  readonly alpha: number;
  readonly native: number;
  readonly errors: number;
  readonly lossy: number;
  /** Number of clients that used alpha on that day. Requests without an accepted token are not included. */
  readonly alphaClients: number;
}

/** The number of a UTC day: days since 1970. @param time Milliseconds since the epoch */
export const dayNumber = (time: number): number => Math.floor(time / DAY_MS);

/** Returns the day with a number, `2026-03-01`. */
export const dayText = (day: number): string => formatDay(day * DAY_MS);

/** A day later than that of any record. */
const LAST_DAY = 1_000_000;

/** Returns the numbers of the first and the last day of a query, both included. */
export const daysOf = ({ since, until }: UsageQuery): { first: number; last: number } => ({
  first: since === undefined ? 0 : dayNumber(Date.parse(since)),
  last: until === undefined ? LAST_DAY : dayNumber(Date.parse(until) - 1),
});
