/** Records when the rules changed: with another file, or by a return. */
import { isDeepStrictEqual } from "node:util";
import { decideByRules } from "./decide.ts";
import type { RolloutConfig } from "./rules.ts";

/** How long a cursor goes where it came from. */
const CURSOR_MS = 600_000;
/** How long all reads of a client are compared that was turned. */
const FRESH_MS = 3_600_000;

/** The last changes of the rules. @param elapsed Milliseconds, monotonic. */
export function watchConfigChanges(config: () => RolloutConfig, elapsed: () => number) {
  let changedAt = elapsed();
  let newest = config();
  /** The previous file, and when it was replaced. Undefined if there was none. */
  let replaced: { readonly config: RolloutConfig; readonly at: number } | undefined;

  return {
    /** Something has returned, or was resumed. */
    note: () => void (changedAt = elapsed()),
    /** The file was read again, and may be another one. */
    fileChanged(): void {
      // A file is also read again because the client directory has changed.
      if (isDeepStrictEqual(config(), newest)) return;
      changedAt = elapsed();
      replaced = { config: newest, at: changedAt };
      newest = config();
    },
    /** Whether cursors still go where they came from. */
    keepCursors: () => elapsed() - changedAt < CURSOR_MS,
    /** Whether the file turned a client to the translation within the last hour. */
    isFresh(client: string | undefined, route: string | null): boolean {
      if (!replaced || elapsed() - replaced.at >= FRESH_MS) return false;
      return decideByRules(replaced.config, client, route).side === "old";
    },
  };
}
