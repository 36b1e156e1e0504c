import type { KeyValueStore } from "../../base/index.ts";
import type { TokenCacheBackend } from "../auth/token-cache.ts";
import type { Limiter, LimiterName } from "../limits/limiter.ts";

/** The state of clients outside of this process. `redis-backend.ts` implements it. */
export interface StateBackend {
  /** Returns a shared limiter. While it fails, this process enforces its part of the limit. */
  limiterOf(name: LimiterName): Limiter;
  /** The shared token cache. If it fails, this process uses its own. */
  readonly tokenCache: TokenCacheBackend;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  /** Number of processes that share the state, including this one. */
  replicas(): number;
  /** Returns why the processes can't share the state now. */
  problems(): readonly string[];
  close(): Promise<void>;
}
