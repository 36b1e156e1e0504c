/**
 * Decides whether two responses to one request are the same. Responses of two packs are judged immediately, and
 * responses of two services after further requests.
 */
import { isSuccess, type Pack, type Route } from "../../pack/index.ts";
import { type AnswerRules, compareAnswers, compareStatus, createAnswerRules } from "./compare-answers.ts";
import type {
  Answer,
  AnswerPair,
  Compared,
  ComparedRequest,
  ComparisonResult,
  Difference,
  NotComparableReason,
} from "./comparison.ts";
import { distinctKey } from "./distinct-key.ts";
import { judgePlainly } from "./value-format.ts";
import {
  type ClientView,
  isOfValues,
  type ValuePair,
  VolatileFields,
  volatileKey,
} from "./volatile-fields.ts";

/** The request of a comparison. */
export interface JudgedRequest extends ComparedRequest {
  readonly route: Route;
  /** The sender of the request, as in {@link Compared}. Knowledge about the old service is stored by client. */
  readonly provenBy: string;
}

/** The result, without the sender. */
export type Finding = Pick<Compared, "result" | "reason" | "key" | "differences" | "accepted" | "answer">;

/** The result if nothing could be compared. */
export const notComparable = (reason: NotComparableReason): Finding => ({
  result: "not_comparable",
  reason,
  key: undefined,
  differences: [],
});

/** Creates a finding. If both services refuse the request, nothing was translated, so it proves nothing. */
function createFinding(
  result: ComparisonResult,
  differences: readonly Difference[],
  old: Answer,
  { route, request, isAccepted }: AnswerRules,
  volatile: VolatileFields,
): Finding {
  const hasTranslated = result === "different" || isSuccess(old.status);
  return {
    result,
    key: hasTranslated ? distinctKey({ route }, request, old, volatile) : undefined,
    differences: result === "accepted" ? [] : differences.filter((difference) => !isAccepted(difference)),
    accepted: differences.filter((difference) => isAccepted(difference)),
    answer: old.body,
  };
}

const NOTHING_VOLATILE = new VolatileFields();

/** Compares the responses of two packs for the same upstream responses: a difference needs no confirmation. */
export function judgeOnce({ old, new: other }: AnswerPair, rules: AnswerRules): Finding {
  // If only one of the packs fails, this is a difference: v4 has responded.
  const isBroken = other.status >= 500 && old.status < 500;
  const differences = isBroken ? compareStatus(old, other) : compareAnswers(old, other, rules);
  if (typeof differences === "string") return notComparable(differences);
  const isAccepted = differences.length > 0 && differences.every((each) => rules.isAccepted(each));
  const result = differences.length === 0 ? "equal" : isAccepted ? "accepted" : "different";
  return createFinding(result, differences, old, rules, NOTHING_VOLATILE);
}

/** Compares pairs of responses. */
export type Judge = ReturnType<typeof createJudge>;

/** Creates the judge of a pack. @param volatile the knowledge about the old service, which all packs share */
export function createJudge(pack: Pack, volatile: VolatileFields) {
  const basisOf = ({ route, provenBy, ...request }: JudgedRequest) =>
    [createAnswerRules(pack, route, request), volatile.seenBy(provenBy)] as const;

  return {
    compare: (request: JudgedRequest, pair: AnswerPair) => comparePair(pair, ...basisOf(request)),
    /** Decides with a second pair. */
    confirm: (request: JudgedRequest, first: AnswerPair, second: AnswerPair): Finding =>
      confirm(first, second, ...basisOf(request)),
    /**
     * Whether the old service is called twice even after equal responses, so that the rate of unstable responses is
     * known.
     */
    needsOldPair: ({ route, provenBy }: JudgedRequest): boolean =>
      volatile.seenBy(provenBy).needsPair(route.name, Math.random()),
    /** Records the differences between two responses of the old service. */
    learn: (request: JudgedRequest, first: Answer, second: Answer): void =>
      recordOldPair(first, second, ...basisOf(request)),
  };
}

/**
 * Compares the first responses of both services, and counts equal ones. `differs`: both services must be called again.
 * That is not needed if the pack accepts all differences, or if the old service often varies in the same way.
 */
export function comparePair(
  pair: AnswerPair,
  rules: AnswerRules,
  volatile: ClientView,
): Finding | { readonly result: "differs" } {
  const { isAccepted, route } = rules;
  const differences = compareAnswers(pair.old, pair.new, rules, volatile.judge(route.name, "new"));
  if (typeof differences === "string") return notComparable(differences);
  const end = (result: ComparisonResult): Finding =>
    createFinding(result, differences, pair.old, rules, volatile.all);
  if (differences.length === 0) {
    volatile.recordEqual(route.name);
    return end("equal");
  }
  if (differences.every((each) => isAccepted(each))) return end("accepted");
  // The values of a volatile field were already compared with its possible values.
  const isKnown = differences.every(
    (each) => isAccepted(each) || (!isOfValues(each) && volatile.all.isNoise(route.name, each)),
  );
  return isKnown ? end("unstable") : { result: "differs" };
}

/** Maximum number of counted pairs of values in one comparison. */
const MAX_VALUE_PAIRS = 500;

/** Counts two responses of the old service to the same request, whether or not they differ. Other responses are ignored. */
export function recordOldPair(old: Answer, oldAgain: Answer, rules: AnswerRules, volatile: ClientView): void {
  const values: ValuePair[] = [];
  const differences = compareAnswers(old, oldAgain, rules, (field, one, other) => {
    if (values.length < MAX_VALUE_PAIRS) values.push({ field, pair: [one, other] });
    return judgePlainly(field, one, other);
  });
  if (typeof differences !== "string") volatile.recordPair(rules.route.name, differences, values);
}

/**
 * Decides whether a difference is confirmed: it occurs in the first pair and in a later one, both old responses are the
 * same, and the old service's responses vary so rarely that chance is unlikely.
 *
 * @param volatile the knowledge about the old service. The two old responses are added to it
 */
export function confirm(
  first: AnswerPair,
  second: AnswerPair,
  rules: AnswerRules,
  volatile: ClientView,
): Finding {
  const { name } = rules.route;
  const judgeNew = volatile.judge(name, "new again");
  const differences = compareAnswers(first.old, first.new, rules, judgeNew);
  const again = compareAnswers(second.old, second.new, rules, judgeNew);
  const ofOld = compareAnswers(first.old, second.old, rules, volatile.judge(name, "old"));
  if (typeof differences === "string") return notComparable(differences);
  if (typeof again === "string") return notComparable(again);
  if (typeof ofOld === "string") return notComparable(ofOld);
  const foundAgain = new Set(again.map(volatileKey)).difference(new Set(ofOld.map(volatileKey)));
  const believed = differences.filter((each) =>
    volatile.recordAgain(name, each, foundAgain.has(volatileKey(each))),
  );
  // This is done afterwards, because the differences were found with the earlier knowledge.
  recordOldPair(first.old, second.old, rules, volatile);
  const end = (result: ComparisonResult, found = differences): Finding =>
    createFinding(result, found, first.old, rules, volatile.all);
  if (differences.length === 0) return end("equal");
  if (believed.length === 0) return end("unstable");
  const unaccepted = believed.filter((each) => !rules.isAccepted(each));
  return unaccepted.length === 0 ? end("accepted") : end("different", unaccepted);
}
