import { countByBits } from "./count-usage.ts";
import type { IndexRow } from "../store/stored-row.ts";
import type { Keyed } from "./summary-key.ts";

/** Sets all bits of another string of bits. @returns whether any of them was not set */
export function addBits(target: Uint8Array, added: Uint8Array): boolean {
  let isChanged = false;
  for (const [index, byte] of added.entries()) {
    const before = target[index] ?? 0;
    if ((before | byte) === before) continue;
    target[index] = before | byte;
    isChanged = true;
  }
  return isChanged;
}

/** The names that a client sent to a route on a day. */
export interface SentRow {
  readonly day: string;
  readonly client: string;
  readonly route: string;
  readonly pack: string;
  readonly bits: Buffer;
}

/** The bytes of a text of zeros and ones, whose length is a multiple of eight. */
export const bytesOfBits = (text: string): Buffer =>
  Buffer.from(
    Array.from({ length: text.length / 8 }, (_, at) => Number.parseInt(text.slice(at * 8, at * 8 + 8), 2)),
  );

/** Joins rows that have the same key, in the order of the keys. */
export function joinSent(rows: Iterable<SentRow>): SentRow[] {
  const joined = new Map<string, SentRow>();
  for (const row of rows) {
    const key = [row.day, row.client, row.route, row.pack].join("\n");
    const same = joined.get(key);
    if (same) addBits(same.bits, row.bits);
    else joined.set(key, row);
  }
  return [...joined].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}

/** Joins what the rows of a commit say. Callers without an accepted token are left out. */
export const aggregateSent = (
  rows: readonly Pick<Keyed<IndexRow>, "time" | "key" | "route" | "requests" | "sentBits">[],
): SentRow[] => joinSent(countByBits(rows, "sentBits"));
