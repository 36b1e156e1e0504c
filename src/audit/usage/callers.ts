/** The callers of routes and the names that they sent, from the summaries. */
import type { UsageQuery } from "./usage.ts";

/** Routes, and days as in `UsageQuery`. */
export interface CallersQuery extends Pick<UsageQuery, "since" | "until"> {
  /** The routes, named as in the pack: `GET /vm/instances/:id`. */
  readonly routes: readonly string[];
}

/** The translated calls of a client to a route. Tokens that v4 never accepted, and errors without a token, are omitted. */
export interface RouteCaller {
  /** The key of the client; null for requests without a token. */
  readonly client: string | null;
  readonly route: string;
  readonly requests: number;
  /** Number of days with requests. */
  readonly days: number;
  /** The first of these days, `2026-03-01`. */
  readonly firstDay: string;
  /** Time of the last request, in ISO 8601 with milliseconds, UTC. */
  readonly last: string;
  /** The user agent of the last request on these days. */
  readonly userAgent: string | null;
}

/** A name that a client sent to a route. */
export interface SentName extends Pick<RouteCaller, "client" | "route"> {
  /** The name: `body.label`, `body.plan=small`, `query.page`, `filter.status`. */
  readonly name: string;
  /** Number of days on which it was sent, and the first and the last of them, `2026-03-01`. */
  readonly days: number;
  readonly firstDay: string;
  readonly lastDay: string;
  /** Number of all requests to the route on these days, which is an upper bound for the requests with the name. */
  readonly requests: number;
}

export interface RouteCallers {
  readonly callers: readonly RouteCaller[];
  readonly sent: readonly SentName[];
  /** The names that were counted, by route. The senders of other names are unknown. */
  readonly counted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The first day on which names were counted; null if none were. */
  readonly namesSince: string | null;
}

export interface CallersReader {
  /** Returns the callers of routes, and the names that they sent. @throws {AuditUnavailableError} */
  readonly callers: (query: CallersQuery) => Promise<RouteCallers>;
}
