import { watch } from "node:fs";

/**
 * Editors and `git pull` write files one after the other. A change is reported once no file has changed for this
 * time, in milliseconds.
 */
const QUIET_MS = 300;

interface WatchOptions {
  /** Whether subfolders are watched, too. */
  readonly recursive?: boolean;
  /** Whether the watch keeps the process running. */
  readonly persistent?: boolean;
}

/**
 * Calls back after files of a folder have changed. If the folder can't be watched, or is replaced, no more calls
 * follow.
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
