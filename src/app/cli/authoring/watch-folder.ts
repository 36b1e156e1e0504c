import { watch } from "node:fs";

/**
 * Milliseconds without a further change after which a change is reported, because editors and `git pull` write several
 * files.
 */
const QUIET_MS = 300;

interface WatchOptions {
  /** Whether subfolders are watched as well. */
  readonly recursive?: boolean;
  /** Whether the watch keeps the process running. */
  readonly persistent?: boolean;
}

/**
 * Calls back after files of a folder have changed. If the folder can't be watched, or is replaced, no further calls
 * follow.
 *
 * @returns a function that ends the watch
 */
export function watchFolder(
  folder: string,
  onChange: () => void,
  { recursive = false, persistent = false }: WatchOptions = {},
): () => void {
  let timer: NodeJS.Timeout | undefined;
  try {
    const watcher = watch(folder, { persistent, recursive }, () => {
      clearTimeout(timer);
      timer = setTimeout(onChange, QUIET_MS).unref();
    });
    watcher.on("error", () => watcher.close());
    return () => {
      clearTimeout(timer);
      watcher.close();
    };
  } catch {
    return () => {};
  }
}
