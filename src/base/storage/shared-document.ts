/** A small JSON document in the state store, which all replicas read and change. */
import { z } from "zod";
import { StateUnavailableError, type KeyValueStore } from "./key-value-store.ts";

/** What a document needs of a store. */
export type DocumentStore = Pick<KeyValueStore, "get" | "setIfAbsent" | "replace">;

/** A document as this process read it last. */
export interface SharedDocument<T> {
  readonly current: () => T;
  /** Whether it was read once. */
  readonly isKnown: () => boolean;
  /**
   * Reads it. If that fails, what was read before stays. A store that has lost it gets it back.
   *
   * @throws {StateUnavailableError}
   */
  refresh(): Promise<void>;
  /**
   * Changes it, also if other replicas change it at the same time.
   *
   * @param apply Returns the same object, or an equal one, to change nothing. It may be called several times.
   * @param onWritten Called once it is written, before {@link current} returns it.
   * @throws {StateUnavailableError}
   */
  change(apply: (value: T) => T, onWritten?: () => void): Promise<void>;
}

/** The store has no values without an end. No migration takes twenty years. */
export const DOCUMENT_TTL_SECONDS = 20 * 365 * 86_400;

/** Writes that lose against those of other replicas, before one is given up. */
const ATTEMPTS = 20;

/** Replaces a value. @param before Undefined: there must be none. @returns False if the store has another value by now */
export const replaceValue = (
  store: DocumentStore,
  key: string,
  before: string | undefined,
  { value, ttlSeconds }: { readonly value: string; readonly ttlSeconds: number },
): Promise<boolean> =>
  before === undefined
    ? store.setIfAbsent(key, value, ttlSeconds)
    : store.replace(key, before, value, ttlSeconds);

/** What a text says as JSON; undefined for a text that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Creates the access to a document. Nothing is read yet.
 *
 * @param schema It gets undefined for what is no JSON. What it does not accept is damaged, and can't be read.
 * @param empty Stands for a document that does not exist.
 * @param onRead Called with each new state of the document.
 */
export function createSharedDocument<T>(
  store: DocumentStore,
  {
    key,
    schema,
    empty,
    onRead = () => {},
  }: {
    readonly key: string;
    readonly schema: z.ZodType<T>;
    readonly empty: T;
    readonly onRead?: (value: T) => void;
  },
): SharedDocument<T> {
  let isKnown = false;
  let text: string | undefined;
  let value = empty;

  function parse(stored: string): T {
    const { success, data } = schema.safeParse(parseJson(stored));
    if (!success) throw new StateUnavailableError(`What is stored under ${key} is damaged.`);
    return data;
  }

  function accept(stored: string | undefined, next = stored === undefined ? empty : parse(stored)): void {
    const isNew = stored !== text || !isKnown;
    value = next;
    text = stored;
    isKnown = true;
    if (isNew) onRead(value);
  }

  async function read(): Promise<void> {
    let stored = await store.get(key);
    // Nobody deletes it: the store has come back without its data.
    if (stored === undefined && text !== undefined) {
      if (await store.setIfAbsent(key, text, DOCUMENT_TTL_SECONDS)) return;
      stored = await store.get(key);
    }
    if (stored !== text || !isKnown) accept(stored);
  }

  return {
    current: () => value,
    isKnown: () => isKnown,
    refresh: read,
    async change(apply, onWritten = () => {}) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        await read();
        const next = apply(value);
        if (next === value) return onWritten();
        const written = JSON.stringify(next);
        if (written === text) return onWritten();
        if (!(await replaceValue(store, key, text, { value: written, ttlSeconds: DOCUMENT_TTL_SECONDS })))
          continue;
        onWritten();
        return accept(written, next);
      }
      throw new StateUnavailableError(`${key} changes all the time.`);
    },
  };
}
