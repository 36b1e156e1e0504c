/** Senders that somebody knows. Tokens, user agents and requests that fail can be invented: strangers decide nothing. */
import { createAcceptedTokens, type AcceptedTokens } from "./accepted-tokens.ts";
import { fingerprint, type TokenCache } from "./token-cache.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";
import { type ClientDirectory, type ClientIdentity, rolloutClient } from "../../audit/index.ts";
import { isSuccess, type Pack, type Route } from "../../pack/index.ts";

/** Whether an answer of the old service shows that it accepts the token: a success, if the route needs one. */
export const showsAcceptance = (route: Pick<Route, "access"> | undefined, status: number): boolean =>
  route !== undefined && route.access !== "public" && isSuccess(status);

/** Who says to have sent a request. */
export interface Sender {
  readonly identity: ClientIdentity;
  /** Of the token; undefined without one. */
  readonly hash: string | undefined;
}

/** Tells clients from strangers. */
export interface KnownSenders {
  /**
   * Who a sender is, by what nobody can invent: its name in the client directory, not by its user agent, else the application
   * to which the gateway has issued its token, else the fingerprint of a token that one of both services has accepted within
   * the last day. Where clients need no credentials, all are known.
   *
   * @returns undefined for a stranger
   */
  knownAs(sender: Sender): string | undefined;
  /** Notes the status with which the old service answered. */
  noteOldAnswer(sender: Sender, route: Pick<Route, "access"> | undefined, status: number): void;
}

/** The tokens that the old service has accepted, whichever pack is active. */
export const createTokensOfOldService = (): AcceptedTokens => createAcceptedTokens();

/** Notes what an answer of the old service says about a token. @param isAcceptance Whether it shows that the token is accepted */
export function noteAnswerOfOldService(
  ofOldService: AcceptedTokens,
  hash: string | undefined,
  status: number,
  isAcceptance: boolean,
): void {
  if (hash === undefined) return;
  if (status === 401) ofOldService.delete(hash);
  else if (isAcceptance) ofOldService.add(hash);
}

/** Whoever needs no credentials, and has no name. */
const ANYBODY = "?";

/** Creates what knows the senders of a pack. @param ofOldService see {@link createTokensOfOldService} */
export function createKnownSenders({
  pack,
  directory,
  tokens,
  upstreamTokens,
  ofOldService,
}: {
  readonly pack: Pick<Pack, "credentials">;
  readonly directory: () => ClientDirectory;
  readonly tokens: Pick<TokenCache, "wasAccepted">;
  readonly upstreamTokens: Pick<UpstreamTokens, "find"> | undefined;
  readonly ofOldService: AcceptedTokens;
}): KnownSenders {
  const needsCredentials = pack.credentials.client !== undefined;
  return {
    knownAs({ identity, hash }) {
      if (!needsCredentials) return directory().nameOf(identity) ?? ANYBODY;
      const name = rolloutClient(directory(), { ...identity, userAgent: undefined });
      if (name !== undefined || hash === undefined) return name;
      const isAccepted =
        tokens.wasAccepted(hash) || ofOldService.has(hash) || upstreamTokens?.find(hash) !== undefined;
      return isAccepted ? fingerprint(hash) : undefined;
    },
    noteOldAnswer({ hash }, route, status) {
      noteAnswerOfOldService(ofOldService, hash, status, showsAcceptance(route, status));
    },
  };
}
