import type { Command } from "commander";
import { packFolder } from "../app/loaded-pack.ts";
import { parseJson } from "../dialect/json/parse.ts";
import { onePage } from "../dialect/envelope.ts";
import { fillShape } from "../dialect/shape.ts";
import { shortName } from "../dialect/query.ts";
import { addQuery, type Endpoint } from "../mapping/compile/endpoint.ts";
import { errorsOf } from "../mapping/compile/error-shapes.ts";
import type { Route } from "../mapping/compile/route.ts";
import { isObject } from "../dialect/json/parse.ts";
import { isSuccess } from "../dialect/statuses.ts";
import { loadPack } from "../mapping/load/load-pack.ts";
import type { Pack } from "../mapping/pack.ts";
import { splitPath, type Parameters } from "../mapping/router.ts";
import { createDryRun, isJsonType, type DryRunRequest, type DryRunResponse } from "../tools/dry-run.ts";
import { typeOfFormat } from "../tools/explain/recorded-body.ts";
import { isCall, splitCall, type WrittenCall } from "../tools/examples/example.ts";
import { curl } from "../tools/explain/curl.ts";
import { namedAnswer, withNames } from "../tools/explain/named-values.ts";
import { addressVariable, shellComment } from "../tools/explain/shell.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../upstream/client.ts";
import type { CommandSettings } from "./command-settings.ts";
import { print } from "./terminal.ts";

export interface ExplainFlags {
  /** Lines, `Name: value`. */
  readonly header?: readonly string[];
  /** JSON or a form; with a media type in `header` that is not JSON, any text. */
  readonly data?: string;
  /** Whether to print how the expressions of the pack are evaluated. */
  readonly trace?: true;
  /** With `trace`: a file with the upstream's response, `-` for standard input. */
  readonly response?: string;
}

/** A v4 call, and why it is made. */
interface Step {
  readonly reason: string;
  readonly request: HttpRequest;
}

/** What an alpha request becomes, as far as that does not depend on responses of v4. */
interface Explanation {
  /** As it was typed. */
  readonly call: string;
  readonly sent: readonly HttpRequest[];
  readonly result: DryRunResponse;
  readonly pack: Pack;
}

/** The routes of a request. */
function routesOf(pack: Pack, { method, path }: WrittenCall): readonly Route[] {
  const segments = splitPath(path.split("?")[0] ?? "") ?? [];
  return pack.match(method, segments.slice(pack.prefix.length))?.routes ?? [];
}

/** Matches v4 requests whose only purpose is a decision. Without a response to them the main call is still made. */
function createDecisionMatcher(pack: Pack, call: WrittenCall): (request: HttpRequest) => boolean {
  const endpoints = routesOf(pack, call).flatMap(({ prerequisites, wait }) => [
    ...prerequisites
      .filter(({ notFoundField }) => notFoundField !== undefined)
      .map(({ endpoint }) => endpoint),
    ...(wait ? [wait.endpoint] : []),
  ]);
  return (request) => request.method === "GET" && endpoints.some(({ matches }) => matches(request.path));
}

/** Whether a request is the main call of a route. */
const isMainCall = ({ source }: Route, { method, path }: HttpRequest): boolean =>
  "call" in source && source.call.method === method && source.call.matches(path.split("?")[0] ?? "");

/** What the upstream of a route has as an empty list or object, in the shape of the route. */
function emptyAnswer({ response, resource, lists: { envelope } }: Route): unknown {
  const { list, object = "$object" } = envelope.upstream;
  return response === "list"
    ? onePage(list, [])
    : fillShape(object, { name: resource.upstreamName, object: {} });
}

/**
 * Records requests. Responds with 403 to requests for a decision, with names to those whose values a later path has,
 * and with an empty object or list to all others.
 *
 * @param main The response to the main call.
 */
