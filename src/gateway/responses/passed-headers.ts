/** Headers that pass from one side to the other, on a request and on its response. */
import {
  type Answer,
  hasTag,
  HttpError,
  NOT_MODIFIED,
  type PassedHeaders,
  type Query,
  type Route,
  type RoutedRequest,
  type Scope,
  type TranslateLocation,
  valueAt,
  type WriteResponseHeaders,
} from "../../pack/index.ts";
import { fromJsonText, isObject } from "../../base/index.ts";
import type { RequestContext } from "../request/context.ts";
import type { ResponseBody, HandlerResult } from "../request/response.ts";
import { header, sentObject, type AlphaRequest, type ReadJson } from "../request/request.ts";
import type { ErrorResult } from "./error-result.ts";
import { addHeaders, addParameters, type PreparedRequest } from "../calls/prepared-request.ts";
import { earlyScope, scopeOf } from "../calls/request-scope.ts";

const PRECONDITION_FAILED = 412;

/** The values of a client's request that pass. */
export interface PassedRequest {
  readonly request: AlphaRequest;
  readonly match: RoutedRequest["match"] & { readonly route: Pick<Route, "body" | "text"> };
  readonly readJson: ReadJson;
  /** The parameters of the client's query. */
  readonly query: Query;
  readonly time: Date;
  /** The headers that pass unchanged. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** The inputs of header values of a request. @param built Undefined for calls before it is built */
const toSent = (passed: PassedRequest, built?: PreparedRequest) => ({
  headers: passed.request.headers,
  scope(): Scope {
    const alpha = sentObject(passed.match.route.body, passed.readJson);
    return built ? { ...scopeOf(built, passed), body: alpha } : earlyScope(passed, alpha);
  },
});

/** The headers that all calls of a request have. @throws {HttpError} 400 for a value that is missing or invalid */
export const commonHeadersOf = (
  rules: PassedHeaders | undefined,
  passed: PassedRequest,
): PassedRequest["headers"] => rules?.common?.(toSent(passed));

/**
 * Compares the client's version of an object with the tag that the pack has made of it. An `If-Match` that the pack writes is
 * sent in place of the upstream's own.
 */
function checkMadeTag(
  prepared: PreparedRequest,
  request: AlphaRequest,
  passed: PassedRequest["headers"],
): PreparedRequest {
  const { madeTag, headers = {} } = prepared;
  if (madeTag === undefined) return prepared;
  const sent = header(request, "if-match");
  if (sent !== undefined && !hasTag(sent, madeTag))
    throw new HttpError(PRECONDITION_FAILED, "The object has changed.");
  const { "if-match": _own, ...others } = headers;
  return passed?.["if-match"] === undefined ? prepared : { ...prepared, headers: others };
}

/**
 * Adds the values that pass from the client's request to a call.
 *
 * @param rules Undefined: nothing passes.
 * @param report Gets what headers of the response may read.
 * @throws {HttpError} 400 for a value that is missing or invalid; 412 if the client has another version of the object
 */
export function addPassed(
  built: PreparedRequest,
  rules: PassedHeaders | undefined,
  passed: PassedRequest,
  report: Pick<RequestContext, "scope">,
): PreparedRequest {
  if (rules || passed.match.route.text) report.scope = scopeOf(built, passed);
  if (!rules) return built;
  const { request, headers } = passed;
  const written = rules.write?.(toSent(passed, built));
  const sent = written ? { ...headers, ...written.headers } : headers;
  const prepared = addHeaders(checkMadeTag(built, request, sent), sent);
  if (!written) return prepared;
  const { body } = prepared;
  const gatewayFields = new Set([...prepared.gatewayFields, ...written.members]);
  const complete = isObject(body) ? { ...prepared, body: written.withMembers(body) } : prepared;
  return { ...addParameters(complete, written.query), gatewayFields };
}

/** The rules for links in the headers of all responses. */
interface LinkRules {
  readonly locate: TranslateLocation;
  readonly linkBase: string;
}

type AnswerContext = Pick<
  RequestContext,
  "upstreamHead" | "scope" | "match" | "warnings" | "upstreamEquivalent" | "successStatus" | "sent" | "time"
>;

/** The known facts about a request whose call was not built. */
const headScope = (request: AlphaRequest, { match, sent, time }: AnswerContext): Scope =>
  earlyScope(
    { request, query: sent?.query ?? new Map(), time, match: { parameters: match?.parameters ?? {} } },
    undefined,
  );

/** The path of the upstream request, which a relative address in a response refers to. */
const pathOf = (call: string): string => /^\S+ (\S*?),?(?: |$)/.exec(call)?.[1] ?? "";

function toAnswer(
  request: AlphaRequest,
  status: number,
  bodyOf: () => ResponseBody,
  context: AnswerContext,
  { locate, linkBase }: LinkRules,
): Answer {
  const { upstreamHead, match, warnings, upstreamEquivalent = "" } = context;
  const wrapper = match?.route.response === "object" ? match.route.upstreamPath : [];
  return {
    status,
    scope: { ...(context.scope ?? headScope(request, context)), response: upstreamHead },
    upstream: () => valueAt(upstreamHead?.json, wrapper),
    object: () => {
      const body = bodyOf();
      const isText = typeof body === "string" || Buffer.isBuffer(body);
      return isText && body.length > 0 ? fromJsonText(body.toString()) : undefined;
    },
    locate: (address) => locate(address, pathOf(upstreamEquivalent)),
    linkBase,
    onError: (error) => warnings.push(error.message),
  };
}

/** Whether the client has the version of an object that a response has (RFC 9110, section 13.1.2). */
const isCurrent = (request: AlphaRequest, route: Route, tag: string | undefined): boolean => {
  const known = header(request, "if-none-match");
  return route.name.startsWith("GET ") && tag !== undefined && known !== undefined && hasTag(known, tag);
};

/** Whether an object has not changed since the client read it. A tag of the client counts instead (RFC 9110, section 13.1.3). */
const isUnchanged = (request: AlphaRequest, route: Route, modified: string | undefined): boolean =>
  route.name.startsWith("GET ") &&
  header(request, "if-none-match") === undefined &&
  Date.parse(modified ?? "") <= Date.parse(header(request, "if-modified-since") ?? "");

/** The body of a success: the whole body, from which headers are made, and the part that the client gets. */
export type SuccessBodies = Readonly<Record<"whole" | "shown", ResponseBody>>;

/** The success of a route: its status, its body, and the headers that pass. */
export function toSuccess(
  request: AlphaRequest,
  route: Route,
  { whole, shown }: SuccessBodies,
  context: AnswerContext,
  links: LinkRules,
): HandlerResult {
  const { headers, text } = route;
  const status = context.successStatus ?? route.status;
  const type = text && { "content-type": text.contentType };
  if (!headers) return { status, body: status === 204 ? "" : shown, ...(type && { headers: type }) };
  const passed = headers.success?.(toAnswer(request, status, () => whole, context, links));
  const isNotModified =
    context.upstreamHead?.status === NOT_MODIFIED ||
    (headers.entityTag !== undefined && isCurrent(request, route, passed?.["etag"])) ||
    (headers.makesDate && isUnchanged(request, route, passed?.["last-modified"]));
  return {
    status: isNotModified ? NOT_MODIFIED : status,
    body: isNotModified || status === 204 ? "" : shown,
    ...((passed ?? type) && { headers: { ...type, ...passed } }),
  };
}

/** The headers of an error. Its own headers win. */
export const addErrorHeaders = (
  request: AlphaRequest,
  { status, headers, writeBody }: Pick<HandlerResult, "status" | "headers"> & Pick<ErrorResult, "writeBody">,
  write: WriteResponseHeaders,
  context: AnswerContext,
  links: LinkRules,
): NonNullable<HandlerResult["headers"]> => ({
  ...write(toAnswer(request, status, () => writeBody(), context, links)),
  ...headers,
});
