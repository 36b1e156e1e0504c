/** Owners of one group have a part of the store together, so that one kind of entries never takes the place of another. */
export type OwnerGroup = "application" | "personal";

/** The owner, whose entries are counted together. */
export interface Owner {
  readonly group: OwnerGroup;
  readonly id: string;
  /** Most entries of this owner. */
  readonly share: number;
}

/** Whether an owner may have more entries: the owner's share may be used up, or the part of its group. */
export type Room = "free" | "share used up" | "store full";

/**
 * The used part of each group's limit. `rest` is the used part of what all others share: members of sets, or the
 * memory of a server.
 */
export type Fullness = Readonly<Record<OwnerGroup | "rest", number>>;

/** The state of a store whose operations fail. */
export const NOT_WRITABLE = "does not respond, or can't be written";

/** Entries of all owners of a group: some 150 MB each. */
export const GROUP_ENTRIES = 200_000;

/**
 * State that outlives a request and a restart, and that replicas share: gateway tokens, requested scopes, locks.
 * Secrets in it are encrypted by the caller.
 *
 * Every operation is atomic, also between processes. Expired entries are never returned. Nothing is dropped for
 * something new: if an owner's share or the store is used up, the new value or member is refused.
 */
export interface KeyValueStore {
  get(key: string): Promise<string | undefined>;
  /** Sets a value that has no owner. There are as many of them as applications and requests in flight. */
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets a value that counts for an owner until it is deleted or expires. @returns Why it was not set, or `free`. */
  add(key: string, value: string, ttlSeconds: number, owner: Owner): Promise<Room>;
  /** Whether {@link add} would set `entries` new values. */
  room(owner: Owner, entries: number): Promise<Room>;
  /**
   * Sets a value if the key has none. @returns Whether it was set. A process acquires a lock by setting a key like
   * this.
   */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Sets a value if it still is `expected`. It keeps its owner. @returns false if it was changed or deleted meanwhile. */
  replace(key: string, expected: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Deletes a value or a set. */
  delete(key: string): Promise<void>;
  /** Deletes a value if it still is `expected`: a process can't release a lock that another one holds now. */
  deleteIf(key: string, expected: string): Promise<void>;
  /**
   * Adds a member to a set, or extends its time. Each member expires separately. Sets and values never share a key.
   *
   * The time may stay unchanged if it would grow by less than a minute.
   *
   * @param maxMembers Bound of the set. Default: none but that of the store.
   * @param isReserved Adds it to a store that is full as well. For sets that strangers can't fill.
   * @returns false if a new member was not added, because the set or the store is full.
   */
  addToSet(
    key: string,
    member: string,
    ttlSeconds: number,
    maxMembers?: number,
    isReserved?: boolean,
  ): Promise<boolean>;
  /** Deletes values that have no owner, and sets, in one write. */
  deleteAll(keys: readonly string[]): Promise<void>;
  /** The members that have not expired, in no order. */
  setMembers(key: string): Promise<readonly string[]>;
  /** Why the store can't be used, as far as the last operations show; undefined if it can. It follows "the state store". */
  fault(): string | undefined;
  /** How full the parts of the store are, from 0 to 1. */
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

/** Stands for a store that does not exist yet. It is empty, and stores nothing. */
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
