/** Requests that a key may make in a window. */
export interface Rate {
  readonly points: number;
  readonly seconds: number;
}

/** How a key stands after a request. */
export interface RateLimitStatus {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, seconds since 1970. */
  readonly resetAt: number;
  /** Seconds until then, at least 1. */
  readonly retryAfter: number;
}

/** Counts requests by key against one rate, in windows that begin with a key's first request. */
export interface Limiter {
  /** Counts one request. @throws {Error} where the counts are elsewhere and can't be reached. */
  consume(key: string): Promise<RateLimitStatus>;
  /** Takes one request back that was counted in the window that is still open. */
  refund(key: string): Promise<void>;
  /** Keys that are counted here at the moment. */
  readonly size: number;
}

/** What is counted: all requests, and creates besides. */
export type LimiterName = "all" | "create";
