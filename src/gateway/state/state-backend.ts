import type { KeyValueStore } from "../../base/index.ts";
import type { TokenCacheBackend } from "../auth/token-cache.ts";
import type { Limiter, LimiterName } from "../limits/limiter.ts";

/** The state of clients outside of this process: `redis-backend.ts` has one. */
export interface StateBackend {
  /** While it fails, this process enforces its part of a limit. */
  limiterOf(name: LimiterName): Limiter;
  /** While it fails, this process uses its own cache. */
  readonly tokenCache: TokenCacheBackend;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  /** How many processes share it, with this one. */
  replicas(): number;
  /** Why the processes can't share it now. */
  problems(): readonly string[];
  close(): Promise<void>;
}
