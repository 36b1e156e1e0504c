import { randomUUID } from "node:crypto";

const COUNTER_END = 0x1000;

/**
 * Makes the source of record ids: UUIDs of version 7 (RFC 9562, 5.7), 36 characters of lower-case text.
 *
 * Sorted as text they are in the order in which they were made: the first 48 bits are milliseconds, the next
 * 12 a counter (RFC 9562, 6.2, method 1). The 62 random bits behind keep processes apart. A clock that steps
 * back, and a counter that runs over, hold on to the last time, or go one millisecond ahead of it.
 *
 * @param clock Milliseconds since the epoch. Default `Date.now`.
 */
export function createRecordIds(clock: () => number = Date.now): () => string {
  let time = 0;
  let counter = 0;

  return function nextRecordId(): string {
    const now = clock();
    if (now > time) {
      time = now;
      counter = 0;
    } else if (++counter === COUNTER_END) {
      time += 1;
      counter = 0;
    }
    const stamp = time.toString(16).padStart(12, "0");
    const count = counter.toString(16).padStart(3, "0");
    // The tail of a random UUID carries the right variant bits already.
    return `${stamp.slice(0, 8)}-${stamp.slice(8)}-7${count}-${randomUUID().slice(19)}`;
  };
}
