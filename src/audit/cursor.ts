/** Where a page begins: behind this record, in the order of time and, within a millisecond, of arrival. */
export interface Cursor {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The record's number in its store. */
  readonly seq: number;
}

/** A cursor as clients carry it from `next` to `before`. */
export function writeCursor({ time, seq }: Cursor): string {
  return `${time}-${seq}`;
}

/** Gives `undefined` for what no store has written. */
export function readCursor(text: string): Cursor | undefined {
  const [, time, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return time === undefined ? undefined : { time: Number(time), seq: Number(seq) };
}
