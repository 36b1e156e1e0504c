/** Headers that pass from one side to the other, on a request and on its response. */
import {
  type Answer,
  hasTag,
  HttpError,
  NOT_MODIFIED,
  type PassedHeaders,
  type Query,
  type ReceivedHeaders,
  type Route,
  type TranslateLocation,
  valueAt,
  type WriteResponseHeaders,
} from "../../pack/index.ts";
import { fromJsonText, isObject } from "../../base/index.ts";
import type { RequestContext } from "../pipeline/context.ts";
import type { ResponseBody, HandlerResult } from "../pipeline/response.ts";
import { header, sentObject, type AlphaRequest, type ReadJson } from "../pipeline/request.ts";
import type { ErrorResult } from "./error-result.ts";
import { addHeaders, addParameters, type PreparedRequest } from "../pipeline/calls/prepared-request.ts";

const PRECONDITION_FAILED = 412;

/** The values of a client's request that pass. */
export interface PassedRequest {
  readonly request: AlphaRequest;
  readonly match: {
    readonly route: Pick<Route, "body">;
    readonly parameters: Readonly<Record<string, string>>;
  };
  readonly readJson: ReadJson;
  /** The parameters of the client's query. */
  readonly query: Query;
  readonly time: Date;
  /** The headers that pass as they are. */
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** What the values of a request are made of. */
const toSent = ({ request, match, readJson, query, time }: PassedRequest) => ({
  headers: request.headers,
  body: () => sentObject(match.route.body, readJson),
  path: match.parameters,
  query,
  time,
});

/** The headers that all calls of a request have. @throws {HttpError} 400 for a value that is missing or invalid */
export const commonHeadersOf = (
  rules: PassedHeaders | undefined,
  passed: PassedRequest,
): PassedRequest["headers"] => rules?.common?.(toSent(passed));

/** Compares the client's version of an object with the tag that the gateway has made of it, and removes the tag. */
function checkMadeTag(prepared: PreparedRequest, request: AlphaRequest): PreparedRequest {
  const { "if-match": current, ...headers } = prepared.headers ?? {};
  const sent = header(request, "if-match");
  if (sent !== undefined && current !== undefined && !hasTag(sent, current))
    throw new HttpError(PRECONDITION_FAILED, "The object has changed.");
  return { ...prepared, headers };
}

/**
 * Adds to a call what passes of the client's request.
 *
 * @param rules Undefined: nothing passes.
 * @throws {HttpError} 400 for a value that is missing or invalid; 412 if the client has another version of the object
 */
export function addPassed(
  built: PreparedRequest,
  rules: PassedHeaders | undefined,
  passed: PassedRequest,
): PreparedRequest {
  if (!rules) return built;
  const { request, headers } = passed;
  const written = rules.write?.(toSent(passed));
  const checked = rules.entityTag ? checkMadeTag(built, request) : built;
  const prepared = addHeaders(checked, written ? { ...headers, ...written.headers } : headers);
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
  "upstreamHead" | "match" | "warnings" | "upstreamEquivalent" | "successStatus" | "sent" | "time"
>;

const NO_HEADERS: ReceivedHeaders = {};

/** The path of the upstream request, which a relative address in a response refers to. */
const pathOf = (call: string): string => /^\S+ (\S*?),?(?: |$)/.exec(call)?.[1] ?? "";

function toAnswer(
  status: number,
  bodyOf: () => ResponseBody,
  { upstreamHead, match, warnings, upstreamEquivalent = "", sent, time }: AnswerContext,
  { locate, linkBase }: LinkRules,
): Answer {
  const wrapper = match?.route.response === "object" ? match.route.upstreamPath : [];
  return {
    status,
    received: upstreamHead?.headers ?? NO_HEADERS,
    response: () => upstreamHead?.json,
    upstream: () => valueAt(upstreamHead?.json, wrapper),
    object: () => {
      const body = bodyOf();
      const isText = typeof body === "string" || Buffer.isBuffer(body);
      return isText && body.length > 0 ? fromJsonText(body.toString()) : undefined;
    },
    path: match?.parameters ?? {},
    query: sent?.query,
    time,
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

/** The body of a success: as a whole, which headers are made of, and what the client gets of it. */
export type SuccessBodies = Readonly<Record<"whole" | "shown", ResponseBody>>;

/** The success of a route: its status, its body, and the headers that pass. */
export function toSuccess(
  request: AlphaRequest,
  route: Route,
  { whole, shown }: SuccessBodies,
  context: AnswerContext,
  links: LinkRules,
): HandlerResult {
  const { headers } = route;
  const status = context.successStatus ?? route.status;
  if (!headers) return { status, body: status === 204 ? "" : shown };
  const passed = headers.success?.(toAnswer(status, () => whole, context, links));
  const isNotModified =
    context.upstreamHead?.status === NOT_MODIFIED ||
    (headers.entityTag !== undefined && isCurrent(request, route, passed?.["etag"])) ||
    (headers.makesDate && isUnchanged(request, route, passed?.["last-modified"]));
  return {
    status: isNotModified ? NOT_MODIFIED : status,
    body: isNotModified || status === 204 ? "" : shown,
    ...(passed && { headers: passed }),
  };
}

/** The headers of an error. Those that it has of itself win. */
export const addErrorHeaders = (
  { status, headers, writeBody }: Pick<HandlerResult, "status" | "headers"> & Pick<ErrorResult, "writeBody">,
  write: WriteResponseHeaders,
  context: AnswerContext,
  links: LinkRules,
): NonNullable<HandlerResult["headers"]> => ({
  ...write(toAnswer(status, () => writeBody(), context, links)),
  ...headers,
});
