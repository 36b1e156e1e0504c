/** Entries of client directories, compared: has a client had its name, and what it is known by, all the time? */
import { hash } from "node:crypto";
import type { ClientDirectory, KnownClient } from "../clients/client-directory.ts";

/** By name: a digest of what the client is known by; null: that was not the same in all directories. */
export type DirectoryEntries = ReadonlyMap<string, string | null>;

const DIGEST_DIGITS = 12;

const digestOf = ({ tokens, applications, userAgents }: KnownClient): string =>
  hash("sha256", JSON.stringify([tokens, applications, userAgents].map((keys) => keys.toSorted()))).slice(
    0,
    DIGEST_DIGITS,
  );

const cached = new WeakMap<ClientDirectory, DirectoryEntries>();

/** The entries of a directory. */
export function entriesOf(directory: ClientDirectory): DirectoryEntries {
  const found =
    cached.get(directory) ?? new Map(directory.clients.map((each) => [each.name, digestOf(each)]));
  cached.set(directory, found);
  return found;
}

/** The entries that two directories have in common. Undefined stands for no directory. */
export function commonEntries(
  one: DirectoryEntries | undefined,
  other: DirectoryEntries | undefined,
): DirectoryEntries | undefined {
  if (!one || !other || one === other) return one ?? other;
  const common = [...one].filter(([name]) => other.has(name));
  return new Map(common.map(([name, digest]) => [name, other.get(name) === digest ? digest : null]));
}
