/** Hears how much of a long work is done; `of` where it is known how much there is. */
export type Progress = (done: number, of?: number) => void;

const EVERY_MS = 500;

/**
 * Shows on stderr how far a long work is: one line that is written over on a terminal, and otherwise, where every
 * line stays, none but the last.
 *
 * @param what `calls`
 */
export function showProgress(what: string): Progress & { end(): void } {
  const { isTTY } = process.stderr;
  let shownAt = 0;
  let last = "";
  const show = (done: number, of?: number): void => {
    last = of === undefined ? `${done} ${what}` : `${done} of ${of} ${what}`;
    if (!isTTY || performance.now() - shownAt < EVERY_MS) return;
    shownAt = performance.now();
    process.stderr.write(`\r\u001B[K${last}`);
  };
  const end = (): void => {
    if (last !== "") process.stderr.write(`${isTTY ? "\r\u001B[K" : ""}${last}\n`);
  };
  return Object.assign(show, { end });
}
