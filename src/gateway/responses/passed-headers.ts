/** Headers that are passed from one side to the other, on a request and on its response. */
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

/** The values of a client's request that are passed on. */
export interface PassedRequest {
  readonly request: AlphaRequest;
  readonly match: RoutedRequest["match"] & { readonly route: Pick<Route, "body" | "text"> };
  readonly readJson: ReadJson;
  /** The parameters of the client's query. */
  readonly query: Query;
  readonly time: Date;
  /** The headers that stay unchanged. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** Returns the inputs for a request's header values. @param built The built request; undefined for calls before that */
const toSent = (passed: PassedRequest, built?: PreparedRequest) => ({
  headers: passed.request.headers,
  scope(): Scope {
    const alpha = sentObject(passed.match.route.body, passed.readJson);
    return built ? { ...scopeOf(built, passed), body: alpha } : earlyScope(passed, alpha);
  },
});

/** Returns the headers of all calls of a request. @throws {HttpError} 400 for a value that is missing or invalid */
export const commonHeadersOf = (
  rules: PassedHeaders | undefined,
  passed: PassedRequest,
): PassedRequest["headers"] => rules?.common?.(toSent(passed));

/**
 * Compares the client's version of an object with the tag that the pack creates. An `If-Match` that the pack writes
 * replaces the client's.
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
 * Adds the values that are passed from the client's request to a call.
 *
 * @param rules Undefined: nothing is passed on.
 * @param report receives the values that headers of the response may read
 * @throws {HttpError} 400 for a value that is missing or invalid; 412 if the client has a different version of the
 *   object
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

/** Returns the known facts about a request whose call was not built. */
const headScope = (request: AlphaRequest, { match, sent, time }: AnswerContext): Scope =>
  earlyScope(
    { request, query: sent?.query ?? new Map(), time, match: { parameters: match?.parameters ?? {} } },
    undefined,
  );

/** Returns the path of the upstream request. Relative addresses in a response refer to it. */
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

/** Whether the client already has the version of an object in a response (RFC 9110, section 13.1.2). */
const isCurrent = (request: AlphaRequest, route: Route, tag: string | undefined): boolean => {
  const known = header(request, "if-none-match");
  return route.name.startsWith("GET ") && tag !== undefined && known !== undefined && hasTag(known, tag);
};

/**
 * Whether an object has not changed since the client read it. If the client sent a tag, the tag decides instead (RFC
 * 9110, section 13.1.3).
 */
const isUnchanged = (request: AlphaRequest, route: Route, modified: string | undefined): boolean =>
  route.name.startsWith("GET ") &&
  header(request, "if-none-match") === undefined &&
  Date.parse(modified ?? "") <= Date.parse(header(request, "if-modified-since") ?? "");

/** The body of a successful response: the whole body, which headers may depend on, and the part for the client. */
export type SuccessBodies = Readonly<Record<"whole" | "shown", ResponseBody>>;

/** Creates the successful response of a route: its status, its body, and the headers that are passed on. */
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

/** Adds the headers of an error. The error's own headers take precedence. */
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
