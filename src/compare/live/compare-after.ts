/** When comparisons get a request: after its client. */
import type { LifecycleDependencies } from "../../gateway/index.ts";
import type { Exchange } from "../answers/second-answer.ts";

/** Records a request as before; once its record and its response are on their way, the comparison gets it. */
export function compareAfter(
  record: LifecycleDependencies["record"],
  comparisons: readonly ((exchange: Exchange) => void)[],
): LifecycleDependencies["record"] {
  return (request, outcome, context) => {
    const recorded = record(request, outcome, context);
    // The response is sent in the turn in which this function, or the promise of the record, is through.
    const later = (): void => {
      for (const compare of comparisons) setImmediate(compare, { request, outcome, context });
    };
    if (recorded) recorded.then(later, () => {});
    else later();
    return recorded;
  };
}
