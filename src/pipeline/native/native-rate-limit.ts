import type { Scopes } from "../../dialect/scopes.ts";
import type { RateLimits } from "../../rate-limit/rate-limits.ts";
import type { TokenInfo, TokenCache } from "../../auth/token-cache.ts";
import type { AlphaRequest } from "../context.ts";

/** What is known of the token of a native request before v4 is asked. */
export interface NativeToken {
  /** Seconds after which the client may come again; undefined where v4 may be asked now. */
  readonly retryAfter?: number;
  /** Has v4 taken the token? */
  readonly known: boolean;
  /** To be called with v4's answer, or the gateway's own refusal; `isOwn`: v4 was shown another token in its place. */
  answered(
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    isOwn: boolean,
  ): void;
}

export type LookUpNativeToken = (asked: AlphaRequest, hash: string) => NativeToken | Promise<NativeToken>;

export interface NativeRateLimitDependencies {
  readonly tokens: TokenCache;
  readonly limits: RateLimits;
  readonly scopes: Scopes;
  readonly scopesHeader: string;
}

const UNAUTHORIZED = 401;

/**
 * Limits how often an address may show tokens that v4 refuses, by the budget that the alpha lane counts unknown tokens
 * against. A token that v4 is known to have taken costs nothing; one of which nothing is known costs the address one
 * request, which is given back unless v4's answer is 401.
 */
export function createNativeRateLimit({
  tokens,
  limits,
  scopes,
  scopesHeader,
}: NativeRateLimitDependencies): LookUpNativeToken {
  const header = scopesHeader.toLowerCase();

  async function guess({ address }: AlphaRequest, hash: string): Promise<NativeToken> {
    const { status: standing, creditAddress: vouch } = await limits.consumeAddress(address);
    return {
      ...(!standing.isAllowed && { retryAfter: standing.retryAfter }),
      known: false,
      answered(status, headers, isOwn) {
        if (status === UNAUTHORIZED && !isOwn) return;
        void vouch?.().catch(() => {});
        // The gateway itself knows it.
        if (isOwn) return tokens.setScopes(hash, undefined);
        // A public path says nothing of the token, and no scopes either.
        const given = headers[header];
        if (given !== undefined) tokens.setScopes(hash, scopes.grants(String(given)));
      },
    };
  }

  function decide(
    facts: TokenInfo | undefined,
    asked: AlphaRequest,
    hash: string,
  ): ReturnType<LookUpNativeToken> {
    if (facts?.refused !== false) return guess(asked, hash);
    return {
      known: true,
      answered(status, _headers, isOwn) {
        if (status === UNAUTHORIZED && !isOwn) tokens.setRejected(hash);
      },
    };
  }

  return (asked, hash) => {
    const facts = tokens.get(hash);
    return facts instanceof Promise
      ? facts.then((found) => decide(found, asked, hash))
      : decide(facts, asked, hash);
  };
}
