/** What the answers of two packs to one request mean. */
import type { Pack, Route } from "../../pack/index.ts";
import type { AcceptedBy } from "../answers/accepted.ts";
import { compareAnswers, createAnswerRules } from "../answers/compare-answers.ts";
import type {
  Answer,
  Compared,
  ComparisonResult,
  ComparedSample,
  Difference,
  NotComparableReason,
} from "../counts/comparison.ts";
import { provenKey } from "../counts/distinct-key.ts";
import { VolatileFields } from "../answers/volatile-fields.ts";

/** A candidate that fails where the active pack does not is a difference: v4 has responded. */
const failure = (old: Answer, other: Answer): readonly Difference[] | undefined =>
  other.status >= 500 && old.status < 500
    ? [{ field: "status", kind: "status", old: String(old.status), new: String(other.status) }]
    : undefined;

const NOTHING_VOLATILE = new VolatileFields();

/** What two answers mean. */
export type AnswerJudgement =
  | { readonly result: "not_comparable"; readonly reason: NotComparableReason }
  | Pick<Compared, "result" | "key" | "differences" | "accepted" | "answer" | "sample">;

/**
 * Compares the answers of two packs over the same responses of the upstream. A difference needs no confirmation.
 *
 * @param pack that made the old answer, with its route
 * @param acceptedBy finds the accepted differences of the other pack
 */
export function judgeAnswers(
  { pack, route }: { readonly pack: Pack; readonly route: Route },
  sample: ComparedSample,
  acceptedBy: AcceptedBy,
): AnswerJudgement {
  const { old, new: other } = sample;
  const failed = failure(old, other);
  const compared = failed
    ? { differences: failed }
    : compareAnswers(old, other, createAnswerRules(pack, route, sample));
  if ("reason" in compared) return { result: "not_comparable", reason: compared.reason };
  const keyOf = (result: ComparisonResult): Pick<Compared, "key" | "answer"> => ({
    key: provenKey(result, { route }, sample, old, NOTHING_VOLATILE),
    answer: old.body,
  });
  if (compared.differences.length === 0) return { ...keyOf("equal"), result: "equal", differences: [] };
  const now = Date.now();
  const isAcceptable = (each: Difference): boolean => acceptedBy(route.name, each, now) !== undefined;
  const accepted = compared.differences.filter(isAcceptable);
  const differences = compared.differences.filter((each) => !isAcceptable(each));
  const result = differences.length > 0 ? "different" : "accepted";
  return { ...keyOf(result), result, differences, accepted, sample };
}
