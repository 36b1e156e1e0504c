/**
 * The gate in front of v4 for requests in its own dialect: it checks the permissions of tokens, and limits how many
 * unknown tokens an address may send.
 */
import type { Access, FindV4Access, Grants, Scopes } from "../../pack/index.ts";
import { type TokenLookup, type TokenStore, TokenUnavailableError } from "../auth/token-store.ts";
import type { AlphaRequest } from "../request/request.ts";
import { SAFE_METHODS } from "../http/origins.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { isAcceptedToken, type TokenCache } from "../auth/token-cache.ts";
import type { JudgeToken, TokenVerdict } from "../auth/judge-token.ts";

/**
 * The decision about a native request: it is forwarded unchanged, with v4's token in place of the client's, or not at
 * all.
 */
export interface NativeAuthorization {
  readonly token?: string;
  /** Whether the gateway has issued the token and not revoked it. */
  readonly isIssued?: true;
  /** The application to which the gateway has issued the token. */
  readonly application?: string | undefined;
  readonly error?: {
    readonly status: 401 | 403 | 503;
    readonly reason: string;
    /** Whether the same request may succeed later. */
    readonly isTemporary?: true;
  };
}

export interface NativeAuthorizationDependencies {
  readonly issued: Pick<TokenStore, "find">;
  readonly scopes: Scopes;
  readonly accessOf: FindV4Access;
}

/** Authorizes a native request. An invalid token is an `error` of the decision, not a rejection. */
export type AuthorizeNative = (
  request: AlphaRequest,
  hash: string,
  token: string,
) => Promise<NativeAuthorization>;

const UNCHANGED: NativeAuthorization = {};
const INVALID: NativeAuthorization = { error: { status: 401, reason: "The access token is not valid." } };
const FORBIDDEN: NativeAuthorization = {
  isIssued: true,
  error: { status: 403, reason: "The access token does not grant this." },
};
const UNAVAILABLE: NativeAuthorization = {
  error: {
    status: 503,
    reason: "What the access token grants is not known at the moment. Try again later.",
    isTemporary: true,
  },
};

/**
 * Limits tokens that the gateway issued to their alpha levels, in both dialects. v4 decides about all other tokens.
 *
 * A v4 call that alpha's routes make needs the scopes of these routes. Alpha has no scope for other calls. They pass
 * if the token's v4 scopes are not wider than its alpha levels. For a read, only the levels for reading count. A
 * token without scopes may make only public calls, because the response is not translated and nothing can be removed
 * from it.
 */
export function createNativeAuthorization({
  issued,
  scopes,
  accessOf,
}: NativeAuthorizationDependencies): AuthorizeNative {
  function isAllowed(levels: Grants, { method, path }: Pick<AlphaRequest, "method" | "path">): boolean {
    if (levels === "all") return true;
    const needed = accessOf(method, path);
    if (needed?.required.every((access: Access) => access === "public")) return true;
    if (levels.size === 0) return false;
    if (needed && !needed.makesToken)
      return needed.required.every((access) => scopes.permits(levels, access));
    return (
      scopes.isExact(levels, SAFE_METHODS.has(method)) &&
      (needed?.required ?? []).every((access) => scopes.permits(levels, access))
    );
  }

  function decide(found: TokenLookup, request: Pick<AlphaRequest, "method" | "path">): NativeAuthorization {
    if (found === undefined) return UNCHANGED;
    if (found === "unknown") return SAFE_METHODS.has(request.method) ? UNCHANGED : UNAVAILABLE;
    if (found.isRevoked) return INVALID;
    const { application } = found;
    return isAllowed(found.levels, request)
      ? { token: found.token, isIssued: true, application }
      : { ...FORBIDDEN, application };
  }

  return async function authorizeNative(request, hash, token) {
    try {
      return decide(await issued.find(hash, token), request);
    } catch (error) {
      if (error instanceof TokenUnavailableError) return UNAVAILABLE;
      throw error;
    }
  };
}

/**
 * The known facts about the token of a native request before v4 is called, and functions for the facts that are still
 * unknown.
 */
export interface NativeToken {
  /** Seconds after which the client may try again. Undefined if v4 may be called now. */
  readonly retryAfter?: number;
  /** Whether v4 has accepted the token before. */
  readonly isAccepted: boolean;
  /** The gateway has issued the token. v4's responses to its v4 token do not change that. */
  onIssued(): void;
  /**
   * Call this with v4's response to the client's token.
   *
   * @returns whether v4 has accepted the token
   */
  onResponse(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): boolean;
  /** v4 has failed, or could not be called. Not called for failures that the client has caused. */
  onFailure(): void;
}

/** Looks a token up. Returns a promise only if the cache or a limit is outside of this process. */
export type LookUpNativeToken = (request: AlphaRequest, hash: string) => Promise<NativeToken>;

export interface NativeRateLimitDependencies {
  readonly tokens: TokenCache;
  readonly limits: RateLimits;
  readonly judgeToken: JudgeToken;
}

/** Whether a request with an unknown token is not charged to its address. */
const isFree = (verdict: TokenVerdict): boolean =>
  verdict.says === "accepted" || (verdict.says === "nothing" && verdict.hasFailed);

/**
 * Limits how often an address may send tokens that v4 has not accepted, by the limit of unknown tokens in the alpha
 * pipeline. An accepted token costs nothing. An unknown one costs its address one request, which is refunded if v4
 * accepts the token or fails. The success of a call that the pack does not know does not prove acceptance, because v4
 * may ignore the token there.
 */
export function createNativeRateLimit({
  tokens,
  limits,
  judgeToken,
}: NativeRateLimitDependencies): LookUpNativeToken {
  /** @param creditAddress refunds the request. Undefined if it costs nothing */
  function createToken(
    { method, path }: AlphaRequest,
    hash: string,
    isAccepted: boolean,
    creditAddress?: () => Promise<void>,
  ): NativeToken {
    let credit = creditAddress;
    /** Only the first outcome counts, because v4 may break off a response with 401. */
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
        // Invented tokens must not evict clients' tokens from the cache.
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
