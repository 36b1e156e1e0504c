/** A small JSON document in the state store, which all replicas read and change. */
import { z } from "zod";
import { StateUnavailableError, type KeyValueStore } from "./key-value-store.ts";

/** The operations of a store that a document needs. */
export type DocumentStore = Pick<KeyValueStore, "get" | "setIfAbsent" | "replace">;

/** A document in the state that this process last read. */
export interface SharedDocument<T> {
  readonly current: () => T;
  /** Returns whether the document was read at least once. */
  readonly isKnown: () => boolean;
  /**
   * Reads the document. If that fails, the last known state stays. If the store has lost the document, or another
   * process has restored an older state, this process writes its newer state back. Changes are numbered.
   *
   * @throws {StateUnavailableError}
   */
  refresh(): Promise<void>;
  /**
   * Changes the document, even if other replicas change it at the same time.
   *
   * @param apply Returns the same object, or an equal one, to change nothing. It may be called several times.
   * @param onWritten Called after the new value is written, before {@link current} returns it
   * @throws {StateUnavailableError}
   */
  change(apply: (value: T) => T, onWritten?: () => void): Promise<void>;
}

/** The time to live of a document. The store requires one, and no migration takes twenty years. */
const DOCUMENT_TTL_SECONDS = 20 * 365 * 86_400;

/** Maximum number of attempts to write against concurrent writes of other replicas. */
const ATTEMPTS = 20;

/** Parses a text as JSON; undefined for other texts. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The stored form of a document. A schema validates it. */
const NUMBERED = z.strictObject({ change: z.int().min(1), value: z.unknown() });

/** A document with the number of its last change. */
interface Numbered<T> {
  readonly change: number;
  readonly value: T;
}

/**
 * Creates the access to a document. Nothing is read yet.
 *
 * @param schema Receives undefined for a text that is no document. A value that it rejects is treated as damaged
 * @param empty The value of a document that does not exist
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
  let changes = 0;
  let value = empty;

  function parse(stored: string | undefined): Numbered<T> {
    if (stored === undefined) return { change: 0, value: empty };
    const { change = 0, value: found } = NUMBERED.safeParse(parseJson(stored)).data ?? {};
    const { success, data } = schema.safeParse(found);
    if (!success) throw new StateUnavailableError(`What is stored under ${key} is damaged.`);
    return { change, value: data };
  }

  function accept(stored: string | undefined, next: Numbered<T>): void {
    const isNew = stored !== text || !isKnown;
    value = next.value;
    changes = next.change;
    text = stored;
    isKnown = true;
    if (isNew) onRead(value);
  }

  /**
   * Replaces the stored text. @param before undefined if the store must not contain a value yet. @returns false if the
   * store contains a different value
   */
  const write = (before: string | undefined, after: string): Promise<boolean> =>
    before === undefined
      ? store.setIfAbsent(key, after, DOCUMENT_TTL_SECONDS)
      : store.replace(key, before, after, DOCUMENT_TTL_SECONDS);

  async function read(): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const stored = await store.get(key);
      if (stored === text && isKnown) return;
      const found = parse(stored);
      // Nothing deletes the document, so the store has lost its data, or another process has restored an older state.
      if (text === undefined || found.change >= changes) return accept(stored, found);
      if (await write(stored, text)) return;
    }
    throw new StateUnavailableError(`${key} changes all the time.`);
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
        if (JSON.stringify(next) === JSON.stringify(value)) return onWritten();
        const after = { change: changes + 1, value: next };
        const written = JSON.stringify(after);
        if (!(await write(text, written))) continue;
        onWritten();
        return accept(written, after);
      }
      throw new StateUnavailableError(`${key} changes all the time.`);
    },
  };
}
