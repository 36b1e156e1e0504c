import type { Limiter, LimiterName } from "../../rate-limit/limiter.ts";
import type { TokenCacheBackend } from "../../auth/shared-token-cache.ts";
import type { PrimaryApi } from "./rpc-api.ts";
import type { RpcPeer } from "./ipc-rpc.ts";

/** Counts in the primary, one count for all workers. */
export const createPrimaryLimiter = (primary: RpcPeer<PrimaryApi>, name: LimiterName): Limiter => ({
  take: (key) => primary.ask("take", name, key),
  giveBack: (key) => primary.ask("giveBack", name, key),
  size: 0,
});

/** Keeps facts in the primary. `onPurge`: how the worker is told of a purge. */
export const createPrimaryTokenCache = (
  primary: RpcPeer<PrimaryApi>,
  onPurge: TokenCacheBackend["onPurge"],
): TokenCacheBackend => ({
  get: (hash) => primary.ask("recall", hash),
  set: (hash, facts) => primary.ask("learn", hash, facts),
  purge: (fingerprint) => primary.ask("purge", fingerprint),
  onPurge,
});
