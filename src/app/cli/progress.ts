import { overwriteLine } from "./terminal.ts";

/** Reports the number of processed items, and their total if it is known. */
export type Progress = (done: number, total?: number) => void;

const INTERVAL_MS = 500;

/**
 * Shows progress on standard error. A terminal shows one line that is overwritten. Otherwise, only the last line is
 * written.
 *
 * @param items the name of the items, for example `calls`
 */
export function showProgress(items: string): Progress & { readonly end: () => void } {
  const { isTTY } = process.stderr;
  let lastShownAt = 0;
  let line = "";
  const show = (done: number, total?: number): void => {
    line = total === undefined ? `${done} ${items}` : `${done} of ${total} ${items}`;
    if (!isTTY || performance.now() - lastShownAt < INTERVAL_MS) return;
    lastShownAt = performance.now();
    overwriteLine(line);
  };
  const end = (): void => {
    if (line !== "") overwriteLine(`${line}\n`);
    line = "";
  };
  return Object.assign(show, { end });
}
