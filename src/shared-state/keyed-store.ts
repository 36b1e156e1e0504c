/**
 * State that outlives a request, a restart, and where replicas share it, a process: grants, what clients asked
 * for, locks. Whatever is secret in it is encrypted before it gets here.
 *
 * Every operation is atomic by itself, also between processes. What has ended is never given back. Keys and
 * members are kept in the order of their end: where the store is full, what would end first gives way.
 */
export interface KeyedStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlSeconds: number): Promise<void>;
  /** Whether it was set: of several that try at once, one is told so. A lock is a key of this kind. */
  setIfAbsent(key: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Sets only where the value is still `expected`: what was changed or deleted meanwhile stays so. */
  replace(key: string, expected: string, value: string, ttlSeconds: number): Promise<boolean>;
  /** Deletes a value or a set. */
  delete(key: string): Promise<void>;
  /** Adds to a set. Each member ends by itself; adding it again gives it the new end. Sets and values never share a key. */
  addTo(key: string, member: string, ttlSeconds: number): Promise<void>;
  /** The members that have not ended, in no order. */
  membersOf(key: string): Promise<readonly string[]>;
  /** Whether the last that is known of the store is good. */
  ready(): boolean;
  close(): Promise<void>;
}

/** The store can't be opened, read or written now. Its message names the cause for the operator. */
export class StateUnavailable extends Error {
  override readonly name = "StateUnavailable";
}
