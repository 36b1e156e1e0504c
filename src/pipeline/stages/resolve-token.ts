import type { TokenLookup, TokenStore } from "../../auth/token-store.ts";
import { NOBODY, type Credentials } from "../context.ts";

/** A caller as v4 sees it: with the token that stands for its own now (lesson L24). */
export interface ResolvedCredentials {
  readonly caller: Credentials;
  readonly grant: TokenLookup;
  /**
   * Looks, once in a request, what stands for the client's token since v4 has refused `refused`: another replica
   * may have renewed it, and this one's copy is seconds old. From then on `caller` and `grant` are the new ones.
   *
   * @returns false where there is nothing else to try
   */
  replace(refused: Credentials): Promise<boolean>;
}

const nothingElse = async (): Promise<boolean> => false;

/** A caller without its token, where a token that can't be used must not keep it from what is public. */
export const anonymous: ResolvedCredentials = { caller: NOBODY, grant: undefined, replace: nothingElse };

/**
 * Looks whether the token is one of the gateway's own exchange, and swaps in what v4 knows in its place.
 *
 * @throws {GrantUnavailable} where it has to be renewed first and can't be now
 */
export async function resolveUpstreamToken(
  caller: Credentials,
  grants: Pick<TokenStore, "find" | "findOther">,
): Promise<ResolvedCredentials> {
  const { hash, token } = caller;
  // A refusal stays with its caller: it has no token.
  if (hash === undefined || token === undefined) return { caller, grant: undefined, replace: nothingElse };
  const grant = await grants.find(hash, token);
  if (grant === undefined || grant === "unknown") return { caller, grant, replace: nothingElse };

  const presented = {
    caller: { token: grant.token, hash: grant.hash },
    grant,
    async replace(refused: Credentials): Promise<boolean> {
      await (looking ??= look());
      return presented.caller.hash !== refused.hash;
    },
  };
  let looking: Promise<void> | undefined;
  const own = { hash, token };
  async function look(): Promise<void> {
    const other = await grants.findOther(own.hash, own.token, presented.caller.hash);
    if (!other) return;
    presented.caller = { token: other.token, hash: other.hash };
    presented.grant = other;
  }
  return presented;
}
