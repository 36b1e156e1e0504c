/** The names in braces that the requests of a route to the upstream use. */
import type { CallDefinition } from "../calls/call-definition.ts";
import { keysOfName, NAME_IN_BRACES } from "../calls/endpoint.ts";
import type { RouteDefinition } from "./route-definition.ts";

/** The names in braces in the paths of a route's calls, and in its condition: of `{order.customer}` it is `order`. */
export function namesInBraces(
  { upstream, where }: Pick<RouteDefinition, "upstream" | "where">,
  calls: readonly CallDefinition[],
): ReadonlySet<string> {
  const texts = [upstream, JSON.stringify(where), ...calls.map((call) => call.upstream)];
  const names = texts.flatMap((text = "") => [...text.matchAll(new RegExp(NAME_IN_BRACES, "g"))]);
  return new Set(names.map(([, name = ""]) => keysOfName(name)[0] ?? ""));
}
