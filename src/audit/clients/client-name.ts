/** Names of clients: who sent a request, by which names something is remembered of it, and which share of all clients has it. */
import { hash } from "node:crypto";
import type { ClientDirectory, ClientIdentity } from "./client-directory.ts";

/** Stands for those without a client. No name of a directory begins like this. */
export const UNNAMED = "?";

/** The name of an application that is not in the directory. No name of a directory has a colon. */
const APPLICATION = "application:";

/**
 * The name of the client in the directory, else `application:ID`. It outlives a token: a client must not change sides with
 * a new one.
 *
 * @returns undefined where nobody can say who it is
 */
export function lastingName(directory: ClientDirectory, identity: ClientIdentity): string | undefined {
  const name = directory.nameOf(identity);
  if (name !== undefined) return name;
  return identity.application ? `${APPLICATION}${identity.application}` : undefined;
}

/** Whether a client has a name of its own, which a directory may have. */
export const hasName = (client: string): boolean => client !== UNNAMED && !client.startsWith(APPLICATION);

/** All that a client was ever called: its applications were clients before the directory had them. */
export const namesOf = (directory: ClientDirectory, client: string): readonly string[] => [
  client,
  ...(directory.find(client)?.applications ?? []).map((id) => `${APPLICATION}${id}`),
];

/** Shares are numbers of these: one for each hundredth of a per cent. */
export const BUCKETS = 10_000;

/** Bits of the hash that decide. Much more than there are buckets: each bucket is equally likely to one in a hundred thousand. */
const HASH_DIGITS = 12;

/** The bucket of a client, from 0 to 9999. The same on each replica, and after each restart. */
export const bucketOf = (client: string, salt: string): number =>
  // A salt may end as a client begins.
  Number.parseInt(hash("sha256", JSON.stringify([salt, client])).slice(0, HASH_DIGITS), 16) % BUCKETS;
