import type { Access, FindV4Access, Grants, Scopes } from "../../pack/index.ts";
import { TokenUnavailableError, type TokenLookup, type TokenStore } from "../auth/token-store.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import { SAFE_METHODS } from "../http/origins.ts";

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
