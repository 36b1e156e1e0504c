import { watch } from "node:fs";

/** Editors and `git pull` write one file after the other. A change is reported once no file has changed for this time. */
const QUIET_MS = 300;

interface WatchOptions {
  /** Whether the folders inside are watched, too. */
  readonly recursive?: boolean;
  /** Whether the watch keeps the process running. */
  readonly persistent?: boolean;
}

/**
 * Calls back after files of a folder have changed. If the folder cannot be watched, or is replaced by another one,
 * there are no more calls.
 *
 * @returns ends the watch
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
