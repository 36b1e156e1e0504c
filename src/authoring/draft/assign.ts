/** A possible pair of an old and a new part, with its score from 0 to 1. */
export interface Candidate<Old, Now> {
  readonly old: Old;
  readonly now: Now;
  readonly score: number;
  /** The reasons why they may be the same. */
  readonly reasons: readonly string[];
}

/**
 * Assigns each old part to one new part, best pairs first. A pair is omitted if either part has a second candidate with
 * nearly the same score, because the choice is then ambiguous.
 *
 * @param margin Minimum difference between the scores of a pair and the next one.
 */
export function assignBest<Old, Now>(
  candidates: readonly Candidate<Old, Now>[],
  threshold: number,
  margin: number,
): Candidate<Old, Now>[] {
  const usedOld = new Set<Old>();
  const usedNow = new Set<Now>();
  const sorted = candidates
    .filter(({ score }) => score >= threshold - margin)
    .toSorted((one, other) => other.score - one.score);
  const byOld = Map.groupBy(sorted, ({ old }) => old);
  const byNow = Map.groupBy(sorted, ({ now }) => now);
  const isAmbiguous = (pair: Candidate<Old, Now>): boolean =>
    [...(byOld.get(pair.old) ?? []), ...(byNow.get(pair.now) ?? [])].some(
      (other) =>
        other !== pair &&
        !usedOld.has(other.old) &&
        !usedNow.has(other.now) &&
        other.score > pair.score - margin,
    );
  const assigned: Candidate<Old, Now>[] = [];
  for (const pair of sorted) {
    if (pair.score < threshold || usedOld.has(pair.old) || usedNow.has(pair.now) || isAmbiguous(pair))
      continue;
    usedOld.add(pair.old);
    usedNow.add(pair.now);
    assigned.push(pair);
  }
  return assigned;
}
