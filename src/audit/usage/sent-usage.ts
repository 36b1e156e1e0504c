/** A name that a client sent to a route. */
export interface SentUsage {
  /** The key of the client; null: requests without a token. */
  readonly client: string | null;
  readonly route: string;
  /** `body.label`, `body.plan=small`, `query.page`, `filter.status`, `filter.status=running`. */
  readonly name: string;
  /** The first and the last day on which it was sent, `2026-03-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
  /** All requests of the client to the route in the days of the query, with the name or without it. */
  readonly requests: number;
}
