/** Records when the rules changed: because of a new file, or a return. */
import { isDeepStrictEqual } from "node:util";
import { decideByRules } from "./decide.ts";
import type { RolloutConfig } from "./rules.ts";

/** Milliseconds during which a request with a cursor is sent to the side that issued the cursor. */
const CURSOR_MS = 600_000;
/** Milliseconds during which all reads of a client are compared after it was moved. */
const FRESH_MS = 3_600_000;

/** Watches the changes of the rules. @param elapsed a monotonic clock in milliseconds */
export function watchConfigChanges(config: () => RolloutConfig, elapsed: () => number) {
  let changedAt = elapsed();
  let newest = config();
  /** The previous file, and the time of its replacement. Undefined if there was none. */
  let replaced: { readonly config: RolloutConfig; readonly at: number } | undefined;

  return {
    /** Called when something has returned, or was resumed. */
    note: () => void (changedAt = elapsed()),
    /** Called when the file was read again. It may be unchanged. */
    fileChanged(): void {
      // A file is also read again after a change of the client directory.
      if (isDeepStrictEqual(config(), newest)) return;
      changedAt = elapsed();
      replaced = { config: newest, at: changedAt };
      newest = config();
    },
    /** Whether requests with cursors are still sent to the side that issued the cursor. */
    keepCursors: () => elapsed() - changedAt < CURSOR_MS,
    /** Whether the file moved a client to the translation within the last hour. */
    isFresh(client: string | undefined, route: string | null): boolean {
      if (!replaced || elapsed() - replaced.at >= FRESH_MS) return false;
      return decideByRules(replaced.config, client, route).side === "old";
    },
  };
}
