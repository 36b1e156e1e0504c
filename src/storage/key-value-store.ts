/**
 * State that outlives a request, a restart, and where replicas share it, a process: grants, what clients asked
 * for, locks. Whatever is secret in it is encrypted before it gets here.
 *
 * Every operation is atomic by itself, also between processes. What has ended is never given back. Where the store
 * is full, the value that would end first gives way; a set takes no new member.
 */
export interface KeyValueStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Whether it was set: of several that try at once, one is told so. A lock is a key of this kind. */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Sets only where the value is still `expected`: what was changed or deleted meanwhile stays so. */
  replace(key: string, expected: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Deletes a value or a set. */
  delete(key: string): Promise<void>;
  /** Deletes a value only where it is still `expected`: nobody releases a lock that has become another's. */
  deleteIf(key: string, expected: string): Promise<void>;
  /**
   * Adds to a set. Each member ends by itself; adding it again gives it the new end. Sets and values never share a key.
   *
   * @param most members that the set may have; default: no limit of its own
   * @returns false where it has as many already, or the store is full, and this is a new one: it was not added
   */
  addToSet(key: string, member: string, ttlSeconds: number, most?: number): Promise<boolean>;
  /** The members that have not ended, in no order. */
  setMembers(key: string): Promise<readonly string[]>;
  /** Whether the last that is known of the store is good. */
  ready(): boolean;
  close(): Promise<void>;
}

/** The store can't be opened, read or written now. Its message names the cause for the operator. */
export class StateUnavailableError extends Error {
  override readonly name = "StateUnavailableError";
  readonly code = "AG_STATE_UNAVAILABLE";
}
