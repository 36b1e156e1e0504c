/** Tokens that the upstream gets in place of the clients'. */
import { isDeepStrictEqual } from "node:util";
import { tokenHash } from "./token-cache.ts";

/** A token of the upstream, and its key in the token cache. */
export interface UpstreamToken {
  readonly token: string;
  /** Starts with the hash of the client's token, so that both are purged together. */
  readonly hash: string;
}

/** The gateway's own knowledge of its clients' tokens. */
export interface UpstreamTokens {
  /**
   * Finds the upstream's token for a client's. The look-up is by the hash: its time says nothing about the tokens.
   *
   * @returns undefined for a token that the gateway does not know
   */
  find(hash: string): UpstreamToken | undefined;
  /** The token of all calls, which is the gateway's; undefined if each client has another one. */
  readonly gatewayToken: string | undefined;
}

/** The client's token and the upstream's token, in clear text. */
export type TokenPair = readonly [client: string, upstream: string];

/** A look-up whose tokens are replaced while requests are served. */
export interface UpstreamTokenTable extends UpstreamTokens {
  /** Replaces all tokens at once. In-flight requests keep theirs. @returns Whether any of them is different. */
  replace(tokens: Iterable<TokenPair>): boolean;
}

function hashTokens(tokens: Iterable<TokenPair>): ReadonlyMap<string, UpstreamToken> {
  const byHash = new Map<string, UpstreamToken>();
  for (const [client, upstream] of tokens) {
    const hash = tokenHash(client);
    byHash.set(hash, { token: upstream, hash: `${hash}.${tokenHash(upstream)}` });
  }
  return byHash;
}

/** Creates the look-up. Of the clients' tokens only hashes are kept. */
export function createUpstreamTokens(tokens: Iterable<TokenPair>, gatewayToken?: string): UpstreamTokenTable {
  let byHash = hashTokens(tokens);
  return {
    find: (hash) => byHash.get(hash),
    gatewayToken,
    replace(others) {
      const next = hashTokens(others);
      const isChanged = !isDeepStrictEqual(next, byHash);
      byHash = next;
      return isChanged;
    },
  };
}
