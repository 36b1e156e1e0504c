/** Senders that somebody knows. Tokens, user agents and requests that fail can be invented: strangers decide nothing. */
import type { AcceptedTokens } from "./accepted-tokens.ts";
import { fingerprint, type TokenCache } from "./token-cache.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";
import { type ClientDirectory, type ClientIdentity, rolloutClient } from "../../audit/index.ts";
import { isSuccess, type Pack, type Route } from "../../pack/index.ts";

/**
 * The route of a request of which a token is judged: undefined if the pack has none. Without a pack nobody knows which routes
 * need a token.
 */
export type JudgedRoute = Pick<Route, "access"> | "unknown" | undefined;

/** Whether the old service has served a request. A redirect is an answer of a service, too. */
export const isServed = (status: number): boolean => status >= 200 && status < 400;

/** Whether an answer of the old service shows that it accepts the token: a success, if the route needs one. */
export const showsAcceptance = (route: JudgedRoute, status: number): boolean =>
  route === "unknown"
    ? isServed(status)
    : route !== undefined && route.access !== "public" && isSuccess(status);

/**
 * Notes what an answer of the old service says about a token.
 *
 * @returns whether the old service has accepted the token, now or before
 */
export function noteOldAnswer(
  ofOldService: AcceptedTokens,
  hash: string | undefined,
  route: JudgedRoute,
  status: number,
): boolean {
  if (hash === undefined) return false;
  if (status === 401) ofOldService.delete(hash);
  if (!showsAcceptance(route, status)) return ofOldService.has(hash);
  ofOldService.add(hash);
  // Also where there are too many to remember it.
  return true;
}

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

/** Whoever needs no credentials, and has no name. */
const ANYBODY = "?";

/** Creates what knows the senders of a pack. */
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
  /** The tokens that the old service has accepted, whichever pack is active. */
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
    noteOldAnswer: ({ hash }, route, status) => void noteOldAnswer(ofOldService, hash, route, status),
  };
}
