/** Owners of one group share a part of the store, so that entries of one kind never use up the space of another kind. */
export type OwnerGroup = "application" | "personal";

/** The owner of entries, which are counted together. */
export interface Owner {
  readonly group: OwnerGroup;
  readonly id: string;
  /** Maximum number of entries of this owner. */
  readonly share: number;
}

/** Whether an owner may have more entries: the owner's share may be used up, or the limit of its group. */
export type Room = "free" | "share used up" | "store full";

/**
 * The used part of each group's limit. `rest` is the used part of the limit for all other entries: members of sets, or
 * the memory of a server.
 */
export type Fullness = Readonly<Record<OwnerGroup | "rest", number>>;

/** The problem of a store whose operations fail. */
export const NOT_WRITABLE = "does not respond, or can't be written";

/** Maximum number of entries of all owners of a group: about 150 MB per group. */
export const GROUP_ENTRIES = 200_000;

/**
 * State that outlives a request and a restart, and that replicas share: gateway tokens, requested scopes, locks.
 * Secrets in it are encrypted by the caller.
 *
 * Every operation is atomic, even between processes. Expired entries are never returned. No entry is dropped to make
 * room for a new one: if an owner's share or the store is used up, the new value or member is refused.
 */
export interface KeyValueStore {
  get(key: string): Promise<string | undefined>;
  /**
   * Sets a value without an owner. The number of such values is limited by the number of applications and in-flight
   * requests.
   */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /**
   * Sets a value that counts for an owner until it is deleted or expires. @returns `free` if it was set, otherwise the
   * reason why not
   */
  add(key: string, value: string, ttlSeconds: number, owner: Owner): Promise<Room>;
  /** Returns whether {@link add} would set `entries` new values. */
  room(owner: Owner, entries: number): Promise<Room>;
  /** Sets a value if the key has none. @returns whether it was set. A process acquires a lock in this way */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /**
   * Sets a value if the current one is `expected`. The owner stays the same. @returns false if the value was changed or
   * deleted meanwhile
   */
  replace(key: string, expected: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Deletes a value or a set. */
  delete(key: string): Promise<void>;
  /** Deletes a value if it is `expected`: a process can't release a lock that another process has acquired meanwhile. */
  deleteIf(key: string, expected: string): Promise<void>;
  /**
   * Adds a member to a set, or extends its time. Each member expires independently. Sets and values never share a key.
   *
   * The time may stay unchanged if it would grow by less than a minute.
   *
   * @param maxMembers Maximum number of members. Default: only the limit of the store
   * @param isReserved Adds the member even if the store is full. For sets that unauthenticated clients can't fill
   * @returns false if a new member was not added, because the set or the store is full.
   */
  addToSet(
    key: string,
    member: string,
    ttlSeconds: number,
    maxMembers?: number,
    isReserved?: boolean,
  ): Promise<boolean>;
  /** Deletes sets, and values that have no owner, in one write. */
  deleteAll(keys: readonly string[]): Promise<void>;
  /** Returns the members that have not expired, in no particular order. */
  setMembers(key: string): Promise<readonly string[]>;
  /**
   * Returns why the store can't be used, according to the last operations; undefined if it can. The text follows the
   * words "the state store".
   */
  fault(): string | undefined;
  /** Returns the used part of each limit of the store, from 0 to 1. */
  fullness(): Promise<Fullness>;
  close(): Promise<void>;
}

/**
 * The state store can't be opened, read or written. The message names the cause for operators.
 *
 * @example
 * ```ts
 * import { createGateway, StateUnavailableError } from "alpha-gateway";
 *
 * const gateway = createGateway({ upstream: "https://api.example.com" });
 * await gateway.start().catch((error: unknown) => {
 *   if (error instanceof StateUnavailableError) console.error(error.message);
 * });
 * ```
 */
export class StateUnavailableError extends Error {
  override readonly name = "StateUnavailableError";
  readonly code = "AG_STATE_UNAVAILABLE";
}

/** Used instead of a store that does not exist yet. It is empty, and stores nothing. */
export const NO_STORE: KeyValueStore = {
  get: async () => undefined,
  set: async () => {},
  add: async () => "free",
  room: async () => "free",
  setIfAbsent: async () => false,
  replace: async () => false,
  delete: async () => {},
  deleteIf: async () => {},
  addToSet: async () => true,
  deleteAll: async () => {},
  setMembers: async () => [],
  fault: () => undefined,
  fullness: async () => ({ application: 0, personal: 0, rest: 0 }),
  close: async () => {},
};
