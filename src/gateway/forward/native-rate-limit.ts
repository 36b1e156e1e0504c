import type { RateLimits } from "../limits/rate-limits.ts";
import { isAcceptedToken, type TokenCache } from "../auth/token-cache.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import type { JudgeToken, TokenVerdict } from "../auth/judge-token.ts";

/** The known facts about the token of a native request before v4 is called, and the facts that are still unknown. */
export interface NativeToken {
  /** Seconds after which the client may try again; undefined where v4 may be called now. */
  readonly retryAfter?: number;
  /** Whether v4 has accepted the token before. */
  readonly isAccepted: boolean;
  /** The gateway has issued the token: nothing that v4 says about the one in its place changes that. */
  onIssued(): void;
  /**
   * Call this with v4's response to the client's token.
   *
   * @returns whether v4 has accepted the token
   */
  onResponse(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): boolean;
  /** v4 has failed, or could not be called. Not for what the client itself has caused. */
  onFailure(): void;
}

/** Looks a token up. Returns a promise only where the cache or a limit is not in this process. */
export type LookUpNativeToken = (request: AlphaRequest, hash: string) => Promise<NativeToken>;

export interface NativeRateLimitDependencies {
  readonly tokens: TokenCache;
  readonly limits: RateLimits;
  readonly judgeToken: JudgeToken;
}

/** Whether a request with an unknown token costs its address nothing. */
const isFree = (verdict: TokenVerdict): boolean =>
  verdict.says === "accepted" || (verdict.says === "nothing" && verdict.hasFailed);

/**
 * Limits how often an address may send tokens that v4 has not accepted. The limit is that of unknown tokens in the alpha
 * pipeline. An accepted token costs nothing. An unknown one costs its address one request. That is refunded if v4
 * accepts the token, and if v4 fails. The success of a call that the pack does not know is not acceptance: nobody knows
 * whether v4 looks at the token there.
 */
export function createNativeRateLimit({
  tokens,
  limits,
  judgeToken,
}: NativeRateLimitDependencies): LookUpNativeToken {
  /** @param creditAddress refunds the request; undefined where it costs nothing */
  function createToken(
    { method, path }: AlphaRequest,
    hash: string,
    isAccepted: boolean,
    creditAddress?: () => Promise<void>,
  ): NativeToken {
    let credit = creditAddress;
    /** Only what is learned first counts: v4 may break off a response with 401. */
    function settle(isRefunded: boolean): void {
      if (isRefunded) void credit?.().catch(() => {});
      credit = undefined;
    }
    return {
      isAccepted,
      onFailure: () => settle(true),
      onIssued() {
        settle(true);
        tokens.setScopes(hash, undefined);
      },
      onResponse(status, headers) {
        const verdict = judgeToken({ method, path }, { status, headers });
        settle(isFree(verdict));
        if (verdict.says === "accepted") tokens.setScopes(hash, verdict.grants);
        // Made-up tokens must not push those of clients out of the cache.
        if (verdict.says === "rejected" && isAccepted) tokens.setRejected(hash);
        return verdict.says === "accepted";
      },
    };
  }

  async function consume(request: AlphaRequest, hash: string): Promise<NativeToken> {
    const { status: limit, creditAddress } = await limits.consumeAddress(request.address);
    return {
      ...createToken(request, hash, false, creditAddress),
      ...(!limit.isAllowed && { retryAfter: limit.retryAfter }),
    };
  }

  return async (request, hash) => {
    const isAccepted = isAcceptedToken(hash, await tokens.get(hash), tokens);
    return isAccepted ? createToken(request, hash, true) : consume(request, hash);
  };
}
