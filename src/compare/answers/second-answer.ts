/** A second answer to a request, from another pack or from the other service. */
import type { AlphaRequest, RequestContext, RequestOutcome } from "../../gateway/index.ts";
import type { Answer, NotComparableReason } from "./comparison.ts";

/** A request, and its outcome. */
export interface Exchange {
  readonly request: AlphaRequest;
  readonly outcome: RequestOutcome;
  readonly context: RequestContext;
}

/** An answer, or the reason why there is none. */
export type Asked = Answer | NotComparableReason;

/**
 * A source of second answers: another pack over the same responses of v4, live or recorded; the old service; or the
 * translation, by new calls to v4.
 *
 * @template Question The known facts about the request
 */
export interface SecondAnswer<Question = Exchange> {
  /** Never rejects. */
  ask(question: Question): Promise<Asked>;
}
