/** Tokens that the upstream gets in place of the clients'. */
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

/** Creates the look-up. @param tokens client's token and upstream's token, in clear text. Only hashes of the first are kept. */
export function createUpstreamTokens(
  tokens: Iterable<readonly [client: string, upstream: string]>,
  gatewayToken?: string,
): UpstreamTokens {
  const byHash = new Map<string, UpstreamToken>();
  for (const [client, upstream] of tokens) {
    const hash = tokenHash(client);
    byHash.set(hash, { token: upstream, hash: `${hash}.${tokenHash(upstream)}` });
  }
  return { find: (hash) => byHash.get(hash), gatewayToken };
}
