import type { AuditRecord } from "../../audit/record.ts";
import type { ReplayResult } from "./replay-record.ts";

/** Kinds of change that are told apart; the rest are counted together. */
const MOST_KINDS = 500;

/** Counts what became of records, in a memory that does not grow with them. */
export interface ReplaySummary {
  /** Counts one. @returns whether it changed in a way that none before it did. */
  add(record: AuditRecord, verdict: ReplayResult): boolean;
  readonly same: number;
  readonly changed: number;
  readonly inconclusive: number;
  /** Changes by route and place, the most frequent first. */
  kinds(): readonly (readonly [string, number])[];
  /** Why some can't be told, the most frequent first. */
  reasons(): readonly (readonly [string, number])[];
}

/** The same change in another row, or of another object, is the same kind. */
const kindOf = ({ alpha }: AuditRecord, { differences }: ReplayResult & { kind: "changed" }): string => {
  const places = differences.map(({ what }) => what.replaceAll(/\[\d+\]/g, "[]").replaceAll(/\/\d+/g, "/…"));
  return `${alpha.route ?? alpha.method}: ${[...new Set(places)].join(", ")}`;
};

const byCount = (counts: ReadonlyMap<string, number>): (readonly [string, number])[] =>
  [...counts].toSorted(([, one], [, other]) => other - one);

export function createReplaySummary(): ReplaySummary {
  const counts = { same: 0, changed: 0, inconclusive: 0 };
  const kinds = new Map<string, number>();
  const reasons = new Map<string, number>();
  return {
    add(record, verdict) {
      counts[verdict.kind] += 1;
      if (verdict.kind === "same") return false;
      const [map, key] =
        verdict.kind === "inconclusive" ? [reasons, verdict.why] : [kinds, kindOf(record, verdict)];
      const known = map.has(key);
      const counted = known || map.size < MOST_KINDS ? key : "others";
      map.set(counted, (map.get(counted) ?? 0) + 1);
      return verdict.kind === "changed" && counted === key && !known;
    },
    get same() {
      return counts.same;
    },
    get changed() {
      return counts.changed;
    },
    get inconclusive() {
      return counts.inconclusive;
    },
    kinds: () => byCount(kinds),
    reasons: () => byCount(reasons),
  };
}
