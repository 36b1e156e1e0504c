/** The record of a translated request. */
import {
  type AuditRecord,
  checksumOf,
  isTruncated,
  JsonText,
  type RecordedBody,
  REDACTED,
  type SecretValues,
  type SentBody,
} from "../../audit/index.ts";
import { identityOf, type RequestContext } from "../request/context.ts";
import type { AlphaResponse, RequestOutcome } from "../request/response.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import { shortName } from "../../pack/index.ts";
import {
  findSecrets,
  type RecordedSender,
  type RecordOptions,
  roundMs,
  unparsedTokens,
} from "./recorded-request.ts";
import { addFromCall, lostNamesOf, recordCalls, sentMembersOf } from "./route-names.ts";
import {
  LONGEST_BODY_WITHOUT_TOKEN,
  type RecordedExchange,
  type RecordedMessages,
  redactBodies,
} from "./recorded-exchange.ts";

const bodyLength = ({ body }: Pick<RequestContext, "body">): number => body?.bytes.length ?? 0;

/** Whether v4 has accepted the token of a request, in this request or before. */
export const isAccepted = ({
  upstream,
  token,
  client,
}: Pick<RequestContext, "upstream" | "token" | "client">): boolean =>
  upstream?.isTokenAccepted === true || (token ?? client)?.isAccepted === true;

/** The sender of a request, for its record. */
function senderOf(request: AlphaRequest, context: RequestContext): RecordedSender {
  const hash = context.client?.credentials.hash;
  const { application, isProven } = identityOf(request, context);
  return {
    hash,
    application: application ?? undefined,
    isAccepted: hash === undefined ? isProven : isAccepted(context),
  };
}

function timingsOf({
  startedAt,
  endedAt,
  upstream,
}: Pick<RequestContext, "startedAt" | "endedAt" | "upstream">): AuditRecord["timings"] {
  const total = (endedAt ?? performance.now()) - startedAt;
  const upstreamMs = upstream?.upstreamMs ?? 0;
  return {
    total: roundMs(total),
    upstream: roundMs(upstreamMs),
    translation: roundMs(Math.max(0, total - upstreamMs)),
  };
}

/** The route of a request. Null if none matched. */
export const recordedRoute = ({ route, match }: Pick<RequestContext, "route" | "match">): string | null =>
  route ?? match?.route.name ?? null;

/** The body of a request, if it has one. */
export function sentBody(
  request: AlphaRequest,
  { body }: Pick<RequestContext, "body">,
): SentBody | undefined {
  if (!body || body.bytes.length === 0) return undefined;
  return { bytes: body.bytes, type: header(request, "content-type"), form: body.form };
}

/**
 * The client's token and v4's, as they are sent. Invalid credentials may contain a token too, so every part of them
 * is secret.
 */
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
  return findSecrets(request, recordedRoute(context), sentBody(request, context), tokens, options);
}

/** The texts that v4 and the client were sent, without secret values. */
interface Messages {
  /** The secret values of all messages, including v4's. */
  readonly secrets: SecretValues;
  readonly calls: AuditRecord["v4"];
  /** The client's response. */
  readonly response: RecordedBody;
}

/** Whether a record without bodies has texts that a client chose, in which v4's secrets may be. */
const hasTexts = ({ query, headers }: AlphaRequest, context: RequestContext, filterHeader = ""): boolean =>
  query !== "" ||
  headers[filterHeader.toLowerCase()] !== undefined ||
  recordedRoute(context) === null ||
  context.warnings.length > 0;

/** Whether a response is a text that the pack has made, and no JSON. */
const isOfText = ({ headers }: AlphaResponse, { match }: RequestContext): boolean =>
  match?.route.text !== undefined && headers["content-type"] === match.route.text.contentType;

/** Redacts the calls and the response, and finds the secret values of all messages. */
function readMessages(
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
  response?: AlphaResponse,
): Messages {
  const { redaction, bodies, filterHeader } = options;
  const calls = context.upstream?.calls ?? [];
  const secrets = requestSecrets(request, context, options);
  for (const call of calls) addFromCall(call, redaction, secrets);
  const redact = (withBodies: boolean): Omit<Messages, "secrets"> => ({
    calls: recordCalls(calls, { ...options, bodies: withBodies }, secrets),
    response:
      withBodies && response && !response.file && response.body.length > 0
        ? redaction[isOfText(response, context) ? "raw" : "json"](response.body, secrets)
        : null,
  });
  const isSearched = bodies || hasTexts(request, context, filterHeader);
  const redacted = redactBodies(
    secrets,
    (isFirst) => redact(isFirst ? isSearched : bodies),
    isSearched === bodies,
  );
  return { secrets, ...redacted };
}

