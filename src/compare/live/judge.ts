/** Decides whether the answers of both services are the same, by what is known of the old one. */
import type { Pack, Route } from "../../pack/index.ts";
import { acceptDifferences } from "../answers/accepted.ts";
import { createAnswerRules, type AnswerRules } from "../answers/compare-answers.ts";
import type { ComparedRequest } from "../answers/compared-request.ts";
import type { Answer, Compared, Difference } from "../counts/comparison.ts";
import { comparePair, confirm, recordOldPair, type AnswerPair, type IsAccepted } from "../answers/confirm.ts";
import { provenKey } from "../counts/distinct-key.ts";
import type { ClientView, VolatileFields } from "../answers/volatile-fields.ts";

export type { AnswerPair } from "../answers/confirm.ts";

/** The request of a comparison. */
export interface JudgedRequest extends ComparedRequest {
  readonly route: Route;
  /** Who has sent it, as {@link Compared} says: what is known of the old service is known by clients. */
  readonly provenBy: string;
}

/** What was found, without who asked. */
export type Finding = Pick<Compared, "result" | "reason" | "key" | "differences" | "accepted" | "answer">;

/** Compares pairs of answers. */
export interface Judge {
  /** @returns what was found, or `differs`: both services are asked once more (rule 3) */
  compare(request: JudgedRequest, pair: AnswerPair): Finding | "differs";
  /** Decides with a second pair. */
  confirm(request: JudgedRequest, first: AnswerPair, second: AnswerPair): Finding;
  /** Whether the old service is asked twice after equal answers, too: so that what is unstable has a rate. */
  needsOldPair(request: JudgedRequest): boolean;
  /** Learns from two answers of the old service how it differs from itself (rule 4). */
  learn(request: JudgedRequest, first: Answer, second: Answer): void;
}

/** Creates the judge of a pack. @param volatile what is known of the old service, whichever pack is active */
export function createJudge(pack: Pack, volatile: VolatileFields): Judge {
  const acceptedBy = acceptDifferences(pack.acceptedDifferences);
  const rulesOf = (request: JudgedRequest): AnswerRules => createAnswerRules(pack, request.route, request);
  const acceptanceOf = ({ route }: JudgedRequest): IsAccepted => {
    const now = Date.now();
    return (difference) => acceptedBy(route.name, difference, now) !== undefined;
  };

  const seenBy = ({ provenBy }: JudgedRequest): ClientView => volatile.seenBy(provenBy);

  function findingOf(
    request: JudgedRequest,
    old: Answer,
    { result, reason, differences = [] }: Pick<Finding, "result" | "reason"> & Partial<Finding>,
  ): Finding {
    if (reason !== undefined) return { result: "not_comparable", reason, key: undefined, differences: [] };
    const isAccepted = acceptanceOf(request);
    const isOpen = (difference: Difference): boolean => !isAccepted(difference);
    return {
      result,
      key: provenKey(result, request, request, old, volatile),
      differences: result === "accepted" ? [] : differences.filter(isOpen),
      accepted: differences.filter(isAccepted),
      answer: old.body,
    };
  }

  return {
    compare(request, pair) {
      const look = comparePair(pair, rulesOf(request), seenBy(request), acceptanceOf(request));
      return look.result === "differs" ? "differs" : findingOf(request, pair.old, look);
    },
    confirm(request, first, second) {
      const rules = rulesOf(request);
      const isAccepted = acceptanceOf(request);
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
