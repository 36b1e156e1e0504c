/**
 * State that outlives a request and a restart, and that replicas share: gateway tokens, requested scopes, locks.
 * Secrets in it are encrypted by the caller.
 *
 * Every operation is atomic, also between processes. Expired entries are never returned. If the store is full, the
 * value that would expire first is dropped; a set accepts no new member.
 */
export interface KeyValueStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Sets a value if the key has none. @returns Whether it was set. A lock is a key that one process sets like this. */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Sets a value if it still is `expected`. @returns false if it was changed or deleted meanwhile. */
  replace(key: string, expected: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Deletes a value or a set. */
  delete(key: string): Promise<void>;
  /** Deletes a value if it still is `expected`: a process can't release a lock that another one holds now. */
  deleteIf(key: string, expected: string): Promise<void>;
  /**
   * Adds a member to a set, or extends its time. Each member expires separately. Sets and values never share a key.
   *
   * A time that another minute would hardly change may stay as it is.
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
  /** The members that have not expired, in no order. */
  setMembers(key: string): Promise<readonly string[]>;
  /** Whether the store works, as far as the last operations show. */
  isReady(): boolean;
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
