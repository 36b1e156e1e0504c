/** The callers of routes and the names that they sent, from the summaries. */
import type { UsageQuery } from "./usage.ts";

/** Routes, and days as in `UsageQuery`. */
export interface CallersQuery extends Pick<UsageQuery, "since" | "until"> {
  /** As the pack names them: `GET /vm/instances/:id`. */
  readonly routes: readonly string[];
}

/** The translated calls of a client to a route. Tokens that v4 never accepted, and errors without a token, are left out. */
export interface RouteCaller {
  /** The key of the client; null: requests without a token. */
  readonly client: string | null;
  readonly route: string;
  readonly requests: number;
  /** Days with requests. */
  readonly days: number;
  /** The first of these days, `2026-03-01`. */
  readonly firstDay: string;
  /** Time of the last request, in ISO 8601 with milliseconds, UTC. */
  readonly last: string;
  /** Of its last request on these days. */
  readonly userAgent: string | null;
}

/** A name that a client sent to a route. */
export interface SentName extends Pick<RouteCaller, "client" | "route"> {
  /** `body.label`, `body.plan=small`, `query.page`, `filter.status`. */
  readonly name: string;
  /** Days on which it was sent; the first and the last of them, `2026-03-01`. */
  readonly days: number;
  readonly firstDay: string;
  readonly lastDay: string;
  /** All requests to the route on these days: at most that many had the name. */
  readonly requests: number;
}

export interface RouteCallers {
  readonly callers: readonly RouteCaller[];
  readonly sent: readonly SentName[];
  /** The names that were counted, by route: nobody knows who sent another one. */
  readonly counted: ReadonlyMap<string, ReadonlySet<string>>;
  /** The first day on which any names were counted; null if none were. An earlier version counted calls alone. */
  readonly namesSince: string | null;
}

export interface CallersReader {
  /** Returns who called routes, and which names they sent there. @throws {AuditUnavailableError} */
  readonly callers: (query: CallersQuery) => Promise<RouteCallers>;
}
