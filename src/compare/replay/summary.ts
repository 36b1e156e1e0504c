import type { AuditRecord } from "../../audit/index.ts";
import type { ReplayDifference } from "./differences.ts";
import type { ReplayResult } from "./replay-record.ts";

/** Kinds of change that are counted. The others are counted together. */
const MAX_KINDS = 500;

/** Counts results, in memory that does not grow with the number of records. */
export type ReplaySummary = ReturnType<typeof createReplaySummary>;

/** The kind of a change: indexes and ids do not matter. */
function kindOf({ alpha }: AuditRecord, differences: readonly ReplayDifference[]): string {
  const paths = differences.map(({ what }) => what.replaceAll(/\[\d+\]/g, "[]").replaceAll(/\/\d+/g, "/…"));
  return `${alpha.route ?? alpha.method}: ${[...new Set(paths)].join(", ")}`;
}

const sortByCount = (counts: ReadonlyMap<string, number>): (readonly [string, number])[] =>
  [...counts].toSorted(([, one], [, other]) => other - one);

/** A difference on one line. */
export const describeDifference = ({ what, was, is }: ReplayDifference): string =>
  `${what}: ${was ?? "nothing"} -> ${is ?? "nothing"}`;

/** Counts a key, or the others where there are too many. @returns whether it is new */
function count(counts: Map<string, number>, key: string): boolean {
  const isNew = !counts.has(key) && counts.size < MAX_KINDS;
  const countedAs = isNew || counts.has(key) ? key : "others";
  counts.set(countedAs, (counts.get(countedAs) ?? 0) + 1);
  return isNew;
}

/** Creates an empty summary. */
export function createReplaySummary() {
  const counts = { same: 0, exact: 0, changed: 0, inconclusive: 0 };
  const changes = new Map<string, number>();
  const reasons = new Map<string, number>();
  const uncompared = new Map<string, number>();
  const rules = new Map<string, number>();
  return {
    counts: counts as Readonly<typeof counts>,
    /** Counts a result. @returns whether it is the first change of its kind */
    add(record: AuditRecord, result: ReplayResult): boolean {
      counts[result.kind] += 1;
      for (const rule of result.rules ?? []) count(rules, describeDifference(rule));
      if (result.kind === "same") {
        if (result.exact) counts.exact += 1;
        for (const name of result.uncompared ?? []) count(uncompared, name);
        return false;
      }
      if (result.kind === "changed") return count(changes, kindOf(record, result.differences));
      count(reasons, result.reason);
      return false;
    },
    /** Changes by route and path, the most frequent first. */
    changes: () => sortByCount(changes),
    /** Catalogs whose entries were not compared, with the number of records that are the same without them. */
    uncompared: () => sortByCount(uncompared),
    /** Why results are inconclusive, the most frequent first. */
    reasons: () => sortByCount(reasons),
    /** Rules of the packs that differ, with the number of records that depend on them, the most frequent first. */
    rules: () => sortByCount(rules),
  };
}
