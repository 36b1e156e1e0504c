import type { Scopes } from "../../dialect/scopes.ts";
import type { RateLimits } from "../../rate-limit/rate-limits.ts";
import type { TokenInfo, TokenCache } from "../../auth/token-cache.ts";
import type { AlphaRequest } from "../context.ts";

/** What is known about the token of a native request before v4 is called. */
export interface NativeToken {
  /** Seconds after which the client may try again; undefined where v4 may be called now. */
  readonly retryAfter?: number;
  /** Whether v4 has accepted the token. */
  readonly isKnown: boolean;
  /**
   * Call this with v4's response, or with the gateway's own error.
   *
   * @param isReplaced whether v4 was called with another token in place of the client's
   */
  onResponse(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    isReplaced: boolean,
  ): void;
}

/** Looks a token up. Returns a promise only where the cache or a limit is not in this process. */
export type LookUpNativeToken = (request: AlphaRequest, hash: string) => NativeToken | Promise<NativeToken>;

export interface NativeRateLimitDependencies {
  readonly tokens: TokenCache;
  readonly limits: RateLimits;
  readonly scopes: Scopes;
  readonly scopesHeader: string | undefined;
}

const UNAUTHORIZED = 401;

/**
 * Limits how often an address may send tokens that v4 rejects. The limit is that of unknown tokens in the alpha
 * pipeline. An accepted token costs nothing. An unknown one costs its address one request, which is refunded unless v4
 * responds with 401.
 */
export function createNativeRateLimit({
  tokens,
  limits,
  scopes,
  scopesHeader,
}: NativeRateLimitDependencies): LookUpNativeToken {
  const scopesHeaderName = scopesHeader?.toLowerCase();

  async function consume({ address }: AlphaRequest, hash: string): Promise<NativeToken> {
    const { status: limit, creditAddress } = await limits.consumeAddress(address);
    return {
      ...(!limit.isAllowed && { retryAfter: limit.retryAfter }),
      isKnown: false,
      onResponse(status, headers, isReplaced) {
        if (status === UNAUTHORIZED && !isReplaced) return;
        void creditAddress?.().catch(() => {});
        // The gateway itself issued the token.
        if (isReplaced) return tokens.setScopes(hash, undefined);
        // A response of a public path says nothing about the token, and has no scopes.
        const scopeList = scopesHeaderName && headers[scopesHeaderName];
        if (scopeList !== undefined) tokens.setScopes(hash, scopes.grants(String(scopeList)));
      },
    };
  }

  function decide(
    tokenInfo: TokenInfo | undefined,
    request: AlphaRequest,
    hash: string,
  ): ReturnType<LookUpNativeToken> {
    if (tokenInfo?.refused !== false) return consume(request, hash);
    return {
      isKnown: true,
      onResponse(status, _headers, isReplaced) {
        if (status === UNAUTHORIZED && !isReplaced) tokens.setRejected(hash);
      },
    };
  }

  return (request, hash) => {
    const tokenInfo = tokens.get(hash);
    return tokenInfo instanceof Promise
      ? tokenInfo.then((found) => decide(found, request, hash))
      : decide(tokenInfo, request, hash);
  };
}
