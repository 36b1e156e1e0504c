/** Creates the audit record of an exchange. It is redacted before it leaves the request. */
import {
  type AuditRecord,
  checksumOf,
  firstCharacters,
  isForm,
  isTruncated,
  JsonText,
  omittedBody,
  type RecordedBody,
  recordTime,
  type Redaction,
  REDACTED,
  type SecretValues,
} from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import { shortName } from "../../pack/index.ts";
import { fingerprint } from "../auth/token-cache.ts";
import type { UpstreamCallRecord } from "../calls/instrument-call.ts";
import { isForwarded } from "../http/forwarded-headers.ts";
import type { RequestContext } from "../request/context.ts";
import type { DecodedStart } from "./body-start.ts";
import { type RecordedExchange, roundMs } from "./recorded-exchange.ts";
import { asUtf8, findSecrets, headerText, readable, sentBodyOf } from "./find-secrets.ts";
import type { RecordOptions } from "./record-options.ts";
import { namesOf } from "./route-names.ts";

/** Maximum number of characters of a recorded `User-Agent`. A longer text does not name a program. */
const MAX_AGENT_LENGTH = 512;

/** Maximum number of characters of a recorded application id. Any client can send any text as an id. */
const MAX_APPLICATION_LENGTH = 256;

/** Maximum number of characters of a path, a query and a filter, and of bytes of a body, from an untrusted sender. */
const MAX_LENGTH_OF_STRANGER = 1024;

/** Returns the placeholder of a token in records. */
export const fingerprintOf = (hash: string | undefined): string | null =>
  hash === undefined ? null : fingerprint(hash);

/** Creates the record of an exchange. */
export function createRecord(exchange: RecordedExchange, options: RecordOptions): AuditRecord {
  const { lane, request, route, guessRoute, status, timings, rejectedBy, translated } = exchange;
  const secrets = findSecrets(exchange, options);
  const { calls, response } = redactMessages(exchange, secrets, options);
  const body = recordSentBody(exchange, secrets, options);
  const head = recordHead(exchange, secrets, options);
  return {
    id: options.newId(),
    time: recordTime(exchange.beganAt),
    lane,
    requestId: secrets.redact(request.id),
    client: recordClient(exchange, secrets, options),
    alpha: {
      ...head,
      route: guessRoute ? guessRoute(head.path) : route,
      ...(translated && recordIgnored(translated.context, secrets, options)),
      ...(body !== undefined && { body }),
      ...(options.bodies && recordResponse(exchange, response)),
      status,
    },
    v4: translated ? calls : recordForwardedCalls(exchange, head, options),
    losses: [...exchange.losses].map((text) => secrets.redact(text)),
    warnings: recordWarnings(exchange, secrets),
    timings,
    bytes: lengthsOf(exchange, body, response),
    ...(rejectedBy !== undefined && { rejectedBy }),
    ...(translated && { pack: options.pack.hash, ...namesOf(request, translated.context, options.pack) }),
    ...(translated?.context.isOwnPage && { requests: 0 }),
  };
}

/** Returns an exchange without its texts and messages, for its record if {@link createRecord} fails. */
export function withoutTexts(exchange: RecordedExchange): RecordedExchange {
  const { translated: _translated, forwarded: _forwarded, ...facts } = exchange;
  const warnings = ["audit: the record could not be made, so its texts are left out"];
  const request = { ...facts.request, path: "", query: "", headers: {}, label: undefined };
  return { ...facts, request, application: undefined, calls: [], losses: new Set(), warnings };
}

function recordClient(
  { request, hash, application, isAccepted }: RecordedExchange,
  secrets: SecretValues,
  { redaction }: RecordOptions,
): AuditRecord["client"] {
  const { label, address } = request;
  const agent = headerText(request, "user-agent");
  const isKnown = hash !== undefined || application !== undefined;
  return {
    fingerprint: fingerprintOf(hash),
    ...(isKnown && { accepted: isAccepted }),
    ...(application && {
      application: firstCharacters(secrets.redact(application.id), MAX_APPLICATION_LENGTH),
    }),
    ...(label !== undefined && { label: secrets.redact(label) }),
    userAgent: agent === undefined ? null : firstCharacters(redaction.text(agent, secrets), MAX_AGENT_LENGTH),
    address,
  };
}

