/**
 * Decides what two pairs of answers mean. Where a first pair differs, both services are asked once more, 1 to 5 s later:
 *
 *     const volatile = fields.seenBy(client);
 *     const look = comparePair(first, rules, volatile, isAccepted);
 *     if (look.result === "differs") {
 *       const second = await askBothAgain();
 *       const { result, differences } = confirm({ first, second, rules, volatile, isAccepted });
 *     } else if (volatile.needsPair(route.name, Math.random())) {
 *       recordOldPair(first.old, await askOldAgain(), rules, volatile);
 *     }
 */
import type { Answer, AnswerPair, ComparisonResult, Difference, NotComparableReason } from "./comparison.ts";
import { compareAnswers, judgePlainly, type AnswerRules } from "./compare-answers.ts";
import type { ClientView, ValuePair } from "./volatile-fields.ts";
import { groupOf, keyOf } from "./volatile-state.ts";

/** The result of a first pair of answers. */
export type FirstLook =
  | { readonly result: "equal" }
  | { readonly result: "not_comparable"; readonly reason: NotComparableReason }
  /** Both are to be asked again. */
  | { readonly result: "differs"; readonly differences: readonly Difference[] }
  /**
   * To ask again would say nothing: the pack accepts all differences, or the old service often differs from itself in the
   * same way.
   */
  | { readonly result: "accepted" | "unstable"; readonly differences: readonly Difference[] };

/** Whether the pack accepts a difference. */
export type IsAccepted = (difference: Difference) => boolean;

const acceptNothing: IsAccepted = () => false;

/** Compares the first answers of both services, and counts equal ones. */
export function comparePair(
  pair: AnswerPair,
  rules: AnswerRules,
  volatile: ClientView,
  isAccepted: IsAccepted = acceptNothing,
): FirstLook {
  const { name } = rules.route;
  const compared = compareAnswers(pair.old, pair.new, rules, volatile.judge(name, "new"));
  if ("reason" in compared) return { result: "not_comparable", reason: compared.reason };
  const { differences } = compared;
  if (differences.length === 0) {
    volatile.recordEqual(name);
    return { result: "equal" };
  }
  if (differences.every(isAccepted)) return { result: "accepted", differences };
  // The values of a volatile field have been compared with its possible values.
  const isKnown = differences.every(
    (each) => isAccepted(each) || (groupOf(each.kind) !== "value" && volatile.isNoise(name, each)),
  );
  return { result: isKnown ? "unstable" : "differs", differences };
}

/** Pairs of values of one comparison that are counted. */
const MAX_VALUE_PAIRS = 500;

/** Counts two answers of the old service to the same request, whether they differ or not. Others are ignored. */
export function recordOldPair(old: Answer, oldAgain: Answer, rules: AnswerRules, volatile: ClientView): void {
  const values: ValuePair[] = [];
  const compared = compareAnswers(old, oldAgain, rules, (field, one, other) => {
    if (values.length < MAX_VALUE_PAIRS) values.push({ field, values: [one, other] });
    return judgePlainly(field, one, other);
  });
  if ("differences" in compared) volatile.recordPair(rules.route.name, compared.differences, values);
}

/** The subject of a confirmation. */
export interface ConfirmInput {
  /** The pair that differs. */
  readonly first: AnswerPair;
  /** The pair that was asked for later. */
  readonly second: AnswerPair;
  readonly rules: AnswerRules;
  /** The knowledge about the old service. It learns from the two old answers. */
  readonly volatile: ClientView;
  /** Default: the pack accepts nothing. */
  readonly isAccepted?: IsAccepted;
}

/** The result of two pairs of answers. */
export interface Confirmed {
  readonly result: ComparisonResult;
  /** With `not_comparable` alone. */
  readonly reason?: NotComparableReason;
  /** Those that were found twice and are not accepted; with `accepted` and `unstable` all of the first pair. */
  readonly differences: readonly Difference[];
}

/**
 * Decides whether a difference is one: it was found in both pairs, the old service gave the same answer twice, and it does
 * not differ from itself so often that this may be chance.
 */
export function confirm({
  first,
  second,
  rules,
  volatile,
  isAccepted = acceptNothing,
}: ConfirmInput): Confirmed {
  const { name } = rules.route;
  const judge = volatile.judge(name, "new again");
  const compared = compareAnswers(first.old, first.new, rules, judge);
  const again = compareAnswers(second.old, second.new, rules, judge);
  const old = compareAnswers(first.old, second.old, rules, volatile.judge(name, "old"));
  for (const each of [compared, again, old])
    if ("reason" in each) return { result: "not_comparable", reason: each.reason, differences: [] };
  const [differences, differencesAgain, ofOld] = [compared, again, old].map((each) =>
    "differences" in each ? each.differences : [],
  ) as [readonly Difference[], readonly Difference[], readonly Difference[]];
  const foundAgain = new Set(differencesAgain.map(keyOf)).difference(new Set(ofOld.map(keyOf)));
  const believed = differences.filter((each) =>
    volatile.recordAgain(name, each, foundAgain.has(keyOf(each))),
  );
  // Not before: the differences were found with the earlier knowledge.
  recordOldPair(first.old, second.old, rules, volatile);
  if (differences.length === 0) return { result: "equal", differences: [] };
  if (believed.length === 0) return { result: "unstable", differences };
  const unaccepted = believed.filter((each) => !isAccepted(each));
  return unaccepted.length === 0
    ? { result: "accepted", differences }
    : { result: "different", differences: unaccepted };
}
