/** Lines of accepted differences that match no difference. */
import { basename } from "node:path";
import { type Diagnostic, type DocumentStore, parseYaml } from "../../base/index.ts";
import { ACCEPTED_FILE, type Pack, readPack } from "../../pack/index.ts";
import { hasEnded } from "../answers/accepted-differences.ts";
import { lineKey } from "../answers/comparison.ts";
import { readComparisons, type RouteCounts } from "../counts/counts.ts";
import { required } from "../counts/statistics.ts";
import { countDistinct, DEFAULT_RATE } from "../counts/summary.ts";

/**
 * Finds lines whose last day has passed, and lines that no comparison has used although their route has enough
 * comparisons.
 *
 * @param state Undefined: nothing was compared.
 * @param now Milliseconds since the epoch
 * @throws {StateUnavailableError}
 */
export async function findUnusedLines(
  directory: string,
  { acceptedDifferences }: Pick<Pack, "acceptedDifferences">,
  state: DocumentStore | undefined,
  now: number,
): Promise<readonly Diagnostic[]> {
  const written = readPack(directory).files.find(({ file }) => basename(file) === ACCEPTED_FILE);
  if (!written || acceptedDifferences.length === 0) return [];
  const source = parseYaml(written.file, written.text);
  const counts = state ? await readComparisons(state) : [];
  const needed = required(DEFAULT_RATE);
  return acceptedDifferences.flatMap((line, index) => {
    if (hasEnded(line, now))
      return source.diagnosticAt([index], `it accepts nothing since ${line.until} has passed`);
    const routes = counts.flatMap(({ routes: all }): readonly RouteCounts[] => {
      const route = all[line.route];
      return route && countDistinct(route) >= needed ? [route] : [];
    });
    const isUsed = routes.some(({ acceptedLines }) => (acceptedLines[lineKey(line)] ?? 0) > 0);
    return routes.length === 0 || isUsed
      ? []
      : source.diagnosticAt([index], "no comparison has used it, although its route has enough of them");
  });
}
