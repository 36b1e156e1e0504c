import { DAY_MS, formatDay } from "../../base/text/dates.ts";
import type { AuditRecord } from "../record/record.ts";
import { truncateUtf8 } from "../record/truncate.ts";

/** A query of the summaries. These are stored by day (UTC): a day that is partly in the range counts as a whole. */
export interface UsageQuery {
  /** The key of a client, or null for requests without a token. Default: all. */
  readonly client?: string | null;
  /** Keys of several clients. */
  readonly clients?: readonly (string | null)[];
  readonly lane?: AuditRecord["lane"] | undefined;
  /** Only calls of the client's API, no matter which service answered them: all lanes but `native`. */
  readonly isClientApi?: boolean | undefined;
  /** The route as the pack names it. `sent` ignores it. */
  readonly route?: string | undefined;
  /** ISO 8601 in UTC with milliseconds; this moment included. */
  readonly since?: string;
  /** The same form; this moment excluded. */
  readonly until?: string;
  /** Maximum number of rows, default 10 000. Those with the most requests are returned. */
  readonly limit?: number;
  /**
   * `clients` only, in place of `limit`: how many clients are read at most, those that called on the most days and routes.
   * `limit` sums up all clients before it leaves some out.
   */
  readonly mostClients?: number;
}

/** Maximum number of rows of a query. */
export const MAX_USAGE_ROWS = 10_000;

/** Maximum number of sums that a report is made of. They are in memory together: about 400 bytes each. */
export const MAX_SUMS_READ = 200_000;

/** Maximum number of bytes of a user agent in the summaries. */
const MAX_AGENT_BYTES = 200;
/** Maximum number of rows of the summaries, by default. They take about 300 bytes each, with the indexes. */
export const MAX_SUMMARY_ROWS = 1_000_000;

/** Maximum number of tokens in the summaries, by default. */
export const MAX_TOKENS = 100_000;

/**
 * What newcomers may have of the rows and of the tokens: clients without a name that have called on one day only. Anybody
 * can be many of them. Above it and above the limit they go before what others have.
 */
export const NEWCOMERS_SHARE = 0.5;

/** Days for which summaries are kept, by default: a job that runs once a year is seen. */
export const USAGE_RETENTION_DAYS = 400;

/** Families of user agents of a client and a day that are kept: the last ones that were used. */
export const MOST_FAMILIES = 5;

/** Maximum number of tokens of a client that are read. */
export const MAX_TOKENS_READ = 1000;

/** A query of tokens: those of the client of a key, those whose fingerprints begin with these digits, or those with these fingerprints. */
export type TokenQuery =
  | { readonly client: string }
  | { readonly fingerprint: string }
  | { readonly fingerprints: readonly string[] };

/** Tokens that were used for calls of the client's API since a time, by their fingerprints. */
export interface TokenPage {
  /** The last fingerprint of the page before; `""` for the first page. */
  readonly after: string;
  /** ISO 8601. */
  readonly since: string;
}

/** The keys of the clients of a query, with `""` for requests without a token; undefined: all clients. */
export const usageKeysOf = ({ client, clients }: UsageQuery): readonly string[] | undefined =>
  client === undefined
    ? clients?.map((key) => key ?? "")
    : [client, ...(clients ?? [])].map((key) => key ?? "");

/** Shortens a user agent for the summaries. */
export const usageAgent = (agent: string | null): string | null =>
  agent === null ? null : truncateUtf8(agent, MAX_AGENT_BYTES);

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
  /**
   * Its key: `label:NAME`, `application:ID`, the fingerprint of a token, `UNACCEPTED` for all tokens that v4 never accepted,
   * or null for all requests without a token.
   */
  readonly client: string | null;
  readonly label: string | null;
  readonly application: string | null;
  readonly fingerprint: string | null;
  /** Times of its last translated and its last forwarded request; null without one. */
  readonly lastAlpha: string | null;
  readonly lastNative: string | null;
  /**
   * The longest time between the last translated request of a day and the first one of the next day that has any, in
   * milliseconds; null if all were on one day.
   */
  readonly longestPauseMs: number | null;
  /** Its tokens, as far as they are listed. */
  readonly tokens: number;
  /** Of the client's last requests. */
  readonly userAgent: string | null;
  /** The last ones of its other programs, the latest first; missing if it has none. */
  readonly otherAgents?: readonly string[];
  /** Requests with status 400 or above. */
  readonly errors: number;
  /** Requests through the native proxy. */
  readonly native: number;
}

/** The user agents of a client as one text; null without any. */
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
  /** The key of its client. */
  readonly client: string;
  /** Of its last request. */
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
  /** Null if no route of the pack matched, and for native requests. */
  readonly route: string | null;
  readonly status: number;
  /** The id of the last of these records. It may have been deleted. */
  readonly sample: string;
}

/** Maximum number of records of a token that are counted, the newest first. */
export const MAX_RECORDS_COUNTED = 100_000;

/** The usage of one token, also if its requests are counted together with those of other tokens. */
export interface TokenActivity {
  /** Undefined for a token whose requests were never counted. */
  readonly token: TokenUsage | undefined;
  /**
   * Its requests by route, those with the most first. The summaries of a client with several tokens don't tell them apart: then
   * its records are counted, as far back as there are any, and `sample` is empty.
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
  /** Clients that used alpha on that day, without requests that are nobody's: those without an accepted token. */
  readonly alphaClients: number;
}

/** The number of a UTC day: days since 1970. @param time Milliseconds since the epoch */
export const dayNumber = (time: number): number => Math.floor(time / DAY_MS);

/** The day of a number, `2026-03-01`. */
export const dayText = (day: number): string => formatDay(day * DAY_MS);

/** A day that no record has. */
const LAST_DAY = 1_000_000;

/** Returns the numbers of the first and the last day of a query, both included. */
export const daysOf = ({ since, until }: UsageQuery): { first: number; last: number } => ({
  first: since === undefined ? 0 : dayNumber(Date.parse(since)),
  last: until === undefined ? LAST_DAY : dayNumber(Date.parse(until) - 1),
});
