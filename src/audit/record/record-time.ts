import { MINUTE_MS } from "../../base/index.ts";

let lastMinute = { number: NaN, text: "" };

/**
 * Formats a time like `Date.toISOString`, but faster.
 *
 * @param time Milliseconds since the epoch, an integer.
 */
export function recordTime(time: number): string {
  const number = Math.floor(time / MINUTE_MS);
  if (number !== lastMinute.number) {
    const text = new Date(number * MINUTE_MS).toISOString();
    lastMinute = { number, text: text.slice(0, text.lastIndexOf(":") + 1) };
  }
  const digits = String(100_000 + time - number * MINUTE_MS);
  return `${lastMinute.text}${digits.slice(1, 3)}.${digits.slice(3)}Z`;
}
