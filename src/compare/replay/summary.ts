import type { AuditRecord } from "../../audit/index.ts";
import type { ReplayDifference } from "./differences.ts";
import type { ReplayResult } from "./replay-record.ts";

/** Kinds of change that are counted. The others are counted together. */
const MAX_KINDS = 500;

/** Counts results, in memory that does not grow with the number of records. */
export interface ReplaySummary {
  /** Counts a result. @returns whether it is the first change of its kind */
  add(record: AuditRecord, result: ReplayResult): boolean;
  readonly counts: Readonly<Record<ReplayResult["kind"] | "exact", number>>;
  /** Changes by route and path, the most frequent first. */
  changes(): readonly (readonly [string, number])[];
  /** Catalogs whose entries were not compared, with the number of records that are the same without them. */
  uncompared(): readonly (readonly [string, number])[];
  /** Why results are inconclusive, the most frequent first. */
  reasons(): readonly (readonly [string, number])[];
}

/** The kind of a change: indexes and ids do not matter. */
function kindOf({ alpha }: AuditRecord, differences: readonly ReplayDifference[]): string {
  const paths = differences.map(({ what }) => what.replaceAll(/\[\d+\]/g, "[]").replaceAll(/\/\d+/g, "/…"));
  return `${alpha.route ?? alpha.method}: ${[...new Set(paths)].join(", ")}`;
}

const sortByCount = (counts: ReadonlyMap<string, number>): (readonly [string, number])[] =>
  [...counts].toSorted(([, one], [, other]) => other - one);

/** Creates an empty summary. */
export function createReplaySummary(): ReplaySummary {
  const counts = { same: 0, exact: 0, changed: 0, inconclusive: 0 };
  const changes = new Map<string, number>();
  const reasons = new Map<string, number>();
  const uncompared = new Map<string, number>();
  return {
    counts,
    add(record, result) {
      counts[result.kind] += 1;
      if (result.kind === "same") {
        if (result.exact) counts.exact += 1;
        for (const name of result.uncompared ?? []) uncompared.set(name, (uncompared.get(name) ?? 0) + 1);
        return false;
      }
      const [map, key] =
        result.kind === "changed" ? [changes, kindOf(record, result.differences)] : [reasons, result.reason];
      const isNew = !map.has(key);
      const countedAs = !isNew || map.size < MAX_KINDS ? key : "others";
      map.set(countedAs, (map.get(countedAs) ?? 0) + 1);
      return result.kind === "changed" && isNew && countedAs === key;
    },
    changes: () => sortByCount(changes),
    uncompared: () => sortByCount(uncompared),
    reasons: () => sortByCount(reasons),
  };
}
