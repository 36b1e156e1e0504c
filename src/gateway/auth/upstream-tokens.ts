/** Tokens that are sent to the upstream instead of the clients' tokens. */
import { isDeepStrictEqual } from "node:util";
import { tokenHash } from "./token-cache.ts";

/** A token of the upstream, and its key in the token cache. */
export interface UpstreamToken {
  readonly token: string;
  /** The hash of the client's token comes first, so that both entries are purged together. */
  readonly hash: string;
}

/** The table of the clients' tokens. */
export type UpstreamTokens = Pick<UpstreamTokenTable, "find" | "gatewayToken">;

/** The client's token and the upstream's token, in clear text. */
export type TokenPair = readonly [client: string, upstream: string];

/** A table whose tokens are replaced while requests are served. */
export type UpstreamTokenTable = ReturnType<typeof createUpstreamTokens>;

function hashTokens(tokens: Iterable<TokenPair>): ReadonlyMap<string, UpstreamToken> {
  const byHash = new Map<string, UpstreamToken>();
  for (const [client, upstream] of tokens) {
    const hash = tokenHash(client);
    byHash.set(hash, { token: upstream, hash: `${hash}.${tokenHash(upstream)}` });
  }
  return byHash;
}

/** Creates the table. It only stores the clients' tokens as hashes. */
export function createUpstreamTokens(tokens: Iterable<TokenPair>, gatewayToken?: string) {
  let byHash = hashTokens(tokens);
  return {
    /**
     * Finds the upstream's token for a client's token, by its hash, so that the time does not depend on the tokens.
     *
     * @returns undefined for an unknown token
     */
    find: (hash: string): UpstreamToken | undefined => byHash.get(hash),
    /** The gateway's own token for all calls. Undefined if each client has its own upstream token. */
    gatewayToken,
    /** Replaces all tokens at once. In-flight requests keep their tokens. @returns Whether any token has changed. */
    replace(others: Iterable<TokenPair>): boolean {
      const next = hashTokens(others);
      const isChanged = !isDeepStrictEqual(next, byHash);
      byHash = next;
      return isChanged;
    },
  };
}
