import { watch } from "node:fs";

/** Files are written one after the other: the last change is waited for. */
const QUIET_MS = 300;

/**
 * Calls back after files of a folder have changed, once they stay as they are for a moment. A folder that can't be
 * watched, or is replaced by another, is one whose changes are told by SIGHUP alone.
 *
 * @returns ends it
 */
export function watchFolder(folder: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  try {
    const watcher = watch(folder, { persistent: false }, () => {
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