/** An unexpected error and its request for the log, without the secret values of the request. */
export function describeError(
  error: unknown,
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
): { readonly requestId: string; readonly err: object } {
  const secrets = readMessages(request, context, { ...options, bodies: true }).secrets;
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  const err = { type: name, message: secrets.redact(message), stack: secrets.redact(stack) };
  return { requestId: secrets.redact(request.id), err };
}

/**
 * The length of a body. For a body with a secret it is the recorded length, because the difference would reveal the
 * length of the secret.
 */
function lengthWithoutSecrets(recorded: RecordedBody, bytes: number): number {
  if (recorded instanceof JsonText || isTruncated(recorded) || !recorded) return bytes;
  const text = typeof recorded === "string" ? recorded : JSON.stringify(recorded);
  return text.includes(REDACTED) ? Buffer.byteLength(text) : bytes;
}

/** Clients with invented tokens must not be able to fill the store with their bodies. */
const isBodyRecorded = (context: RequestContext, { meaning }: RequestOutcome): boolean =>
  isAccepted(context) || meaning === "succeeded" || bodyLength(context) <= LONGEST_BODY_WITHOUT_TOKEN;

/** The client's response, with its checksum where nothing is taken out of it: else that would show which value fits in it. */
const recordedResponse = (
  response: AlphaResponse,
  recorded: RecordedBody,
  streamedBytes = 0,
): Pick<AuditRecord["alpha"], "response" | "checksum"> =>
  response.file
    ? { response: { streamed: streamedBytes } }
    : {
        response: recorded,
        ...((recorded === null || recorded instanceof JsonText) && { checksum: checksumOf(response.body) }),
      };

/** A translated request, once its response is known. */
export function translatedExchange(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
): RecordedExchange {
  const { status, response } = outcome;
  const { client, upstream, rejectedBy, losses, warnings, isOwnPage } = context;
  const bytes = (): AuditRecord["bytes"] => ({ in: bodyLength(context), out: response.body.length });
  return {
    lane: "alpha",
    request,
    hash: client?.credentials.hash,
    route: recordedRoute(context),
    status,
    rejectedBy,
    calls: upstream?.calls ?? [],
    losses,
    warnings,
    timings: timingsOf(context),
    isOwnPage,
    beganAt: () => context.time.getTime(),
    sender: () => senderOf(request, context),
    bytes,
    findSecrets: (options) => readMessages(request, context, { ...options, bodies: true }, response).secrets,
    read: (options) => readTranslated(request, outcome, context, bytes(), options),
  };
}

function readTranslated(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
  length: AuditRecord["bytes"],
  options: RecordOptions,
): RecordedMessages {
  const { response } = outcome;
  const { redaction, bodies } = options;
  const { isOwnPage, ignoredParameters } = context;
  const messages = readMessages(request, context, options, isOwnPage ? undefined : response);
  const { secrets } = messages;
  const sent = bodies && isBodyRecorded(context, outcome) ? sentBody(request, context) : undefined;
  const body = sent && redaction.body(sent, secrets);
  const streamed = context.upstream?.streamedBytes;
  const sentNames = sentMembersOf(request, context, options);
  const lost = lostNamesOf(context, options);
  return {
    secrets,
    isTrusted: isAccepted(context),
    alpha: {
      ...(ignoredParameters.length > 0 && {
        ignored: ignoredParameters.map((name) => shortName(redaction.text(name, secrets))),
      }),
      ...(sent && { body }),
      ...(bodies && !isOwnPage && recordedResponse(response, messages.response, streamed?.out)),
    },
    calls: () => messages.calls,
    bytes: {
      in: streamed?.in || lengthWithoutSecrets(body, length.in),
      out: streamed?.out || lengthWithoutSecrets(messages.response, length.out),
    },
    more: {
      pack: options.packHash,
      ...(sentNames && { sent: sentNames }),
      ...(lost && { lost }),
    },
  };
}
