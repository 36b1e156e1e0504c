import type { LimiterName, RateLimitStatus } from "../../rate-limit/limiter.ts";
import type { PackFiles } from "../../mapping/load/load-pack.ts";
import type { MetricValues } from "../../observability/metrics/aggregate.ts";
import type { TokenCacheEntry, TokenInfo } from "../../auth/token-cache.ts";

/** What the primary does for its workers: it keeps what they share, where there is no Redis. */
export interface PrimaryApi {
  consumeLimit(counter: LimiterName, key: string): Promise<RateLimitStatus>;
  refundLimit(counter: LimiterName, key: string): Promise<void>;
  getTokenInfo(hash: string): TokenCacheEntry | undefined;
  /** Without facts: forgets. */
  setTokenInfo(hash: string, facts: TokenInfo | undefined): void;
  /** At every worker. */
  purge(fingerprint: string): Promise<void>;
  /** The files of the pack that all work by. */
  pack(): PackFiles;
  /** The worker takes requests from now on, on this port. */
  listening(port: number): void;
  /** The worker can't listen, and ends. */
  refused(reason: string): void;
}

/** What a worker does for the primary. */
export interface WorkerApi {
  readiness(): readonly string[] | Promise<readonly string[]>;
  metrics(): Promise<MetricValues>;
  purge(fingerprint: string): void;
  /** Begins to take another pack into use. */
  reload(files: PackFiles): void;
  /** Lets its requests end, and then itself. */
  drain(): void;
}
