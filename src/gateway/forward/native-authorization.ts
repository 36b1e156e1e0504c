/**
 * The gate in front of v4 for requests in its own dialect: it checks the permissions of tokens, and limits how many
 * unknown tokens an address may send.
 */
import { type FindV4Access, namesAnotherMethod, type Pack, type Scopes } from "../../pack/index.ts";
import { INVALID_TOKEN, judge, NOT_GRANTED, permitsCall } from "../auth/permissions.ts";
import { type TokenLookup, type TokenStore, TokenUnavailableError } from "../auth/token-store.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import { SAFE_METHODS } from "../http/origins.ts";
import { HEAD_TOO_LONG, isHeadTooLong } from "../http/request-context.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import { isAcceptedToken, type TokenCache } from "../auth/token-cache.ts";
import type { JudgeToken, TokenVerdict } from "../auth/judge-token.ts";
import type { Exchange, ForwardPolicy, JudgedToken } from "./exchange.ts";
import { nativeError } from "./forward-errors.ts";

/** The token of a native request. */
export const nativeToken = (plain: AlphaRequest): string =>
  (header(plain, "authorization") ?? "").trim().replace(/^\S+ +/, "");

/**
 * The decision about a native request: it is forwarded unchanged, forwarded with v4's token instead of the client's, or
 * rejected.
 */
interface NativeAuthorization {
  readonly token?: string;
  /** Whether the gateway issued the token and has not revoked it. */
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

/** Authorizes a native request. An invalid token is an `error` of the decision, not a rejection. */
type AuthorizeNative = (request: AlphaRequest, hash: string, token: string) => Promise<NativeAuthorization>;

const UNCHANGED: NativeAuthorization = {};
const INVALID: NativeAuthorization = { error: { status: 401, reason: INVALID_TOKEN } };
const FORBIDDEN: NativeAuthorization = {
  isIssued: true,
  error: { status: 403, reason: NOT_GRANTED },
};
const UNAVAILABLE: NativeAuthorization = {
  error: {
    status: 503,
    reason: "What the access token grants is not known at the moment. Try again later.",
    isTemporary: true,
  },
};

/**
 * Limits tokens that the gateway issued to their alpha levels, in both dialects: see {@link permitsCall}. v4 decides about
 * all other tokens.
 */
export function createNativeAuthorization({
  issued,
  scopes,
  accessOf,
}: {
  readonly issued: Pick<TokenStore, "find">;
  readonly scopes: Scopes;
  readonly accessOf: FindV4Access;
}): AuthorizeNative {
  function decide(found: TokenLookup, { method, path }: AlphaRequest): NativeAuthorization {
    const isRead = SAFE_METHODS.has(method);
    const validity = judge(found);
    if (validity === "invalid") return INVALID;
    if (validity === "unknown") return isRead ? UNCHANGED : UNAVAILABLE;
    if (typeof found !== "object") return UNCHANGED;
    const { application, grants, token } = found;
    return permitsCall(grants, accessOf(method, path), isRead, scopes)
      ? { token, isIssued: true, application }
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

interface NativeTokenParts {
  readonly tokens: TokenCache;
  readonly limits: RateLimits;
  readonly judgeToken: JudgeToken;
}

/** Whether a request with an unknown token is not counted against its address. */
const isFree = (verdict: TokenVerdict): boolean =>
  verdict.says === "accepted" || (verdict.says === "nothing" && verdict.hasFailed);

/**
 * The token of one native request. A request with an accepted token is not counted. A request with an unknown token
 * counts towards the limit of unknown tokens of its client's address. The count is undone if v4 accepts the token or
 * fails.
 *
 * @param creditAddress Refunds the request. Undefined if it was not counted.
 */
function createNativeToken(
  { method, path }: AlphaRequest,
  { hash, isAccepted }: { readonly hash: string; readonly isAccepted: boolean },
  { tokens, judgeToken }: NativeTokenParts,
  creditAddress: (() => Promise<void>) | undefined,
): JudgedToken & { onIssued(): void } {
  let credit = creditAddress;
  /** Only the first outcome has an effect, because v4 may end a response with 401 early. */
  function settle(isRefunded: boolean): void {
    if (isRefunded) void credit?.().catch(() => {});
    credit = undefined;
  }
  return {
    onFailure: () => settle(true),
    /** The gateway issued the token. v4's responses to the corresponding v4 token do not change that. */
    onIssued() {
      settle(true);
      tokens.setScopes(hash, undefined);
    },
    // If the pack does not contain a call, a successful response does not prove acceptance: v4 may ignore the token there.
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

const OTHER_METHOD = "A header names another method than the request has. Send the request with that method.";

/** The dependencies of the gate. */
interface NativeGateParts extends NativeTokenParts {
  readonly pack: Pack;
  readonly authorize: AuthorizeNative;
}

/** Creates the gate. It looks up the client's token, and authorizes the request. */
export function createNativeGate(parts: NativeGateParts): ForwardPolicy["admit"] {
  const { pack, tokens, limits, authorize } = parts;
  const { nativeScheme = "", dialect } = pack;

  /** Looks up the token. @returns seconds after which the client may try again; undefined if v4 may be called now */
  async function lookUp({ plain, hash = "" }: Exchange) {
    const isAccepted = isAcceptedToken(hash, await tokens.get(hash), tokens);
    const charged = isAccepted ? undefined : await limits.consumeAddress(plain.address);
    const token = createNativeToken(plain, { hash, isAccepted }, parts, charged?.creditAddress);
    const retryAfter = charged && !charged.status.isAllowed ? charged.status.retryAfter : undefined;
    return { token, isAccepted, retryAfter };
  }

  return async function admit(exchange) {
    const { plain, request, response, hash = "" } = exchange;
    const reject = (status: number, reason: string, headers = {}): false => {
      exchange.reject({ ...nativeError(pack, reason, status), headers });
      return false;
    };
    const { token, isAccepted, retryAfter } = await lookUp(exchange);
    exchange.token = token;
    exchange.isAccepted = isAccepted;
    if (retryAfter !== undefined) {
      const reason = `too many tokens that ${dialect.upstream.name} has not accepted, from this address`;
      exchange.rejectLimited(reason, { "retry-after": String(retryAfter) });
      return false;
    }
    if (isHeadTooLong(request)) {
      exchange.rejectedBy = "head_size";
      return reject(431, HEAD_TOO_LONG, { "x-request-id": plain.id });
    }
    if (namesAnotherMethod(plain.method, plain.headers)) return reject(400, OTHER_METHOD);
    const decision = await authorize(plain, hash, nativeToken(plain));
    const { token: replacement, isIssued, application, error } = decision;
    exchange.application = application;
    // The client has disconnected, and the record is written.
    if (response.destroyed) return false;
    if (isIssued) {
      token.onIssued();
      exchange.isAccepted = true;
    }
    if (error) {
      if (error.isTemporary) token.onFailure();
      return reject(error.status, error.reason, error.isTemporary ? exchange.retryAfter : {});
    }
    exchange.isReplaced = replacement !== undefined;
    if (replacement !== undefined) request.headers.authorization = `${nativeScheme} ${replacement}`;
    return true;
  };
}
