/**
 * Decides whether two responses to one request are the same. Responses of two packs are judged immediately, and
 * responses of two services after further requests.
 */
import { DAY_MS } from "../../base/index.ts";
import { type AcceptedDifference, isSuccess, type Pack, type Route } from "../../pack/index.ts";
import { type AnswerRules, compareAnswers, compareStatus, createAnswerRules } from "./compare-answers.ts";
import {
  type Answer,
  type AnswerPair,
  type Compared,
  type ComparedRequest,
  type ComparisonResult,
  type Difference,
  lineKey,
  type NotComparableReason,
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

/** Whether the last day of a line has passed, in UTC. @param date Milliseconds since the epoch */
export const hasEnded = ({ until }: Pick<AcceptedDifference, "until">, date: number): boolean =>
  date >= Date.parse(until) + DAY_MS;

/** Whether a pack accepts a difference. */
type IsAccepted = (difference: Difference) => boolean;

const acceptNothing: IsAccepted = () => false;

/** Returns whether lines accept a difference of a route on a day. @param date Milliseconds since the epoch */
export const acceptBy = (
  lines: readonly AcceptedDifference[],
  { name }: Pick<Route, "name">,
  date = Date.now(),
): ((difference: Pick<Difference, "field" | "kind">) => boolean) => {
  const accepted = new Set(
    lines.filter((line) => line.route === name && !hasEnded(line, date)).map((line) => lineKey(line)),
  );
  return (difference) => accepted.has(lineKey(difference));
};

/** The result for pairs of responses, with all differences that were found. */
type Decided<Result = ComparisonResult> = Pick<Compared, "reason" | "differences"> & {
  readonly result: Result;
};

/** Creates a finding without accepted differences. If both services refuse the request, nothing was translated. */
function createFinding(
  request: Pick<JudgedRequest, keyof ComparedRequest | "route">,
  old: Answer,
  { result, reason, differences }: Decided,
  isAccepted: IsAccepted,
  volatile: VolatileFields,
): Finding {
  if (reason !== undefined) return notComparable(reason);
  const hasTranslated = result === "different" || isSuccess(old.status);
  return {
    result,
    key: hasTranslated ? distinctKey(request, request, old, volatile) : undefined,
    differences: result === "accepted" ? [] : differences.filter((difference) => !isAccepted(difference)),
    accepted: differences.filter(isAccepted),
    answer: old.body,
  };
}

const NOTHING_VOLATILE = new VolatileFields();

/**
 * Compares the responses of two packs for the same upstream responses: a difference needs no confirmation.
 *
 * @param made the pack of the old response, with its route
 * @param lines the accepted differences of the other pack
 */
export function judgeOnce(
  { pack, route }: { readonly pack: Pack; readonly route: Route },
  { old, new: other, ...request }: ComparedRequest & AnswerPair,
  lines: readonly AcceptedDifference[],
): Finding {
  // If only one of the packs fails, this is a difference: v4 has responded.
  const isBroken = other.status >= 500 && old.status < 500;
  const compared = isBroken
    ? { differences: compareStatus(old, other) }
    : compareAnswers(old, other, createAnswerRules(pack, route, request));
  if ("reason" in compared) return notComparable(compared.reason);
  const { differences } = compared;
  const isAccepted = acceptBy(lines, route);
  const result =
    differences.length === 0 ? "equal" : differences.every(isAccepted) ? "accepted" : "different";
  return createFinding({ ...request, route }, old, { result, differences }, isAccepted, NOTHING_VOLATILE);
}

/** Compares pairs of responses. */
export type Judge = ReturnType<typeof createJudge>;

/** Creates the judge of a pack. @param volatile the knowledge about the old service, which all packs share */
export function createJudge(pack: Pack, volatile: VolatileFields) {
  /** Returns the rules and knowledge for judging a request. */
  const basisOf = ({ route, provenBy, ...request }: JudgedRequest) => ({
    rules: createAnswerRules(pack, route, request),
    volatile: volatile.seenBy(provenBy),
    isAccepted: acceptBy(pack.acceptedDifferences, route),
  });

  return {
    /** @returns the result, or `differs` if both services must be called again */
    compare(request: JudgedRequest, pair: AnswerPair): Finding | "differs" {
      const { rules, volatile: view, isAccepted } = basisOf(request);
      const { result, ...look } = comparePair(pair, rules, view, isAccepted);
      if (result === "differs") return "differs";
      return createFinding(request, pair.old, { result, ...look }, isAccepted, volatile);
    },
    /** Decides with a second pair. */
    confirm(request: JudgedRequest, first: AnswerPair, second: AnswerPair): Finding {
      const basis = basisOf(request);
      return createFinding(
        request,
        first.old,
        confirm({ first, second, ...basis }),
        basis.isAccepted,
        volatile,
      );
    },
    /**
     * Whether the old service is called twice even after equal responses, so that the rate of unstable responses is
     * known.
     */
    needsOldPair: ({ route, provenBy }: JudgedRequest): boolean =>
      volatile.seenBy(provenBy).needsPair(route.name, Math.random()),
    /** Records the differences between two responses of the old service. */
    learn(request: JudgedRequest, first: Answer, second: Answer): void {
      const { rules, volatile: view } = basisOf(request);
      recordOldPair(first, second, rules, view);
    },
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
  isAccepted: IsAccepted = acceptNothing,
): Decided<ComparisonResult | "differs"> {
  const { name } = rules.route;
  const compared = compareAnswers(pair.old, pair.new, rules, volatile.judge(name));
  if ("reason" in compared) return notComparable(compared.reason);
  const { differences } = compared;
  if (differences.length === 0) {
    volatile.recordEqual(name);
    return { result: "equal", differences };
  }
  if (differences.every(isAccepted)) return { result: "accepted", differences };
  // The values of a volatile field were already compared with its possible values.
  const isKnown = differences.every(
    (each) => isAccepted(each) || (!isOfValues(each) && volatile.all.isNoise(name, each)),
  );
  return { result: isKnown ? "unstable" : "differs", differences };
}

/** Maximum number of counted pairs of values in one comparison. */
const MAX_VALUE_PAIRS = 500;

/** Counts two responses of the old service to the same request, whether or not they differ. Other responses are ignored. */
export function recordOldPair(old: Answer, oldAgain: Answer, rules: AnswerRules, volatile: ClientView): void {
  const values: ValuePair[] = [];
  const compared = compareAnswers(old, oldAgain, rules, (field, one, other) => {
    if (values.length < MAX_VALUE_PAIRS) values.push({ field, pair: [one, other] });
    return judgePlainly(field, one, other);
  });
  if ("differences" in compared) volatile.recordPair(rules.route.name, compared.differences, values);
}

/**
 * Decides whether a difference is confirmed: it occurs in the first pair and in a later one, both old responses are the
 * same, and the old service's responses vary so rarely that chance is unlikely.
 *
 * @param volatile the knowledge about the old service. The two old responses are added to it
 */
export function confirm({
  first,
  second,
  rules,
  volatile,
  isAccepted = acceptNothing,
}: Readonly<Record<"first" | "second", AnswerPair>> & {
  readonly rules: AnswerRules;
  readonly volatile: ClientView;
  readonly isAccepted?: IsAccepted;
}): Decided {
  const { name } = rules.route;
  const judge = volatile.judge(name);
  const compared = compareAnswers(first.old, first.new, rules, judge);
  const again = compareAnswers(second.old, second.new, rules, judge);
  const ofOld = compareAnswers(first.old, second.old, rules, judge);
  if ("reason" in compared) return notComparable(compared.reason);
  if ("reason" in again) return notComparable(again.reason);
  if ("reason" in ofOld) return notComparable(ofOld.reason);
  const { differences } = compared;
  const keysOf = (each: { readonly differences: readonly Difference[] }): ReadonlySet<string> =>
    new Set(each.differences.map(volatileKey));
  const foundAgain = keysOf(again).difference(keysOf(ofOld));
  const believed = differences.filter((each) =>
    volatile.recordAgain(name, each, foundAgain.has(volatileKey(each))),
  );
  // This is done afterwards, because the differences were found with the earlier knowledge.
  recordOldPair(first.old, second.old, rules, volatile);
  if (differences.length === 0) return { result: "equal", differences };
  if (believed.length === 0) return { result: "unstable", differences };
  const unaccepted = believed.filter((each) => !isAccepted(each));
  return unaccepted.length === 0
    ? { result: "accepted", differences }
    : { result: "different", differences: unaccepted };
}
