import type { Access, Grants, Scopes } from "../../dialect/scopes.ts";
import type { FindV4Access } from "../../mapping/compile/upstream-access.ts";
import { TokenUnavailableError, type TokenLookup, type TokenStore } from "../../auth/token-store.ts";
import type { AlphaRequest } from "../context.ts";

/** How a request of v4's own dialect goes on: as it came, with v4's token in place of the client's, or not at all. */
export interface NativeEntry {
  readonly token?: string;
  readonly refusal?: { readonly status: 401 | 403 | 503; readonly reason: string };
}

export interface NativeAccessParts {
  readonly grants: Pick<TokenStore, "find">;
  readonly scopes: Scopes;
  readonly accessOf: FindV4Access;
}

const AS_IT_CAME: NativeEntry = {};
const REFUSED: NativeEntry = { refusal: { status: 401, reason: "The access token is not valid." } };
const FORBIDDEN: NativeEntry = {
  refusal: { status: 403, reason: "The access token does not grant this." },
};
const UNKNOWN: NativeEntry = {
  refusal: {
    status: 503,
    reason: "What the access token grants is not known at the moment. Try again later.",
  },
};

const READS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Holds tokens of which the gateway knows alpha's levels to these levels, whatever lane they come by. Other tokens are
 * v4's to judge.
 *
 * A call that alpha's routes make needs what they need. For any other alpha has no scope, so that v4's are all there
 * is: it passes where they say no more than alpha's levels do, for a read those levels lowered to reading. A token
 * without scopes is for what is public alone: its answer is not translated, so that nothing can be left out of it.
 */
export function createNativeAuthorization({ grants, scopes, accessOf }: NativeAccessParts) {
  function allows(levels: Grants, { method, path }: Pick<AlphaRequest, "method" | "path">): boolean {
    if (levels === "all") return true;
    const needed = accessOf(method, path);
    if (needed?.all.every((access: Access) => access === "public")) return true;
    if (levels.size === 0) return false;
    if (needed && !needed.makesToken) return needed.all.every((access) => scopes.permits(levels, access));
    return (
      scopes.isExact(levels, READS.has(method)) &&
      (needed?.all ?? []).every((access) => scopes.permits(levels, access))
    );
  }

  function entryOf(found: TokenLookup, asked: Pick<AlphaRequest, "method" | "path">): NativeEntry {
    if (found === undefined) return AS_IT_CAME;
    if (found === "unknown") return READS.has(asked.method) ? AS_IT_CAME : UNKNOWN;
    if (found.isRevoked) return REFUSED;
    return allows(found.levels, asked) ? { token: found.token } : FORBIDDEN;
  }

  /** Without a wait where the token is known in this process. */
  return function enter(
    asked: AlphaRequest,
    hash: string,
    token: string,
  ): NativeEntry | Promise<NativeEntry> {
    const found = grants.find(hash, token);
    if (!(found instanceof Promise)) return entryOf(found, asked);
    return found.then(
      (grant) => entryOf(grant, asked),
      (error: unknown) => {
        if (error instanceof TokenUnavailableError) return UNKNOWN;
        throw error;
      },
    );
  };
}
