/** The upstream of `explain`. It contains no objects, and lets a request proceed as far as possible without real responses. */
import { fillShape, onePage, type Pack, type Route, type RouteCall, splitPath } from "../../../pack/index.ts";
import { isObject } from "../../../base/index.ts";
import type { WrittenCall } from "../../../authoring/index.ts";
import { withRoutes } from "../../../compare/index.ts";
import { namedAnswer } from "./named-values.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../../gateway/index.ts";

/** Returns the routes that match a request. */
function routesOf(pack: Pack, { method, path }: WrittenCall): readonly Route[] {
  const segments = splitPath(path.split("?")[0] ?? "") ?? [];
  return pack.match(method, segments.slice(pack.prefix.length))?.routes ?? [];
}

/** Matches v4 requests that are only needed for a decision. The main call is made without their responses. */
function createDecisionMatcher(pack: Pack, call: WrittenCall): (request: HttpRequest) => boolean {
  const decisions = routesOf(pack, call)
    .flatMap(({ calls }) => calls)
    .filter(({ place, isOptional }) => place === "before" && isOptional);
  return (request) =>
    request.method === "GET" && decisions.some(({ endpoint }) => endpoint.matches(request.path));
}

/** Whether a request is the main call of a route. */
export const isMainCall = ({ source }: Route, { method, path }: HttpRequest): boolean =>
  "call" in source && source.call.method === method && source.call.matches(path.split("?")[0] ?? "");

/** Returns the empty list or object of a route, in the shape of its upstream. */
function emptyAnswer({ response, resource, lists: { envelope } }: Route): unknown {
  const { list, object = "$object" } = envelope.upstream;
  return response === "list"
    ? onePage(list, [])
    : fillShape(object, { name: resource.upstreamName, object: {} });
}

/**
 * Records requests. A request for a decision gets 403. If a later path needs values of a response, it contains
 * placeholders. All other responses are an empty object or list.
 *
 * @param main The response to the main call.
 */
export function createEmptyV4(pack: Pack, call: WrittenCall, sent: HttpRequest[], main?: Buffer): Upstream {
  const routes = routesOf(pack, call);
  const readRoutes = routes.flatMap(({ objectRoutes }) =>
    objectRoutes.flatMap((name) => pack.route(name) ?? []),
  );
  const [first] = routes;
  // A list in a wrapper is also an object. A bare array is not.
  const list = onePage(first?.lists.envelope.upstream.list ?? pack.lists.upstream, []);
  const other = first?.response === "list" || isObject(list) ? list : {};
  const { totalHeader } = (first?.lists.paging ?? pack.paging).upstream;
  const isForDecision = createDecisionMatcher(pack, call);
  return {
    async call(request): Promise<HttpResponse> {
      sent.push(request);
      const headers = {
        "content-type": request.headers["accept"],
        etag: '"ETAG"',
        ...(totalHeader !== undefined && { [totalHeader]: "0" }),
      };
      const named = request.method === "GET" && first && namedAnswer(request.path, first);
      if (named) return { status: 200, headers, bytes: Buffer.from(JSON.stringify(named)), ms: 0 };
      if (isForDecision(request)) return { status: 403, headers, bytes: Buffer.alloc(0), ms: 0 };
      const route = [...routes, ...readRoutes].find((each) => isMainCall(each, request));
      const answer = JSON.stringify(route ? emptyAnswer(route) : other);
      const bytes = main && route && routes.includes(route) ? main : Buffer.from(answer);
      return { status: 200, headers, bytes, ms: 0 };
    },
    close: () => Promise.resolve(),
  };
}

const NO_CHECKS: RouteCall["checks"] = { all: () => [], early: () => [], late: () => [] };

/** Returns the pack without the checks of calls before the main call, because their responses are unknown. */
export const withoutAnswers = (pack: Pack): Pack =>
  withRoutes(pack, (route) => ({
    ...route,
    callOrder: {
      ...route.callOrder,
      before: route.callOrder.before.map((call): RouteCall => ({ ...call, checks: NO_CHECKS })),
    },
  }));
