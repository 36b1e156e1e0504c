/** When other rules began to apply: those of another file, or because something has returned. */
import { isDeepStrictEqual } from "node:util";
import { decideByRules } from "./decide.ts";
import type { RolloutConfig } from "./rules.ts";

/** The last changes of what applies. */
export interface ConfigChanges {
  /** Something has returned, or was resumed. */
  note(): void;
  /** The file was read again, and may be another one. */
  fileChanged(): void;
  /** Whether cursors still go where they came from. */
  keepCursors(): boolean;
  /** Whether the file turned a client to the translation within the last hour. */
  isFresh(client: string | undefined, route: string | null): boolean;
}

/** How long a cursor goes where it came from. */
const CURSOR_MS = 600_000;
/** How long all reads of a client are compared that was turned. */
const FRESH_MS = 3_600_000;

/** @param elapsed Milliseconds, monotonic. */
export function watchConfigChanges(config: () => RolloutConfig, elapsed: () => number): ConfigChanges {
  let changedAt = elapsed();
  let newest = config();
  /** The file before, and when it was replaced; undefined: none was. */
  let replaced: { readonly config: RolloutConfig; readonly at: number } | undefined;

  return {
    note: () => void (changedAt = elapsed()),
    fileChanged() {
      // A file is also read again because the client directory has changed.
      if (isDeepStrictEqual(config(), newest)) return;
      changedAt = elapsed();
      replaced = { config: newest, at: changedAt };
      newest = config();
    },
    keepCursors: () => elapsed() - changedAt < CURSOR_MS,
    isFresh(client, route) {
      if (!replaced || elapsed() - replaced.at >= FRESH_MS) return false;
      return decideByRules(replaced.config, client, route).side === "old";
    },
  };
}
