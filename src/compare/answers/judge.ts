/** Decides whether two answers to one request are the same: those of two packs at once, those of two services by asking again. */
import type { Pack, Route } from "../../pack/index.ts";
import type {
  Answer,
  AnswerPair,
  Compared,
  ComparedRequest,
  Difference,
  NotComparableReason,
} from "./comparison.ts";
import { provenKey } from "./distinct-key.ts";
import { acceptDifferences, type AcceptedBy } from "./accepted.ts";
import { type AnswerRules, compareAnswers, compareStatus, createAnswerRules } from "./compare-answers.ts";
import { comparePair, confirm, recordOldPair, type IsAccepted } from "./confirm.ts";
import { type ClientView, VolatileFields } from "./volatile-fields.ts";

/** The request of a comparison. */
export interface JudgedRequest extends ComparedRequest {
  readonly route: Route;
  /** The sender of the request, as in {@link Compared}: knowledge about the old service is kept by clients. */
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

/** A finding without the differences that are accepted. */
function createFinding(
  request: ComparedRequest & Pick<JudgedRequest, "route">,
  old: Answer,
  { result, differences = [] }: Pick<Finding, "result"> & Partial<Finding>,
  isAccepted: IsAccepted,
  volatile: VolatileFields,
): Finding {
  const isOpen = (difference: Difference): boolean => !isAccepted(difference);
  return {
    result,
    key: provenKey(result, request, request, old, volatile),
    differences: result === "accepted" ? [] : differences.filter(isOpen),
    accepted: differences.filter(isAccepted),
    answer: old.body,
  };
}

const acceptanceOf = (acceptedBy: AcceptedBy, { name }: Route): IsAccepted => {
  const now = Date.now();
  return (difference) => acceptedBy(name, difference, now) !== undefined;
};

const NOTHING_VOLATILE = new VolatileFields();

/**
 * Compares the answers of two packs over the same responses of the upstream: a difference needs no confirmation.
 *
 * @param made The pack that made the old answer, with its route
 * @param acceptedBy finds the accepted differences of the other pack
 */
export function judgeOnce(
  { pack, route }: { readonly pack: Pack; readonly route: Route },
  { old, new: other, ...request }: ComparedRequest & AnswerPair,
  acceptedBy: AcceptedBy,
): Finding {
  // A pack that fails where the other one does not is a difference: v4 has responded.
  const isBroken = other.status >= 500 && old.status < 500;
  const compared = isBroken
    ? { differences: compareStatus(old, other) }
    : compareAnswers(old, other, createAnswerRules(pack, route, request));
  if ("reason" in compared) return notComparable(compared.reason);
  const { differences } = compared;
  const isAccepted = acceptanceOf(acceptedBy, route);
  const result =
    differences.length === 0 ? "equal" : differences.every(isAccepted) ? "accepted" : "different";
  return createFinding({ ...request, route }, old, { result, differences }, isAccepted, NOTHING_VOLATILE);
}

/** Compares pairs of answers. */
export interface Judge {
  /** @returns what was found, or `differs`: both services are asked once more */
  compare(request: JudgedRequest, pair: AnswerPair): Finding | "differs";
  /** Decides with a second pair. */
  confirm(request: JudgedRequest, first: AnswerPair, second: AnswerPair): Finding;
  /** Whether the old service is asked twice after equal answers, too: so that what is unstable has a rate. */
  needsOldPair(request: JudgedRequest): boolean;
  /** Learns from two answers of the old service how it differs from itself. */
  learn(request: JudgedRequest, first: Answer, second: Answer): void;
}

/** Creates the judge of a pack. @param volatile what is known of the old service, whichever pack is active */
export function createJudge(pack: Pack, volatile: VolatileFields): Judge {
  const acceptedBy = acceptDifferences(pack.acceptedDifferences);
  const rulesOf = (request: JudgedRequest): AnswerRules => createAnswerRules(pack, request.route, request);
  const seenBy = ({ provenBy }: JudgedRequest): ClientView => volatile.seenBy(provenBy);

  const findingOf = (
    request: JudgedRequest,
    old: Answer,
    look: Pick<Finding, "result" | "reason"> & Partial<Finding>,
  ): Finding =>
    look.reason === undefined
      ? createFinding(request, old, look, acceptanceOf(acceptedBy, request.route), volatile)
      : notComparable(look.reason);

  return {
    compare(request, pair) {
      const look = comparePair(
        pair,
        rulesOf(request),
        seenBy(request),
        acceptanceOf(acceptedBy, request.route),
      );
      return look.result === "differs" ? "differs" : findingOf(request, pair.old, look);
    },
    confirm(request, first, second) {
      const rules = rulesOf(request);
      const isAccepted = acceptanceOf(acceptedBy, request.route);
      return findingOf(
        request,
        first.old,
        confirm({ first, second, rules, volatile: seenBy(request), isAccepted }),
      );
    },
    needsOldPair: (request) => seenBy(request).needsPair(request.route.name, Math.random()),
    learn: (request, first, second) => recordOldPair(first, second, rulesOf(request), seenBy(request)),
  };
}
