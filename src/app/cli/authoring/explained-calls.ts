/** The upstream's requests of an explained request, in order, and as commands. */
import { addQuery, type Pack, type Parameters, type Route, type RouteCall } from "../../../pack/index.ts";
import { addressVariable, curl, type DryRunResponse } from "../../../compare/index.ts";
import { withNames } from "./named-values.ts";
import type { HttpRequest } from "../../../gateway/index.ts";
import { isMainCall } from "./empty-upstream.ts";

/** A v4 call, and the reason for it. */
interface Step {
  readonly reason: string;
  readonly request: HttpRequest;
}

/** The translation of an alpha request, except for the parts that depend on responses of v4. */
export interface Explanation {
  /** The request as the user typed it. */
  readonly call: string;
  readonly sent: readonly HttpRequest[];
  readonly result: DryRunResponse;
  readonly pack: Pack;
  /** The upstream's values of the path parameters. */
  readonly parameters: Parameters;
  /** For a request with many ids: the ids for which no call is sent, because they have no upstream value. */
  readonly unsentIds: readonly string[];
}

/**
 * Returns the headers of a v4 request that the pack defines: the filter, fixed headers, the version, and headers that
 * are passed to the upstream.
 */
function namedHeaders(
  sent: HttpRequest["headers"],
  { dialect: { upstream }, upstreamHeaders }: Pack,
  route: Route | undefined,
): Record<string, string | undefined> {
  const { filters, headers = {}, version } = upstream;
  const passed = Object.entries(route?.headers?.definition.request ?? {});
  const names = [
    filters?.header,
    ...Object.keys(headers),
    version?.header,
    version?.media_type === undefined ? undefined : "Accept",
    ...passed.map(([name, { upstream: target = name }]) => target),
  ].filter((name) => name !== undefined);
  const all = { ...upstreamHeaders, ...sent };
  return Object.fromEntries(names.map((name) => [name, all[name.toLowerCase()]]));
}

/**
 * Writes a v4 request as a command. The shell fills in the address and the token.
 *
 * @param route The route of the main call, for the headers that it passes on. Undefined for other calls.
 */
export function toCurl(request: HttpRequest, pack: Pack, route?: Route): string {
  const { method, path, headers, body } = request;
  const { name, credentials } = pack.dialect.upstream;
  return curl({
    base: addressVariable(name),
    method,
    path,
    credentials,
    headers: namedHeaders(headers, pack, route),
    body: body === undefined ? undefined : { text: body },
    type: headers["content-type"],
  });
}

/** Returns the headers that all v4 requests of a client's request share, taken from one of them. */
function headersOfEveryCall(route: Route, [first]: readonly HttpRequest[]): HttpRequest["headers"] {
  const rules = Object.entries(route.headers?.definition.request ?? {});
  const names = new Set(
    rules.flatMap(([name, { upstream = name, every_call: everyCall }]) =>
      everyCall === true ? [upstream.toLowerCase()] : [],
    ),
  );
  return Object.fromEntries(Object.entries(first?.headers ?? {}).filter(([name]) => names.has(name)));
}

/** Describes why a request is sent before the main call. */
const describeBefore = (path: string, { calls }: Route): string =>
  calls.find(({ place, endpoint }) => place === "before" && endpoint.matches(path))?.why ??
  "before the call: members of the body that equal the current object are accepted";

/**
 * The requests before the main call, and the main call, which may consist of several requests. Both are empty if the
 * gateway did not send it.
 */
export function splitSent({
  sent,
  result: { context },
}: Explanation): Record<"before" | "main", readonly HttpRequest[]> {
  const { upstreamEquivalent: equivalent, match } = context;
  if (equivalent === undefined || !match) return { before: sent, main: [] };
  const { kind, calls } = match.route;
  if (kind === "bulk") return { before: [], main: sent };
  const isCall = (request: HttpRequest): boolean => `${request.method} ${request.path}` === equivalent;
  const isPage = (request: HttpRequest): boolean => isMainCall(match.route, request);
  // A call before the main call can be the same GET. The calls for parts of an object are the last requests.
  const parts = new Set(calls.flatMap(({ place, name }) => (place === "beside" ? [name] : [])));
  const last = parts.size > 0 ? sent.length - 1 : sent.findLastIndex(sent.some(isCall) ? isCall : isPage);
  const start = Math.max(0, last - parts.size);
  return { before: sent.slice(0, start), main: sent.slice(start, last + 1) };
}

/** Describes the main call if there are other requests, and the pages that it reads. */
const describeMain = ({ kind }: Route, isFirst: boolean): string =>
  [
    ...(isFirst ? [] : ["the main call"]),
    ...(kind === "paged" ? ["the first page; others follow until the client's page is complete"] : []),
    ...(kind === "aggregated" ? ["all pages"] : []),
  ].join(", ");

/** Returns all v4 requests in order: the calls before the main call, the main call, and the calls after it. */
export function createSteps(explanation: Explanation, route: Route): Step[] {
  const { pack, sent, parameters } = explanation;
  const named = sent.map((request) => ({ ...request, path: withNames(request.path, route) }));
  if (route.kind === "bulk")
    return named.map((request, index) => ({ reason: index === 0 ? "once for each id" : "", request }));
  const { before, main } = splitSent(explanation);
  const earlier = named.slice(0, before.length);
  const calls = named.slice(before.length, before.length + main.length);
  const { upstream } = pack.paging;
  const firstPage = upstream.query({ offset: 0, cursor: undefined }, upstream.size.maximum);
  const laterPath = ({ endpoint, allPages }: RouteCall): string => {
    const path = endpoint.describe({ ...parameters, each: "EACH" });
    return allPages ? addQuery(path, firstPage) : path;
  };
  const headers = headersOfEveryCall(route, sent);
  return [
    ...earlier.map((request) => ({ reason: describeBefore(request.path, route), request })),
    ...calls.map((request, index) => ({
      reason: index === 0 ? describeMain(route, earlier.length === 0) : "a part of the same object",
      request,
    })),
    ...route.calls
      .filter(({ place }) => place === "after")
      .map((call) => ({
        reason: [
          call.why,
          ...(route.kind === "paged" ? ["again for each page of the upstream"] : []),
          ...(call.body ? ["with a body, which is not shown"] : []),
        ].join("; "),
        request: { method: call.endpoint.method, path: laterPath(call), headers },
      })),
  ];
}
