/** Names of clients: the sender of a request, the keys of stored facts about it, and its bucket for shares. */
import { hash } from "node:crypto";
import type { ClientDirectory, ClientIdentity } from "./client-directory.ts";

/** The name for requests without a client. No name in a directory starts with it. */
export const UNNAMED = "?";

/** The prefix of applications that are not in the directory. Names in a directory contain no colon. */
const APPLICATION = "application:";

/**
 * Returns the name of the client in the directory, otherwise `application:ID`. It does not depend on the token, so that
 * a client with a new token stays on the same side.
 *
 * @returns undefined for an unknown client
 */
export function lastingName(directory: ClientDirectory, identity: ClientIdentity): string | undefined {
  const name = directory.nameOf(identity);
  if (name !== undefined) return name;
  return identity.application ? `${APPLICATION}${identity.application}` : undefined;
}

/** Whether the directory contains a name for the client. */
export const hasName = (client: string): boolean => client !== UNNAMED && !client.startsWith(APPLICATION);

/** Returns all names that a client has had. Its applications had their own names before the directory contained the client. */
export const namesSoFar = (directory: ClientDirectory, client: string): readonly string[] => [
  client,
  ...(directory.find(client)?.applications ?? []).map((id) => `${APPLICATION}${id}`),
];

/** Number of buckets of shares: one for each hundredth of a per cent. */
export const BUCKETS = 10_000;

/**
 * Bits of the hash that select the bucket. With this many bits, the probabilities of the buckets differ by at most one
 * in a hundred thousand.
 */
const HASH_DIGITS = 12;

/** Returns the bucket of a client, from 0 to 9999. It is the same on each replica, and after each restart. */
export const bucketOf = (client: string, salt: string): number =>
  // The separator is needed, because a salt may end with the start of a client's name.
  Number.parseInt(hash("sha256", JSON.stringify([salt, client])).slice(0, HASH_DIGITS), 16) % BUCKETS;