/** Returns the query parameters without effect. */
const recordIgnored = (
  { ignoredParameters: names }: RequestContext,
  secrets: SecretValues,
  { redaction }: RecordOptions,
): Pick<AuditRecord["alpha"], "ignored"> =>
  names.length === 0 ? {} : { ignored: names.map((name) => shortName(redaction.text(name, secrets))) };

/** Returns the warnings. If the client's texts are not recorded, one of the warnings contains the reason. */
function recordWarnings({ warnings }: RecordedExchange, secrets: SecretValues): readonly string[] {
  const recorded = warnings.map((text) => secrets.redact(text));
  const { whyIncomplete: why } = secrets;
  return why === undefined ? recorded : [...recorded, `audit: the record has no texts of the client: ${why}`];
}

type RecordedHead = Pick<AuditRecord["alpha"], "method" | "path" | "query" | "filter">;

function recordHead(
  { lane, request, route, guessRoute, isTrusted }: RecordedExchange,
  secrets: SecretValues,
  { redaction, filterHeader }: RecordOptions,
): RecordedHead {
  // No route of the pack distinguishes the words of such a path from secrets. To prevent a client from hiding the path,
  // only tokens, and values after secret names, are replaced. For observed paths, this applies to exchanges with too
  // many secrets.
  const isPathOfTokens = lane === "native" || (guessRoute !== undefined && !secrets.isComplete);
  const pathSecrets = isPathOfTokens ? secrets.tokensOnly() : secrets;
  const maxLength = isTrusted ? Infinity : MAX_LENGTH_OF_STRANGER;
  const filter = headerText(request, filterHeader);
  return {
    method: request.method,
    path: firstCharacters(redaction.path(asUtf8(request.path), route !== null, pathSecrets), maxLength),
    query: firstCharacters(redaction.query(asUtf8(request.query), secrets), maxLength),
    filter: filter === undefined ? null : firstCharacters(redaction.text(filter, secrets), maxLength),
  };
}

/** The texts that were sent to v4 and to the client, without secret values. */
interface RedactedMessages {
  readonly calls: AuditRecord["v4"];
  /** The response's body; null if it has none, undefined if bodies are not recorded. */
  readonly response: RecordedBody;
}

/**
 * Redacts the calls and the response. If comparing the secret values with them takes too much work, all are redacted again:
 * then no text is left.
 */
function redactMessages(
  exchange: RecordedExchange,
  secrets: SecretValues,
  options: RecordOptions,
): RedactedMessages {
  const { isComplete } = secrets;
  const messages = redactOnce(exchange, secrets, options);
  return secrets.isComplete === isComplete ? messages : redactOnce(exchange, secrets, options);
}

function redactOnce(
  { lane, translated, forwarded }: RecordedExchange,
  secrets: SecretValues,
  { redaction, bodies }: RecordOptions,
): RedactedMessages {
  if (!translated) {
    const received = bodies && lane === "legacy" ? forwarded?.received : undefined;
    return { calls: [], response: received && recordStart(received, secrets, redaction) };
  }
  const { context, response } = translated;
  const calls = recordCalls(context.upstream?.calls ?? [], { redaction, bodies }, secrets);
  if (!bodies || context.isOwnPage || response.file || response.body.length === 0)
    return { calls, response: null };
  const redact = response.isText ? "raw" : "json";
  return { calls, response: redaction[redact](response.body, secrets) };
}

/** Returns the body of v4's response for the record. JSON is searched without parsing it. */
function recordUpstreamBody(
  { bytes, isValidJson = isJson(bytes) }: NonNullable<UpstreamCallRecord["response"]>,
  redaction: Redaction,
  secrets: SecretValues,
): RecordedBody {
  return isValidJson ? redaction.json(bytes, secrets) : redaction.value(bytes.toString(), undefined, secrets);
}

/** Returns the calls to v4 for the record: without bodies, or with redacted bodies. */
export const recordCalls = (
  calls: readonly UpstreamCallRecord[],
  { redaction, bodies }: Pick<RecordOptions, "redaction" | "bodies">,
  secrets: SecretValues,
): AuditRecord["v4"] =>
  calls.map(({ method, path, filter, body, status, response, ms }) => ({
    method,
    path: redaction.target(path, secrets),
    filter: filter === null ? null : redaction.text(filter, secrets),
    status,
    ms: roundMs(ms),
    ...(bodies && body !== undefined && { body: redaction.value(body, undefined, secrets) }),
    ...(bodies && response && { response: recordUpstreamBody(response, redaction, secrets) }),
  }));

