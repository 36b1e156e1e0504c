/** Finds lines of `accepted-differences.yaml` that no comparison of a gateway has used. */
import { findUnusedLines } from "../../../../compare/index.ts";
import { errorText, formatDiagnosticLine, type KeyValueStore } from "../../../../base/index.ts";
import { openExistingState, type StateSettings } from "../../../../gateway/index.ts";
import type { Pack } from "../../../../pack/index.ts";
import { print } from "../../terminal.ts";

/** Reads the location of a gateway's state store. */
export type FindState = () => StateSettings;

/**
 * Warns of lines of `accepted-differences.yaml` that no comparison has used. If the state store can't be read,
 * `check` does not fail.
 */
export async function warnOfUnusedLines(
  directory: string,
  pack: Pack,
  state: FindState | undefined,
): Promise<void> {
  if (!state || pack.acceptedDifferences.length === 0) return;
  let store: KeyValueStore | undefined;
  try {
    store = await openExistingState(state());
    const unused = await findUnusedLines(directory, pack, store, Date.now());
    for (const diagnostic of unused) print(`warning: ${formatDiagnosticLine(diagnostic)}\n`);
  } catch (error) {
    print(`warning: it is unknown which accepted differences are used: ${errorText(error)}\n`);
  } finally {
    await store?.close();
  }
}
