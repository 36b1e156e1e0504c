/** The result of `explain` as blocks: the upstream's requests in order, and the losses. */
import { errorsOf, isSuccess, type Pack, type Route, shortName } from "../../../pack/index.ts";
import { type Block, type Item, listOf } from "../../../base/index.ts";
import { createSteps, type Explanation, splitSent, toCurl } from "./explained-calls.ts";

/**
 * Whether the gateway rejects the request. Once the main call is sent, the result depends on an unknown response.
 * Catalogs are empty here, so a missing entry is not a rejection.
 */
export function isRejected(explanation: Explanation): boolean {
  const { response, context } = explanation.result;
  const { source } = context.match?.route ?? {};
  const isFromCatalog = source !== undefined && "catalog" in source;
  if (isSuccess(response.status) || splitSent(explanation).main.length > 0) return false;
  return !(isFromCatalog && response.status !== 400);
}

function describeRejection({ result: { response }, pack }: Explanation, route: Route | undefined): Item {
  const errors = errorsOf(route, pack).client.read(JSON.parse(response.body))?.details ?? [];
  const cause = route ? "" : `: ${pack.dialect.client.name} has no such route`;
  return {
    line: `rejected by the gateway with ${response.status}${cause}`,
    items: errors.map(({ field, reason }) => `${field === undefined ? "" : `${field}: `}${reason}`),
  };
}

/** Lists the background requests that fill the catalog of a route. */
function outlineCatalog({ source }: Route, pack: Pack): Block[] {
  if (!("catalog" in source)) return [];
  return source.catalog.calls.map(({ path }) => ({
    kind: "code",
    title: "not called now: the response comes from the catalog cache, which is filled by",
    text: toCurl({ method: "GET", path: pack.dialect.upstream.base_path + path, headers: {} }, pack),
  }));
}

/** Lists the ids and parameters without effect, and the possible losses of the route's responses. */
function describeRest({ result, unsentIds }: Explanation, route: Route): Item[] {
  return [
    ...unsentIds.map((id) => `no call for the id "${shortName(id)}", which has no value of the upstream`),
    ...result.context.ignoredParameters.map(
      (name) => `ignored: the query parameter "${shortName(name)}", which the pack does not name`,
    ),
    ...route.losses.map(({ text, severity }) => `possible loss (${severity}): ${text}`),
  ];
}

/** Lists the request, its upstream calls, and its losses. */
export function outlineExplanation(explanation: Explanation): Block[] {
  const { call, result, pack } = explanation;
  const { route } = result.context.match ?? {};
  const head: Item[] = [call, ...(route ? [`route ${route.name}`] : [])];
  if (isRejected(explanation) || !route)
    return [{ kind: "list", items: [...head, describeRejection(explanation, route)] }];
  const rest = describeRest(explanation, route);
  return [
    { kind: "list", items: head },
    ...outlineCatalog(route, pack),
    ...createSteps(explanation, route).map(({ reason, request }): Block => ({
      kind: "code",
      title: reason,
      text: toCurl(request, pack, route),
    })),
    ...route.explanations.map((line): Block => ({ kind: "text", line })),
    ...listOf(rest),
  ];
}