/** Returns the call of a request that was forwarded to v4, with the head of the client's request and without bodies. */
function recordForwardedCalls(
  { request, calls }: RecordedExchange,
  { method, path, query, filter }: RecordedHead,
  { filterHeader }: RecordOptions,
): AuditRecord["v4"] {
  // All lines of the header, joined as Node does.
  const connection = request.headers["connection"]?.join(", ");
  const sentFilter = filter !== null && isForwarded(filterHeader, connection) ? filter : null;
  const target = query === "" ? path : `${path}?${query}`;
  return calls.map(({ status, ms }) => ({ method, path: target, filter: sentFilter, ms, status }));
}

/** Converts a streamed body to its recorded form: its start, or only its size and type. */
function recordStart(body: DecodedStart, secrets: SecretValues, redaction: Redaction): RecordedBody {
  const { type, lack, length } = body;
  if (length === 0) return undefined;
  const bytes = readable(body);
  if (!bytes)
    return {
      streamed: { bytes: length, ...(type !== undefined && { type: redaction.text(type, secrets) }) },
    };
  if (lack !== undefined)
    return isForm({ type, bytes })
      ? omittedBody(length, "a form that is too long")
      : redaction.start(bytes, length, secrets);
  return isJson(bytes) ? redaction.json(bytes, secrets) : redaction.body({ bytes, type }, secrets);
}

/** Returns the client's body for the record. Bodies of untrusted senders must not fill the store. */
function recordSentBody(
  exchange: RecordedExchange,
  secrets: SecretValues,
  { redaction, bodies }: RecordOptions,
): RecordedBody {
  const body = sentBodyOf(exchange);
  const start = exchange.forwarded?.sent;
  const length = body?.bytes.byteLength ?? start?.length ?? 0;
  const isTooLong = !exchange.isTrusted && !exchange.isServed && length > MAX_LENGTH_OF_STRANGER;
  if (!bodies || isTooLong) return undefined;
  return body ? redaction.body(body, secrets) : start && recordStart(start, secrets, redaction);
}

/**
 * Returns the client's response for the record. It only contains a checksum if nothing was redacted: otherwise the
 * checksum would allow guessing the redacted value.
 */
function recordResponse(
  { translated }: RecordedExchange,
  recorded: RecordedBody,
): Pick<AuditRecord["alpha"], "response" | "checksum"> {
  if (!translated) return recorded === undefined ? {} : { response: recorded };
  const { context, response } = translated;
  if (context.isOwnPage) return {};
  if (response.file) return { response: { streamed: context.upstream?.streamedBytes?.out ?? 0 } };
  const isUnchanged = recorded === null || recorded instanceof JsonText;
  return { response: recorded, ...(isUnchanged && { checksum: checksumOf(response.body) }) };
}

/** Returns the sizes of the bodies in bytes, as they were sent. */
function lengthsOf(
  { translated, forwarded }: RecordedExchange,
  body: RecordedBody,
  response: RecordedBody,
): AuditRecord["bytes"] {
  const streamed = translated?.context.upstream?.streamedBytes ?? { in: 0, out: 0 };
  const received = forwarded?.bytesIn ?? translated?.context.body?.bytes.length ?? 0;
  const sent = forwarded?.bytesOut ?? translated?.response.body.length ?? 0;
  return {
    in: streamed.in || lengthWithoutSecrets(body, received),
    out: streamed.out || lengthWithoutSecrets(response, sent),
  };
}

/**
 * Returns the length of a body. If it contains a secret, this is the recorded length: the difference would reveal the
 * length of the secret.
 */
function lengthWithoutSecrets(recorded: RecordedBody, bytes: number): number {
  if (recorded instanceof JsonText || isTruncated(recorded) || !recorded) return bytes;
  const text = typeof recorded === "string" ? recorded : JSON.stringify(recorded);
  return text.includes(REDACTED) ? Buffer.byteLength(text) : bytes;
}
