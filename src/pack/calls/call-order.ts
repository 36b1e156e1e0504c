/** The order of the calls of a route. */
import type { RouteCall } from "./call.ts";

/** The calls of a route by when they are sent. */
export interface CallOrder {
  /** Sent before the main call, one after the other. */
  readonly before: readonly RouteCall[];
  /** Parts of the object of the main call. */
  readonly parts: readonly RouteCall[];
  /** Sent after the main call, one group after the other. The calls of a group are sent concurrently. */
  readonly after: readonly (readonly RouteCall[])[];
}

/** Groups the calls of a route. */
export function orderCalls(calls: readonly RouteCall[]): CallOrder {
  const at = (place: RouteCall["place"]) => calls.filter((call) => call.place === place);
  const after: RouteCall[][] = [];
  for (const call of at("after")) {
    const group = after.at(-1);
    if (call.isIndependent && group?.[0]?.isIndependent) group.push(call);
    else after.push([call]);
  }
  return { before: at("before"), parts: at("beside"), after };
}
