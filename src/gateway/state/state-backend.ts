/** The interface of a backend that keeps the state of clients for several processes. */
import type { KeyValueStore, Settings, STATE_SETTINGS } from "../../base/index.ts";
import type { TokenCacheBackend } from "../auth/token-cache.ts";
import type { Limiter, LimiterName } from "../limits/limiter.ts";

/** `redis-backend.ts` implements it. If its limiters or its token cache fail, processes use their own. */
export interface StateBackend {
  limiter(name: LimiterName): Limiter;
  readonly tokenCache: TokenCacheBackend;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  /** How many processes share it, with this one. */
  replicas(): number;
  /** Why the processes can't share it now. */
  problems(): readonly string[];
  close(): Promise<void>;
}

/** The settings that say where the state is. */
export type StateSettings = Pick<Settings, (typeof STATE_SETTINGS)[number]>;
