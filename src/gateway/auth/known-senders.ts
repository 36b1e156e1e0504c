/**
 * Senders that a service has accepted. Tokens, user agents and failing requests can be invented, so unknown senders
 * must not influence decisions.
 */
import { provenBy, provenByToken } from "./proven-by.ts";
import { type AcceptedTokens, fingerprint, type TokenCache } from "./token-cache.ts";
import type { UpstreamTokens } from "./upstream-tokens.ts";
import { type ClientDirectory, type ClientIdentity, lastingName } from "../../audit/index.ts";
import { isSuccess, type Pack, type Route } from "../../pack/index.ts";

/**
 * The route of a request whose token is judged. Undefined if no route matches. Without a pack it is unknown which
 * routes need a token.
 */
type JudgedRoute = Pick<Route, "access"> | "unknown" | undefined;

/** Whether the old service has served a request. A redirect counts as a response of the service. */
export const isServed = (status: number): boolean => status >= 200 && status < 400;

/**
 * Whether a response of the old service shows that it accepts the token: the response is successful, and the route
 * needs a token.
 */
const showsAcceptance = (route: JudgedRoute, status: number): boolean =>
  route === "unknown"
    ? isServed(status)
    : route !== undefined && route.access !== "public" && isSuccess(status);

/**
 * Records what a response of the old service shows about a token.
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
  // This applies even if there are too many tokens to remember this one.
  return true;
}

/** The claimed sender of a request. */
export interface Sender {
  readonly identity: ClientIdentity;
  /** The fingerprint of the token. Undefined if there is no token. */
  readonly hash: string | undefined;
}

/** Distinguishes known clients from unknown senders. */
export type KnownSenders = ReturnType<typeof createKnownSenders>;

/** The sender of requests without credentials and without a name. */
const ANYBODY = "?";

/** Creates the registry of senders of a pack. */
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
  /** The tokens that the old service has accepted, with any active pack. */
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
     * The proven identity of a sender: its name in the client directory (unless it was found by its user agent),
     * otherwise the application to which the gateway issued its token, otherwise the fingerprint of a token that one of
     * the two services has accepted within the last day. If clients need no credentials, all senders are known.
     *
     * @returns undefined for an unknown sender
     */
    knownAs({ identity, hash }: Sender): string | undefined {
      const name = nameOf(identity);
      if (name !== undefined) return name;
      if (!needsCredentials) return ANYBODY;
      return hash !== undefined && isAccepted(hash) ? fingerprint(hash) : undefined;
    },
    /**
     * The sender, for counting clients: see {@link provenBy}. If clients may share an address, only tokens are counted.
     *
     * @returns undefined for an unknown sender
     */
    provenBy({ identity, hash }: Sender, address: string): string | undefined {
      const name = nameOf(identity);
      // A token that is never checked may be invented.
      if (!needsCredentials || name !== undefined) return provenBy(name, undefined, address);
      if (hash === undefined || !isAccepted(hash)) return undefined;
      const token = fingerprint(hash);
      return areAddressesShared ? provenByToken(token) : provenBy(undefined, token, address);
    },
    /** Records the status of the old service's response. */
    noteOldAnswer: ({ hash }: Sender, route: Pick<Route, "access"> | undefined, status: number) =>
      void noteOldAnswer(ofOldService, hash, route, status),
  };
}
