/** Prints what `explain` has found as a script for a shell: the upstream's requests in order, and the losses. */
import {
  addQuery,
  type Endpoint,
  errorsOf,
  isSuccess,
  type Pack,
  type Parameters,
  type Route,
  shortName,
} from "../../../pack/index.ts";
import {
  addressVariable,
  curl,
  type DryRunResponse,
  shellComment,
  withNames,
} from "../../../compare/index.ts";
import type { HttpRequest } from "../../../gateway/index.ts";
import { isMainCall } from "./empty-upstream.ts";

/** A v4 call, and why it is made. */
interface Step {
  readonly reason: string;
  readonly request: HttpRequest;
}

/** What an alpha request becomes, as far as that does not depend on responses of v4. */
export interface Explanation {
  /** As it was typed. */
  readonly call: string;
  readonly sent: readonly HttpRequest[];
  readonly result: DryRunResponse;
  readonly pack: Pack;
}

/** The headers of a v4 request that the pack names: its filter, those of all requests, the version, and those that pass. */
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
 * A v4 request as a command. The shell fills in the address and the token.
 *
 * @param route Of the main call: the headers that pass on it.
 */
function toCurl(request: HttpRequest, pack: Pack, route?: Route): string {
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

const get = (path: string): HttpRequest => ({ method: "GET", path, headers: {} });

/** Why a request is sent before the main call. */
function describePrerequisite(path: string, { prerequisites, wait }: Route): string {
  if (wait?.endpoint.matches(path))
    return `before the call, every ${wait.intervalMs} ms for at most ${wait.timeoutMs} ms, until ${wait.condition}`;
  const step = prerequisites.find(({ endpoint }) => endpoint.matches(path));
  if (!step) return "before the call: members of the body that equal the current object are accepted";
  return step.notFoundField === undefined
    ? `before the call, for expressions that use $prerequisites.${step.name}`
    : `before the call, to validate "${step.notFoundField}"`;
}

/** The requests before the main call, and those of which it consists; none if the gateway did not send it. */
function splitSent({
  sent,
  result: { context },
}: Explanation): Record<"before" | "main", readonly HttpRequest[]> {
  const { upstreamEquivalent: equivalent, match } = context;
  if (equivalent === undefined || !match) return { before: sent, main: [] };
  const { bulk, mergeParts } = match.route;
  if (bulk) return { before: [], main: sent };
  const isCall = (request: HttpRequest): boolean => `${request.method} ${request.path}` === equivalent;
  const isPage = (request: HttpRequest): boolean => isMainCall(match.route, request);
  // A request before the call can be the same GET. Nothing is sent after the parts of an object.
  const last =
    mergeParts.length > 0 ? sent.length - 1 : sent.findLastIndex(sent.some(isCall) ? isCall : isPage);
  const start = Math.max(0, last - mergeParts.length);
  return { before: sent.slice(0, start), main: sent.slice(start, last + 1) };
}

/** What the main call is, where there are other requests, and which pages it reads. */
const describeMain = ({ kind }: Route, isFirst: boolean): string =>
  [
    ...(isFirst ? [] : ["the main call"]),
    ...(kind === "paged" ? ["the first page; others follow until the client's page is complete"] : []),
    ...(kind === "aggregated" ? ["all pages"] : []),
  ].join(", ");

/** Every v4 request in order: prerequisites, the main call, the read after a write, and related requests. */
function createSteps(explanation: Explanation, route: Route, parameters: Parameters): Step[] {
  const { pack, sent } = explanation;
  const named = sent.map((request) => ({ ...request, path: withNames(request.path, route) }));
  if (route.bulk)
    return named.map((request, index) => ({ reason: index === 0 ? "once for each id" : "", request }));
  const { before, main } = splitSent(explanation);
  const prerequisites = named.slice(0, before.length);
  const calls = named.slice(before.length, before.length + main.length);
  const readAfterWrite = route.readAfterWrite?.endpoint.describe(parameters);
  const { poll } = route;
  const { upstream } = pack.paging;
  const firstPage = upstream.query({ offset: 0, cursor: undefined }, upstream.size.maximum);
  const relatedPath = (endpoint: Endpoint, allPages: boolean): string => {
    const path = endpoint.describe({ ...parameters, each: "EACH" });
    return allPages ? addQuery(path, firstPage) : path;
  };
  return [
    ...prerequisites.map((request) => ({
      reason: describePrerequisite(request.path, route),
      request,
    })),
    ...calls.map((request, index) => ({
      reason: index === 0 ? describeMain(route, prerequisites.length === 0) : "a part of the same object",
      request,
    })),
    ...(poll
      ? [
          {
            reason: `after a ${poll.status}, every ${poll.intervalMs} ms for at most ${poll.timeoutMs} ms, until the operation ends`,
            request: get(poll.endpoint.describe(parameters)),
          },
        ]
      : []),
    ...(readAfterWrite === undefined
      ? []
      : [{ reason: "after the call, for the response", request: get(readAfterWrite) }]),
    ...route.related.map(({ name, endpoint, condition, allPages, eachValue }) => ({
      reason: [
        `additionally, for "${name}"`,
        ...(eachValue ? ["once for each value"] : []),
        ...(allPages ? ["all pages"] : []),
        ...(condition === undefined ? [] : [`if ${condition}`]),
      ].join(", "),
      request: get(relatedPath(endpoint, allPages)),
    })),
  ];
}

/**
 * Whether the gateway rejects the request. Once the main call is sent, it depends on an answer that is not known. Catalogs are
 * empty here, so a missing entry is not a rejection.
 */
export function isRejected(explanation: Explanation): boolean {
  const { response, context } = explanation.result;
  const { source } = context.match?.route ?? {};
  const isFromCatalog = source !== undefined && "catalog" in source;
  if (isSuccess(response.status) || splitSent(explanation).main.length > 0) return false;
  return !(isFromCatalog && response.status !== 400);
}

function describeRejection({ result: { response }, pack }: Explanation, route: Route | undefined): string[] {
  const errors = errorsOf(route, pack).client.read(JSON.parse(response.body))?.details ?? [];
  const lines = errors.map(({ field, reason }) => `  ${field === undefined ? "" : `${field}: `}${reason}`);
  const cause = route ? "" : `: ${pack.dialect.client.name} has no such route`;
  return [`rejected by the gateway with ${response.status}${cause}`, ...lines].map(shellComment);
}

/** The requests that fill the catalog of a route, in the background. */
function describeCatalog({ source }: Route, pack: Pack): string[] {
  if (!("catalog" in source)) return [];
  return source.catalog.calls.map(({ path }) =>
    [
      shellComment("not called now: the response comes from the catalog cache, which is filled by"),
      toCurl(get(pack.dialect.upstream.base_path + path), pack),
    ].join("\n"),
  );
}

/** A script for a shell: commands, and comments between them. */
export function formatExplanation(explanation: Explanation): string {
  const { call, result, pack } = explanation;
  const { route, parameters } = result.context.match ?? {};
  const head = [shellComment(call), ...(route ? [shellComment(`route ${route.name}`)] : [])];
  if (isRejected(explanation) || !route || !parameters)
    return [...head, ...describeRejection(explanation, route), ""].join("\n");
  const steps = createSteps(explanation, route, parameters).map(({ reason, request }) =>
    [...(reason ? [shellComment(reason)] : []), toCurl(request, pack, route)].join("\n"),
  );
  const retry =
    route.retryWithout &&
    shellComment(
      `sent again without "${route.retryWithout}" if ${pack.dialect.upstream.name} rejects only that member`,
    );
  const ignored = result.context.ignoredParameters.map((name) =>
    shellComment(`ignored: the query parameter "${shortName(name)}", which the pack does not name`),
  );
  const losses = route.losses.map(({ text, severity }) => shellComment(`lost (${severity}): ${text}`));
  const comments = [...ignored, ...losses].join("\n");
  const paragraphs = [head.join("\n"), ...describeCatalog(route, pack), ...steps, retry, comments];
  return `${paragraphs.filter(Boolean).join("\n\n")}\n`;
}
