/** What was sent for one request, in all directions, without the secret values of any of these messages. */
import type { AuditRecord, RecordedBody, Redaction, SecretValues, SentBody } from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import type { RequestContext } from "../pipeline/context.ts";
import type { AlphaResponse } from "../pipeline/response.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";
import type { UpstreamCallRecord } from "../pipeline/instrument-call.ts";
import { findSecrets, roundMs, unparsedTokens, type RecordOptions } from "./recorded-request.ts";

/** The route of a request; null if none matched. */
export const routeOf = ({ route, match }: Pick<RequestContext, "route" | "match">): string | null =>
  route ?? match?.route.name ?? null;

/** The body of a request, if it has one. */
export function sentBody(
  request: AlphaRequest,
  { body }: Pick<RequestContext, "body">,
): SentBody | undefined {
  if (!body || body.bytes.length === 0) return undefined;
  return { bytes: body.bytes, type: header(request, "content-type"), form: body.form };
}

/** The client's token and v4's, as they are sent. Invalid credentials may have a token too: every part of them is secret. */
function tokensOf(
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
): readonly (string | undefined)[] {
  const { client, upstream } = options.credentials;
  const token = context.client?.credentials.token;
  const sent = context.upstream?.v4Token;
  const hasTexts = token === undefined || client?.spellings !== undefined;
  return [
    token,
    ...(token === undefined ? [] : (client?.spellings?.(token) ?? [])),
    ...(hasTexts ? unparsedTokens(request, options) : []),
    ...(sent === token ? [] : [sent]),
    ...(sent === undefined ? [] : (upstream?.spellings?.(sent) ?? [])),
  ];
}

function requestSecrets(
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
): SecretValues {
  const tokens = tokensOf(request, context, options);
  return findSecrets(request, routeOf(context), sentBody(request, context), tokens, options);
}

/** The body of v4's response. JSON is searched without parsing it. */
const recordResponse = (
  { bytes, isValidJson = isJson(bytes) }: NonNullable<UpstreamCallRecord["response"]>,
  redaction: Redaction,
  secrets: SecretValues,
): RecordedBody => {
  if (isValidJson) return redaction.json(bytes, secrets);
  const text = bytes.toString();
  redaction.addFromText(text, secrets);
  return redaction.value(text, undefined, secrets);
};

/** The calls to v4: without bodies, or with redacted ones. */
const recordCalls = (
  calls: readonly UpstreamCallRecord[],
  { redaction, bodies }: RecordOptions,
  secrets: SecretValues,
): AuditRecord["v4"] =>
  calls.map(({ method, path, filter, body, status, response, ms }) => ({
    method,
    path: redaction.target(path, secrets),
    filter: filter === null ? null : redaction.text(filter, secrets),
    status,
    ms: roundMs(ms),
    ...(bodies && body !== undefined && { body: redaction.value(body, undefined, secrets) }),
    ...(bodies && response && { response: recordResponse(response, redaction, secrets) }),
  }));

/** Adds the secret values of a call and of the head of its response. Those of the bodies are added when they are redacted. */
function addFromCall(
  { path, filter, body, response }: UpstreamCallRecord,
  redaction: Redaction,
  secrets: SecretValues,
): void {
  const question = path.indexOf("?");
  const sent = {
    path: question < 0 ? path : path.slice(0, question),
    isRoute: true,
    query: question < 0 ? "" : path.slice(question + 1),
    texts: filter === null ? [] : [filter],
    headers: response?.headers,
  };
  redaction.addFrom(sent, secrets);
  redaction.addFromValue(body, secrets);
}

/** What v4 and the client were sent, without secret values. */
export interface RecordedExchange {
  /** The secret values of all messages, whoever sent them. */
  readonly secrets: SecretValues;
  readonly calls: AuditRecord["v4"];
  /** The client's response. */
  readonly response: RecordedBody;
}

/** Whether a record without bodies has texts that a client chose, in which v4's secrets may be. */
const hasTexts = ({ query, headers }: AlphaRequest, context: RequestContext, filterHeader = ""): boolean =>
  query !== "" ||
  headers[filterHeader.toLowerCase()] !== undefined ||
  routeOf(context) === null ||
  context.warnings.length > 0;

/** Records the calls and the response, and finds the secret values of all messages. */
export function recordExchange(
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
  response?: AlphaResponse,
): RecordedExchange {
  const { redaction, bodies, filterHeader } = options;
  const calls = context.upstream?.calls ?? [];
  const secrets = requestSecrets(request, context, options);
  for (const call of calls) addFromCall(call, redaction, secrets);
  const record = (withBodies: boolean): RecordedExchange => ({
    secrets,
    calls: recordCalls(calls, { ...options, bodies: withBodies }, secrets),
    response:
      withBodies && response && !response.file && response.body.length > 0
        ? redaction.json(response.body, secrets)
        : null,
  });
  const { size, isComplete } = secrets;
  const isSearched = bodies || hasTexts(request, context, filterHeader);
  const recorded = record(isSearched);
  const isFinal = secrets.size === size && secrets.isComplete === isComplete && isSearched === bodies;
  // A body may have had secrets that are also in what was redacted before it.
  return isFinal ? recorded : record(bodies);
}

/** The secret values of all messages of a request, for texts that are not in a record. */
export const exchangeSecrets = (
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
  response?: AlphaResponse,
): SecretValues => recordExchange(request, context, { ...options, bodies: true }, response).secrets;
