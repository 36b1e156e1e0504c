import type { Limiter, LimiterName } from "../../rate-limit/limiter.ts";
import type { TokenCacheBackend } from "../../auth/shared-token-cache.ts";
import type { PrimaryApi } from "./rpc-api.ts";
import type { RpcPeer } from "./ipc-rpc.ts";

/** Counts in the primary, one count for all workers. */
export const createPrimaryLimiter = (primary: RpcPeer<PrimaryApi>, name: LimiterName): Limiter => ({
  consume: (key) => primary.call("consumeLimit", name, key),
  refund: (key) => primary.call("refundLimit", name, key),
  size: 0,
});

/** Keeps facts in the primary. `onPurge`: how the worker is told of a purge. */
export const createPrimaryTokenCache = (
  primary: RpcPeer<PrimaryApi>,
  onPurge: TokenCacheBackend["onPurge"],
): TokenCacheBackend => ({
  get: (hash) => primary.call("getTokenInfo", hash),
  set: (hash, facts) => primary.call("setTokenInfo", hash, facts),
  purge: (fingerprint) => primary.call("purge", fingerprint),
  onPurge,
});
