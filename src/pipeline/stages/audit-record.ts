/** The audit record of a translated request, and the parts of it that the metrics and the log need. */
import { checksumOf, type AuditRecord, type RecordedBody } from "../../audit/record.ts";
import type { SentBody } from "../../audit/client-body.ts";
import { recordTime } from "../../audit/record-time.ts";
import type { Redaction } from "../../audit/redact.ts";
import type { SecretValues } from "../../audit/secret-values.ts";
import { isJson } from "../../dialect/json/scan.ts";
import { header, type AlphaRequest, type AlphaResponse, type RequestContext } from "../context.ts";
import type { UpstreamCallRecord } from "../instrument-call.ts";
import type { ResultMeaning } from "../lifecycle.ts";
import {
  concealAll,
  findSecrets,
  fingerprintOf,
  recordClient,
  recordHead,
  recordWarnings,
  roundMs,
  unparsedTokens,
  type RecordOptions,
  type RequestSummary,
} from "../recorded-request.ts";

/** The end of a request: alpha's status, what it means, and the response as it is sent. */
export interface RequestOutcome {
  readonly status: number;
  readonly meaning: ResultMeaning;
  readonly response: AlphaResponse;
}

/** Bytes of a body that is recorded of a rejected request, where v4 has not accepted the token. */
const LONGEST_BODY_WITHOUT_TOKEN = 1024;

const routeOf = ({ route, match }: RequestContext): string | null => route ?? match?.route.name ?? null;

const bodyLength = ({ body }: RequestContext): number => body?.bytes.length ?? 0;

/** Whether v4 has accepted the token of a request, in this request or before. */
const isAccepted = ({ upstream, token, client }: RequestContext): boolean =>
  upstream?.isTokenAccepted === true || (token ?? client)?.isAccepted === true;

function timingsOf({ startedAt, upstream }: RequestContext): AuditRecord["timings"] {
  const total = performance.now() - startedAt;
  const upstreamMs = upstream?.upstreamMs ?? 0;
  return {
    total: roundMs(total),
    upstream: roundMs(upstreamMs),
    translation: roundMs(Math.max(0, total - upstreamMs)),
  };
}

function sentBody(request: AlphaRequest, { body }: RequestContext): SentBody | undefined {
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

function secretsOf(request: AlphaRequest, context: RequestContext, options: RecordOptions): SecretValues {
  const tokens = tokensOf(request, context, options);
  return findSecrets(request, routeOf(context), sentBody(request, context), tokens, options);
}

/** The summary of a request without a record. Its texts are searched for secrets only if the log gets a warning. */
export function summarizeRequest(
  request: AlphaRequest,
  { status }: RequestOutcome,
  context: RequestContext,
  options: RecordOptions,
): RequestSummary {
  const { warnings } = context;
  return {
    lane: "alpha",
    requestId: request.id,
    client: { fingerprint: fingerprintOf(context.client?.credentials.hash) },
    alpha: { method: request.method, route: routeOf(context), status },
    v4: context.upstream?.calls ?? [],
    losses: [...context.losses],
    warnings: warnings.length > 0 ? concealAll(warnings, secretsOf(request, context, options)) : warnings,
    timings: timingsOf(context),
  };
}

/** An unexpected error for the log, without the secret values of its request. */
export function describeError(
  error: unknown,
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
): object {
  const secrets = secretsOf(request, context, options);
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return { type: name, message: secrets.conceal(message), stack: secrets.conceal(stack) };
}

/** The body of v4's response. JSON is searched without parsing it. */
const recordResponse = (
  { bytes, isValidJson = isJson(bytes) }: NonNullable<UpstreamCallRecord["response"]>,
  { json, value }: Redaction,
  secrets: SecretValues,
): RecordedBody => (isValidJson ? json(bytes, secrets) : value(bytes.toString(), undefined, secrets));

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

/** Clients with invented tokens must not be able to fill the store with their bodies. */
const isBodyRecorded = (context: RequestContext, { meaning }: RequestOutcome): boolean =>
  isAccepted(context) || meaning === "succeeded" || bodyLength(context) <= LONGEST_BODY_WITHOUT_TOKEN;

/** The record of a request, redacted before it leaves the request. */
export function createAuditRecord(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
  options: RecordOptions,
): AuditRecord {
  const { status, response } = outcome;
  const { redaction, bodies } = options;
  const { client, upstream, rejectedBy } = context;
  const route = routeOf(context);
  const accepted = isAccepted(context);
  const secrets = secretsOf(request, context, options);
  const sent = bodies && isBodyRecorded(context, outcome) ? sentBody(request, context) : undefined;
  const streamed = upstream?.streamedBytes;
  const responseBody = (): Pick<AuditRecord["alpha"], "response" | "checksum"> =>
    response.file
      ? { response: { streamed: streamed?.out ?? 0 } }
      : {
          response: response.body.length === 0 ? null : redaction.json(response.body, secrets),
          checksum: checksumOf(response.body),
        };
  return {
    id: options.newId(),
    time: recordTime(context.time.getTime()),
    lane: "alpha",
    pack: options.packHash,
    requestId: secrets.conceal(request.id),
    client: recordClient(request, client?.credentials.hash, accepted, secrets, options),
    alpha: {
      ...recordHead(request, route, accepted, secrets, options),
      ...(context.ignoredParameters.length > 0 && {
        ignored: concealAll(context.ignoredParameters, secrets),
      }),
      route,
      ...(sent && { body: redaction.body(sent, secrets) }),
      status,
      ...(bodies && responseBody()),
    },
    v4: upstream ? recordCalls(upstream.calls, options, secrets) : [],
    losses: concealAll([...context.losses], secrets),
    warnings: recordWarnings(context.warnings, secrets),
    timings: timingsOf(context),
    bytes: { in: streamed?.in || bodyLength(context), out: streamed?.out || response.body.length },
    ...(rejectedBy !== undefined && { rejectedBy }),
  };
}

/** What is recorded if {@link createAuditRecord} fails: the client, the route and the status, and no text. */
export function createMinimalRecord(
  request: AlphaRequest,
  { status, response }: RequestOutcome,
  context: RequestContext,
  { newId }: Pick<RecordOptions, "newId">,
): AuditRecord {
  const { id: requestId, method, address } = request;
  const fingerprint = fingerprintOf(context.client?.credentials.hash);
  return {
    id: newId(),
    time: recordTime(context.time.getTime()),
    lane: "alpha",
    requestId,
    client: { fingerprint, accepted: isAccepted(context), userAgent: null, address },
    alpha: { method, path: "", query: "", filter: null, route: routeOf(context), status },
    v4: [],
    losses: [],
    warnings: ["audit: the record could not be made, so that what was said is left out"],
    timings: timingsOf(context),
    bytes: { in: bodyLength(context), out: response.body.length },
    ...(context.rejectedBy !== undefined && { rejectedBy: context.rejectedBy }),
  };
}
