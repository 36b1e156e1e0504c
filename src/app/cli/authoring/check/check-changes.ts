/** `check --watch`. */
import { waitForShutdownSignal } from "../../signals.ts";
import { clearScreen, print } from "../../terminal.ts";
import { watchFolder } from "../watch-folder.ts";

/** Checks a pack after each change of its files, until a signal ends the process. */
export async function checkChanges(directory: string, checkOnce: () => Promise<number>): Promise<number> {
  let isRunning = false;
  let hasChanged = false;
  async function run(): Promise<void> {
    hasChanged = true;
    if (isRunning) return;
    isRunning = true;
    while (hasChanged) {
      hasChanged = false;
      clearScreen();
      await checkOnce();
      print(`Watching ${directory}. Ctrl+C ends.\n`);
    }
    isRunning = false;
  }
  const shutdown = waitForShutdownSignal();
  const unwatch = watchFolder(directory, () => void run(), { recursive: true, persistent: true });
  await run();
  await shutdown;
  unwatch();
  return 0;
}
