/** The gate in front of v4 for requests in its own dialect: what a token may do, and how many unknown ones an address may send. */
import type { Access, FindV4Access, Grants, Scopes } from "../../pack/index.ts";
import { type TokenLookup, type TokenStore, TokenUnavailableError } from "../auth/token-store.ts";
import type { AlphaRequest } from "../request/request.ts";
import { SAFE_METHODS } from "../http/origins.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { isAcceptedToken, type TokenCache } from "../auth/token-cache.ts";
import type { JudgeToken, TokenVerdict } from "../auth/judge-token.ts";

/** How a native request goes on: as it is, with v4's token in place of the client's, or not at all. */
export interface NativeAuthorization {
  readonly token?: string;
  /** Whether the token is one that the gateway has issued and not revoked. */
  readonly isIssued?: true;
  /** The application that the gateway has issued the token to. */
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

/** Authorizes a native request. What is wrong with its token is an `error` of the decision, not a rejection. */
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
 * Keeps tokens that the gateway issued to their alpha levels, in both dialects. v4 decides about all other tokens.
 *
 * A v4 call that alpha's routes make needs what those routes need. Alpha has no scope for other calls: they pass where
 * v4's scopes of the token are not wider than its alpha levels; for a read, those levels reduced to reading. A token
 * without scopes may use public calls alone: the response is not translated, so nothing could be left out of it.
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
