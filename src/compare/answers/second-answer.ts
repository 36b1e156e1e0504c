/** A second answer to a request: what another pack, or the other service, says to the same. */
import type { AlphaRequest, RequestContext, RequestOutcome } from "../../gateway/index.ts";
import type { Answer, NotComparableReason } from "./comparison.ts";

/** A request, and what became of it. */
export interface Exchange {
  readonly request: AlphaRequest;
  readonly outcome: RequestOutcome;
  readonly context: RequestContext;
}

/** An answer, or why there is none. */
export type Asked = Answer | NotComparableReason;

/**
 * Who gives second answers: another pack over the same responses of v4, live or recorded; the old service; or the translation,
 * by new calls to v4.
 *
 * @template Question What is known of the request when it is asked
 */
export interface SecondAnswer<Question = Exchange> {
  /** Never rejects. */
  ask(question: Question): Promise<Asked>;
}
