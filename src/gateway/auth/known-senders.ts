/** Senders that somebody knows. Tokens, user agents and requests that fail can be invented: strangers decide nothing. */
import { provenBy, provenByToken } from "./proven-by.ts";
import { type AcceptedTokens, fingerprint, type TokenCache } from "./token-cache.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";
import { type ClientDirectory, type ClientIdentity, lastingName } from "../../audit/index.ts";
import { isSuccess, type Pack, type Route } from "../../pack/index.ts";

/**
 * The route of a request whose token is judged: undefined if the pack has none. Without a pack nobody knows which routes
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

/** The claimed sender of a request. */
export interface Sender {
  readonly identity: ClientIdentity;
  /** Of the token; undefined without one. */
  readonly hash: string | undefined;
}

/** Distinguishes clients and strangers. */
export type KnownSenders = ReturnType<typeof createKnownSenders>;

/** A client that needs no credentials, and has no name. */
const ANYBODY = "?";

/** Creates what knows the senders of a pack. */
export function createKnownSenders({
  pack,
  directory,
  tokens,
  upstreamTokens,
  ofOldService,
  areAddressesShared,
}: {
  readonly pack: Pick<Pack, "credentials">;
  readonly directory: () => ClientDirectory;
  readonly tokens: Pick<TokenCache, "wasAccepted">;
  readonly upstreamTokens: Pick<UpstreamTokens, "find"> | undefined;
  /** The tokens that the old service has accepted, whichever pack is active. */
  readonly ofOldService: AcceptedTokens;
  /** Whether clients may share an address: see `mayShareAddresses`. */
  readonly areAddressesShared: boolean;
}) {
  const needsCredentials = pack.credentials.client !== undefined;
  const nameOf = (identity: ClientIdentity): string | undefined =>
    needsCredentials
      ? lastingName(directory(), { ...identity, userAgent: undefined })
      : directory().nameOf(identity);
  const isAccepted = (hash: string): boolean =>
    tokens.wasAccepted(hash) || ofOldService.has(hash) || upstreamTokens?.find(hash) !== undefined;

  return {
    /**
     * The proven identity of a sender: its name in the client directory, not by its user agent, else the application to
     * which the gateway has issued its token, else the fingerprint of a token that one of both services has accepted
     * within the last day. Where clients need no credentials, all are known.
     *
     * @returns undefined for a stranger
     */
    knownAs({ identity, hash }: Sender): string | undefined {
      const name = nameOf(identity);
      if (name !== undefined) return name;
      if (!needsCredentials) return ANYBODY;
      return hash !== undefined && isAccepted(hash) ? fingerprint(hash) : undefined;
    },
    /**
     * The sender where clients are counted: see {@link provenBy}. Where clients may share an address, tokens alone count.
     *
     * @returns undefined for a stranger
     */
    provenBy({ identity, hash }: Sender, address: string): string | undefined {
      const name = nameOf(identity);
      // A token that nobody checks is an invented one.
      if (!needsCredentials) return provenBy(name, undefined, address);
      if (name !== undefined) return provenBy(name, undefined, address);
      if (hash === undefined || !isAccepted(hash)) return undefined;
      const token = fingerprint(hash);
      return areAddressesShared ? provenByToken(token) : provenBy(undefined, token, address);
    },
    /** Notes the status with which the old service answered. */
    noteOldAnswer: ({ hash }: Sender, route: Pick<Route, "access"> | undefined, status: number) =>
      void noteOldAnswer(ofOldService, hash, route, status),
  };
}
