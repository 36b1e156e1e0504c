/** The headers of a dialect that contain the status of a rate limit, as the pack names them. */
import type { z } from "zod";
import type { rateLimitHeaders } from "./headers-definition.ts";

/** The status of a rate limit. */
export interface RateLimitValues {
  /** Number of requests that are allowed in a window. */
  readonly limit: number;
  readonly remaining: number;
  /** End of the window, in seconds since 1970. */
  readonly resetAt: number;
  /** Seconds to wait. */
  readonly retryAfter: number;
}

/** Reads and writes the headers of one dialect. */
export type RateLimitHeaders = ReturnType<typeof createRateLimitHeaders>;

const now = (): number => Date.now() / 1000;

function readNumber(value: string | string[] | undefined): number | undefined {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

const HTTP_DATE = /^[A-Z][a-z]{2,8},? [\w -]+:\d\d:\d\d(?: \d{4}| GMT)$/;

/**
 * Returns the seconds to wait according to a `Retry-After` header, which may contain a date in three forms (RFC 9110
 * 5.6.7, 10.2.3).
 */
export function readRetryAfter(value: string | string[] | undefined): number | undefined {
  if (typeof value !== "string" || !HTTP_DATE.test(value)) return readNumber(value);
  // The oldest form contains no zone.
  const time = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil(time / 1000 - now()));
}

/**
 * Returns the status of a rate limit after the upstream rejected a request. Missing values are derived from the other
 * values of the upstream, so that the headers are consistent: the gateway's own limit may end at a different time.
 */
export function rejectedByUpstream(
  own: RateLimitValues,
  upstream: Partial<RateLimitValues>,
): RateLimitValues {
  const said = upstream.retryAfter ?? (upstream.resetAt && Math.ceil(upstream.resetAt - now()));
  const retryAfter = Math.max(1, said ?? own.retryAfter);
  const resetAt = upstream.resetAt ?? (said === undefined ? own.resetAt : now() + said);
  return {
    limit: upstream.limit ?? own.limit,
    remaining: upstream.remaining ?? 0,
    resetAt,
    retryAfter,
  };
}

/** Compiles the headers of a dialect. If it names no headers, none are read or written. */
export function createRateLimitHeaders(definition: z.infer<typeof rateLimitHeaders> = {}) {
  const { limit, remaining, reset, reset_unit: unit } = definition;
  const [limitName, remainingName, resetName] = [limit, remaining, reset].map((name) => name?.toLowerCase());
  const isLeft = unit === "seconds_left";
  return {
    /** The names as written in the pack. */
    names: [limit, remaining, reset].filter((name) => name !== undefined),
    /** Returns the values in headers with lower-case names. Values that are not numbers are omitted. */
    read(headers: Readonly<Record<string, string | string[] | undefined>>): Partial<RateLimitValues> {
      const valueOf = (name: string | undefined) =>
        name === undefined ? undefined : readNumber(headers[name]);
      const resetValue = valueOf(resetName);
      const values = {
        limit: valueOf(limitName),
        remaining: valueOf(remainingName),
        resetAt: isLeft && resetValue !== undefined ? now() + resetValue : resetValue,
        retryAfter: readRetryAfter(headers["retry-after"]),
      };
      return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
    },
    /**
     * Adds the headers that the dialect names. `Retry-After` is a standard header and not one of them (RFC 9110,
     * section 10.2.3).
     */
    write(values: RateLimitValues, headers: Record<string, string>): void {
      if (limitName !== undefined) headers[limitName] = String(values.limit);
      if (remainingName !== undefined) headers[remainingName] = String(values.remaining);
      if (resetName !== undefined)
        headers[resetName] = String(Math.ceil(isLeft ? Math.max(0, values.resetAt - now()) : values.resetAt));
    },
  };
}
