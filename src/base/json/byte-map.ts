import type { PaddedText } from "./padded-text.ts";

/**
 * A map whose keys are short texts in UTF-8. It finds the text between two offsets of a buffer. Creating a string of that
 * text would cost more than the whole search. A map with a `maxSize` is emptied when it is full.
 */
export class ByteMap<Value = PaddedText> {
  #keys: (Uint8Array | undefined)[] = [];
  #values: (Value | undefined)[] = [];
  /** The number of slots minus one. The number of slots is a power of two. */
  #mask = -1;
  #size = 0;
  #longest = 0;
  readonly #maxSize: number;

  constructor(entries: Iterable<readonly [key: string, value: Value]> = [], maxSize = Infinity) {
    this.#maxSize = maxSize;
    this.clear();
    for (const [key, value] of entries) this.set(Buffer.from(key), value);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the value of the key in `bytes` from `start` to `end`. */
  find(bytes: Uint8Array, start: number, end: number): Value | undefined {
    if (end - start > this.#longest) return undefined;
    let slot = hashOf(bytes, start, end) & this.#mask;
    for (;;) {
      const key = this.#keys[slot];
      if (key === undefined) return undefined;
      if (isAt(key, bytes, start, end)) return this.#values[slot];
      slot = (slot + 1) & this.#mask;
    }
  }

  set(key: Uint8Array, value: Value): void {
    if (this.#size === this.#maxSize) this.clear();
    if (2 * (this.#size + 1) > this.#mask) this.#grow();
    let slot = hashOf(key, 0, key.length) & this.#mask;
    for (;;) {
      const other = this.#keys[slot];
      if (other === undefined) this.#size += 1;
      if (other === undefined || isAt(other, key, 0, key.length)) break;
      slot = (slot + 1) & this.#mask;
    }
    this.#keys[slot] = key;
    this.#values[slot] = value;
    this.#longest = Math.max(this.#longest, key.length);
  }

  clear(): void {
    this.#mask = FIRST_SLOTS - 1;
    this.#size = 0;
    this.#longest = 0;
    this.#keys = Array.from({ length: FIRST_SLOTS });
    this.#values = Array.from({ length: FIRST_SLOTS });
  }

  #grow(): void {
    const [keys, values] = [this.#keys, this.#values];
    this.#mask = 2 * keys.length - 1;
    this.#size = 0;
    this.#keys = Array.from({ length: 2 * keys.length });
    this.#values = Array.from({ length: 2 * keys.length });
    for (const [slot, key] of keys.entries()) {
      const value = values[slot];
      if (key !== undefined && value !== undefined) this.set(key, value);
    }
  }
}

const FIRST_SLOTS = 16;

/** FNV-1a, 32 bits. All keys are v4's own words, so a client can't cause collisions. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Whether the bytes from `start` to `end` equal `key`. */
export function isAt(key: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (key.length !== end - start) return false;
  for (let at = 0; at < key.length; at += 1) if (key[at] !== bytes[start + at]) return false;
  return true;
}