export function createEmptyV4(pack: Pack, call: WrittenCall, sent: HttpRequest[], main?: Buffer): Upstream {
  const routes = routesOf(pack, call);
  const readRoutes = routes.flatMap(({ readRoute }) => pack.route(readRoute ?? "") ?? []);
  const [first] = routes;
  // A list with members is an object as well. A bare array is not.
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

/**
 * The same pack without the checks of requests before the call: the answers on which they depend are not known. Without the
 * header that names the upstream's request, only a request that was translated has an equivalent.
 */
function withoutAnswers(pack: Pack): Pack {
  const withoutChecks = (route: Route): Route => ({
    ...route,
    prerequisites: route.prerequisites.map((step) => ({ ...step, check: () => [] })),
    withoutScopes: route.withoutScopes && withoutChecks(route.withoutScopes),
  });
  return {
    ...pack,
    dialect: { ...pack.dialect, client: { ...pack.dialect.client, upstream_header: undefined } },
    match(method, segments) {
      const found = pack.match(method, segments);
      return found && { ...found, routes: found.routes.map(withoutChecks) };
    },
  };
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
function isRejected(explanation: Explanation): boolean {
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
function formatExplanation(explanation: Explanation): string {
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

function parseHeaders(lines: readonly string[], command: Command): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      if (colon < 1) command.error(`error: -H "${line}" is not "Name: value"`);
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** A body as JSON; undefined for anything else. */
function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/**
 * A body and its media type. Without a type in the headers it is JSON, or a form where clients may send forms.
 *
 * @param sentType The media type in the headers. What is not JSON is sent as it is.
 */
function readData(
  text: string,
  sentType: string | undefined,
  { mediaTypes }: Pack,
  command: Command,
): { readonly type: string | undefined; readonly body: unknown } {
  if (sentType !== undefined && !isJsonType(sentType)) return { type: sentType, body: text };
  const [json, form] = [typeOfFormat(mediaTypes, "json"), typeOfFormat(mediaTypes, "form")];
  const parsed = tryParse(text);
  if (parsed && (sentType ?? json) !== undefined) return { type: sentType ?? json, body: parsed.value };
  if (sentType !== undefined || form === undefined) return command.error("error: -d is not valid JSON");
  return isObject(parsed?.value)
    ? command.error("error: -d is JSON, and clients of the pack send forms, such as name=a&tags[]=b")
    : { type: form, body: text };
}

/**
 * The request of a command line.
 *
 * @param call `GET /vm/instances?page=2`
 */
export function readRequest(
  call: string,
  { header = [], data }: Pick<ExplainFlags, "header" | "data">,
  pack: Pack,
  command: Command,
): DryRunRequest {
  const sent = parseHeaders(header, command);
  const { type, body } =
    data === undefined
      ? { type: pack.mediaTypes.names[0], body: undefined }
      : readData(data, sent["content-type"], pack, command);
  const headers = { ...(type !== undefined && { "content-type": type }), ...sent };
  return { ...splitCall(call, pack.dialect.client.base_path), headers, body };
}

/**
 * Runs `alpha-gateway explain`.
 *
 * @param call the request, `GET /vm/instances?page=2`
 * @returns the exit code: 1 if the gateway rejects the request
 */
export async function explain(
  call: string,
  flags: ExplainFlags,
  { MAPPINGS_DIR, WORDS }: CommandSettings,
  command: Command,
): Promise<number> {
  if (flags.response !== undefined) command.error("error: --response belongs to --trace");
  if (!isCall(call))
    command.error(`error: "${call}" is not a method and a path; white space in a query is written as %20`);
  const pack = loadPack(packFolder(MAPPINGS_DIR), WORDS);
  const request = readRequest(call, flags, pack, command);
  const sent: HttpRequest[] = [];
  const dryRun = createDryRun(withoutAnswers(pack), createEmptyV4(pack, request, sent));
  const result = await dryRun.send(request);
  const explanation = { call, sent, result, pack };
  print(formatExplanation(explanation));
  return isRejected(explanation) ? 1 : 0;
}
