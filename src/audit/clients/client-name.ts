/** Names of clients: the sender of a request, the keys of stored facts about it, and its bucket for shares. */
import { hash } from "node:crypto";
import type { ClientDirectory, ClientIdentity } from "./client-directory.ts";

/** The name for requests without a client. No name of a directory begins like this. */
export const UNNAMED = "?";

/** The name of an application that is not in the directory. Names of a directory have no colon. */
const APPLICATION = "application:";

/**
 * The name of the client in the directory, else `application:ID`. It stays the same with a new token, so that a
 * client does not change sides.
 *
 * @returns undefined for an unknown client
 */
export function lastingName(directory: ClientDirectory, identity: ClientIdentity): string | undefined {
  const name = directory.nameOf(identity);
  if (name !== undefined) return name;
  return identity.application ? `${APPLICATION}${identity.application}` : undefined;
}

/** Whether the directory names the client. */
export const hasName = (client: string): boolean => client !== UNNAMED && !client.startsWith(APPLICATION);

/** All names of a client so far. Its applications had their own names before the directory had the client. */
export const namesSoFar = (directory: ClientDirectory, client: string): readonly string[] => [
  client,
  ...(directory.find(client)?.applications ?? []).map((id) => `${APPLICATION}${id}`),
];

/** Number of buckets of shares: one for each hundredth of a per cent. */
export const BUCKETS = 10_000;

/**
 * Bits of the hash that select the bucket. With this many bits, the buckets are equally likely to one in a hundred
 * thousand.
 */
const HASH_DIGITS = 12;

/** The bucket of a client, from 0 to 9999. The same on each replica, and after each restart. */
export const bucketOf = (client: string, salt: string): number =>
  // The separator is needed, because a salt may end with the start of a client's name.
  Number.parseInt(hash("sha256", JSON.stringify([salt, client])).slice(0, HASH_DIGITS), 16) % BUCKETS;
