import { unwatchFile, watchFile, type Stats } from "node:fs";

/** Time between two checks of a file. */
const POLL_MS = 2000;

/**
 * Calls back after a file has changed or was replaced. The file is polled, because other files in its folder may change
 * all the time, and a mounted secret is replaced by a link.
 *
 * @returns a function that ends the watch
 */
export function pollFile(file: string, onChange: () => void): () => void {
  const listener = (current: Stats, previous: Stats): void => {
    if (current.mtimeMs !== previous.mtimeMs || current.ino !== previous.ino) onChange();
  };
  watchFile(file, { interval: POLL_MS, persistent: false }, listener);
  return () => unwatchFile(file, listener);
}
