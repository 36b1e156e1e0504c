import { HttpError, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import { type Owner, type Room, StateUnavailableError } from "../../base/index.ts";
import { fingerprint, tokenHash } from "./token-cache.ts";

/** A personal token has two entries: its record, and the levels that lists show. Nobody needs a thousand of them. */
export const PERSONAL_ENTRIES = 2;
const PERSONAL_SHARE = 1000 * PERSONAL_ENTRIES;

/** Tokens of one application: one for each sign-in of a user, for as long as that user is active. */
const APPLICATION_SHARE = 100_000;

/**
 * The owner of the personal tokens that a client creates: its token, or who created that one. Otherwise each new token
 * would have a share of its own.
 *
 * @param creator Owner of the client's token, if that is a personal token of the gateway.
 */
export const personalOwner = (hash: string | undefined, creator: string | undefined): Owner => ({
  group: "personal",
  id: creator ?? fingerprint(hash ?? ""),
  share: PERSONAL_SHARE,
});

/** The owner of the tokens that an application gets for its users. */
export const applicationOwner = (client: string): Owner => ({
  group: "application",
  id: fingerprint(tokenHash(client)),
  share: APPLICATION_SHARE,
});

/**
 * Rejects a token that has no room in the store.
 *
 * @throws {HttpError} 429 if the owner has used up its share. {StateUnavailableError} if the store is full.
 */
export function requireRoom(room: Room): void {
  if (room === "share used up")
    throw new HttpError(
      TOO_MANY_REQUESTS,
      "Too many tokens exist already. Delete tokens that are not used.",
      {
        by: "limit",
      },
    );
  if (room === "store full")
    throw new StateUnavailableError("The state store is full: it keeps no new token");
}
