import type { Readiness } from "../../admin/admin-app.ts";
import type { Lease } from "../../rate-limit/leased-limiter.ts";
import type { LimiterName } from "../../rate-limit/limiter.ts";
import type { PackFiles } from "../../mapping/load/load-pack.ts";
import type { MetricValues } from "../../observability/metrics/aggregate.ts";
import type { TokenCacheEntry, TokenInfo } from "../../auth/token-cache.ts";

/** What workers call in the primary. Without Redis, the primary keeps the state that they share. */
export interface PrimaryApi {
  /** Counts one request, and leases more if the worker wants more. */
  leaseLimit(limiter: LimiterName, key: string, wantsMore: boolean): Promise<Lease>;
  refundLimit(limiter: LimiterName, key: string, count: number): Promise<void>;
  getTokenInfo(hash: string): TokenCacheEntry | undefined;
  /** Without `info`: deletes the entry. */
  setTokenInfo(hash: string, info: TokenInfo | undefined): void;
  /** Purges a token in the primary and in every worker. */
  purge(fingerprint: string): Promise<void>;
  /** The files of the active pack. */
  pack(): PackFiles;
  /** The worker accepts requests on this port. */
  listening(port: number): void;
  /** The worker can't listen, and exits. */
  refused(reason: string): void;
}

/** What the primary calls in a worker. */
export interface WorkerApi {
  readonly readiness: Readiness;
  metrics(): Promise<MetricValues>;
  purge(fingerprint: string): void;
  /** Ends the lease of a rate limit. @returns how many of its requests were not made */
  endLease(limiter: LimiterName, key: string): Promise<number>;
  /** Reads the tokens file again, and starts to activate the pack if it is another one. */
  reload(files: PackFiles): void;
  /** Lets in-flight requests finish, then exits. */
  drain(): void;
}
