/** Tokens that the upstream gets in place of the clients' tokens. */
import { isDeepStrictEqual } from "node:util";
import { tokenHash } from "./token-cache.ts";

/** A token of the upstream, and its key in the token cache. */
export interface UpstreamToken {
  readonly token: string;
  /** It starts with the hash of the client's token, so that both entries are purged together. */
  readonly hash: string;
}

/** The table of the clients' tokens. */
export interface UpstreamTokens {
  /**
   * Finds the upstream's token for a client's. It looks up a hash, so that its time reveals nothing about the tokens.
   *
   * @returns undefined for a token that the gateway does not know
   */
  find(hash: string): UpstreamToken | undefined;
  /** The gateway's own token for all calls. Undefined if each client has another one. */
  readonly gatewayToken: string | undefined;
}

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

/** Creates the table. It stores the clients' tokens as hashes only. */
export function createUpstreamTokens(tokens: Iterable<TokenPair>, gatewayToken?: string) {
  let byHash = hashTokens(tokens);
  return {
    find: (hash: string) => byHash.get(hash),
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
