import { randomUUID } from "node:crypto";

const COUNTER_END = 0x1000;
/** Number of milliseconds during which the first 32 of the 48 bits of a time stay the same. */
const SAME_START_MS = 0x10000;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const hex16 = (number: number): string => `${HEX[number >> 8]}${HEX[number & 0xff]}`;

/**
 * Creates the source of record ids: UUIDs of version 7 (RFC 9562, 5.7), 36 characters of lower-case text.
 *
 * Ids sort as text in the order of their creation: the first 48 bits are milliseconds, the next 12 a counter (RFC
 * 9562, 6.2, method 1). The last 62 bits are random, chosen once for each source, and distinguish processes. If the
 * clock steps back, the last time is used again. If the counter overflows, the time is one millisecond ahead.
 *
 * @param clock Milliseconds since the epoch. Default `Date.now`.
 */
export function createRecordIds(clock: () => number = Date.now): () => string {
  // The tail of a random UUID already has the right variant bits.
  const tail = randomUUID().slice(19);
  let time = 0;
  let counter = 0;
  let part = 0;
  let start = "";

  return function nextRecordId(): string {
    const now = clock();
    if (now > time) {
      time = now;
      counter = 0;
    } else if (++counter === COUNTER_END) {
      time += 1;
      counter = 0;
    }
    const currentPart = Math.floor(time / SAME_START_MS);
    if (currentPart !== part) {
      part = currentPart;
      start = part.toString(16).padStart(8, "0");
    }
    return `${start}-${hex16(time % SAME_START_MS)}-${hex16(0x7000 | counter)}-${tail}`;
  };
}
