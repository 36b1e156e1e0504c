import type { TokenLookup, TokenStore } from "../../auth/token-store.ts";
import { NOBODY, type Credentials } from "../context.ts";

/** A caller as v4 sees it: with the token that stands for its own now (lesson L24). */
export interface ResolvedCredentials {
  readonly credentials: Credentials;
  readonly grant: TokenLookup;
  /**
   * Looks, once in a request, what stands for the client's token since v4 has refused `refused`: another replica
   * may have renewed it, and this one's copy is seconds old. From then on `caller` and `grant` are the new ones.
   *
   * @returns false where there is nothing else to try
   */
  refreshAfter401(refused: Credentials): Promise<boolean>;
}

const nothingElse = async (): Promise<boolean> => false;

/** A caller without its token, where a token that can't be used must not keep it from what is public. */
export const anonymous: ResolvedCredentials = {
  credentials: NOBODY,
  grant: undefined,
  refreshAfter401: nothingElse,
};

/**
 * Looks whether the token is one of the gateway's own exchange, and swaps in what v4 knows in its place.
 *
 * @throws {GrantUnavailable} where it has to be renewed first and can't be now
 */
export async function resolveUpstreamToken(
  caller: Credentials,
  grants: Pick<TokenStore, "find" | "findReplacement">,
): Promise<ResolvedCredentials> {
  const { hash, token } = caller;
  // A refusal stays with its caller: it has no token.
  if (hash === undefined || token === undefined)
    return { credentials: caller, grant: undefined, refreshAfter401: nothingElse };
  const grant = await grants.find(hash, token);
  if (grant === undefined || grant === "unknown")
    return { credentials: caller, grant, refreshAfter401: nothingElse };

  const clientToken = { hash, token };
  let replacing: Promise<void> | undefined;
  const resolved: { -readonly [K in keyof ResolvedCredentials]: ResolvedCredentials[K] } = {
    credentials: { token: grant.token, hash: grant.hash },
    grant,
    async refreshAfter401(refused) {
      await (replacing ??= replace());
      return resolved.credentials.hash !== refused.hash;
    },
  };
  async function replace(): Promise<void> {
    const current = resolved.credentials.hash ?? "";
    const replacement = await grants.findReplacement(clientToken.hash, clientToken.token, current);
    if (!replacement) return;
    resolved.credentials = { token: replacement.token, hash: replacement.hash };
    resolved.grant = replacement;
  }
  return resolved;
}
