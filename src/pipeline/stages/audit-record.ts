import type { AuditRecord, RecordedBody } from "../../audit/record.ts";
import type { Redaction, SentBody } from "../../audit/redact.ts";
import type { SecretValues } from "../../audit/secret-values.ts";
import { isJson } from "../../dialect/json/scan.ts";
import { fingerprint } from "../../auth/token-hash.ts";
import {
  header,
  type AlphaResponse,
  type AlphaRequest,
  type UpstreamCallRecord,
  type RequestContext,
} from "../context.ts";

export interface RecordOptions {
  readonly newId: () => string;
  readonly redaction: Redaction;
  /** False: no bodies (AUDIT=metadata). */
  readonly bodies: boolean;
  readonly filterHeader: string;
}

/** The end of a request: alpha's status, and what went out on the wire. */
export interface RequestOutcome {
  readonly status: number;
  readonly response: AlphaResponse;
}

/** The end of a request of the native proxy. */
export interface NativeOutcome {
  readonly status: number;
  /** Of v4's response; null without one, undefined if v4 was not called. */
  readonly v4Status: number | null | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly warnings: readonly string[];
  readonly ms: number;
}

/** What the metrics, the log and the trace take of a request; a record has all of it. */
export type RequestSummary = Pick<AuditRecord, "lane" | "requestId" | "losses" | "warnings" | "timings"> & {
  /** Of the record, where one is kept. */
  readonly id?: string;
  readonly client: Pick<AuditRecord["client"], "fingerprint">;
  readonly alpha: Pick<AuditRecord["alpha"], "method" | "route" | "status">;
  readonly v4: readonly Pick<AuditRecord["v4"][number], "status">[];
};

const fingerprintOf = (hash: string | undefined): string | null =>
  hash === undefined ? null : fingerprint(hash);

const routeOf = (context: RequestContext): string | null =>
  context.route ?? context.match?.route.name ?? null;

function timingsOf({ startedAt, upstreamMs }: RequestContext): AuditRecord["timings"] {
  const total = performance.now() - startedAt;
  return { total, upstream: upstreamMs, translation: Math.max(0, total - upstreamMs) };
}

/** The values of a request that are secret: its tokens, and what stood under secret names. */
function secretsOf(
  request: AlphaRequest,
  context: Pick<RequestContext, "body" | "form">,
  route: string | null,
  tokens: readonly (string | undefined)[],
  { redaction, filterHeader }: RecordOptions,
): SecretValues {
  const texts = [headerText(request, "user-agent"), headerText(request, filterHeader.toLowerCase())];
  const [path, query] = [asUtf8(request.path), asUtf8(request.query)];
  return redaction.find(
    { path, isRoute: route !== null, query, texts, body: bodyOf(request, context) },
    tokens,
  );
}

/** A token that could not be read may be one all the same: of refused credentials all counts. */
const tokensOf = (
  request: AlphaRequest,
  { credentials: caller, v4Token }: RequestContext,
): readonly (string | undefined)[] =>
  caller?.token === undefined
    ? [v4Token, ...(request.headers["authorization"] ?? []).flatMap(wordsOf)]
    : [caller.token, v4Token];

/** A scheme and a token without separators, as nearly all clients send them. */
const ONE_TOKEN = /^\S+ +([\w.~+/-]{8,})$/;

/** What stands in a line of credentials: all of it, all behind the scheme, and each word. */
const wordsOf = (line: string): string[] => {
  const text = line.trim();
  const token = ONE_TOKEN.exec(text)?.[1];
  if (token !== undefined) return [token];
  return [text, text.replace(/^\S+ +/, ""), ...text.split(/[\s,;="]+/)];
};

/** Node reads what stands in a head as Latin-1; clients write UTF-8. */
function asUtf8(text: string): string {
  if (!/[\x80-\xff]/.test(text)) return text;
  try {
    return utf8.decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}
const utf8 = new TextDecoder("utf-8", { fatal: true });

const headerText = (request: AlphaRequest, name: string): string | undefined => {
  const text = header(request, name);
  return text === undefined ? undefined : asUtf8(text);
};

const bodyOf = (
  request: AlphaRequest,
  { body, form }: Pick<RequestContext, "body" | "form">,
): SentBody | undefined =>
  body && body.length > 0 ? { bytes: body, type: header(request, "content-type"), form } : undefined;

/** The warning of a record without the client's texts. */
const OMITTED = "audit: more secrets than can be looked for, so that the record leaves out what was said";

/** The warnings of a record, without the values that are secret in its request. */
const warningsOf = (texts: readonly string[], secrets: SecretValues): readonly string[] =>
  secrets.sealed ? [...without(texts, secrets), OMITTED] : without(texts, secrets);

/** The same texts without the values that are secret in their request. */
const without = (texts: readonly string[], secrets: SecretValues): readonly string[] =>
  texts.map((text) => secrets.conceal(text));

/**
 * What is known of a request that no record is kept of. Nothing is looked through, but where there is a warning for the
 * log: it may hold what the client wrote.
 */
export function summarizeRequest(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
  options: RecordOptions,
): RequestSummary {
  const route = routeOf(context);
  const { credentials: caller, warnings } = context;
  const hasWarnings = warnings.length > 0;
  return {
    lane: "alpha",
    requestId: request.id,
    client: { fingerprint: fingerprintOf(caller?.hash) },
    alpha: { method: request.method, route, status: outcome.status },
    v4: context.calls,
    losses: [...context.losses],
    warnings: hasWarnings
      ? without(warnings, secretsOf(request, context, route, tokensOf(request, context), options))
      : warnings,
    timings: timingsOf(context),
  };
}

/** An error that nobody foresaw, for the log, without the values that are secret in its request. */
export function errorOf(
  error: unknown,
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
): object {
  const secrets = secretsOf(request, context, routeOf(context), tokensOf(request, context), options);
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  return { type: name, message: secrets.conceal(message), stack: secrets.conceal(stack) };
}

const clientOf = (
  request: AlphaRequest,
  hash: string | undefined,
  accepted: boolean,
  { redaction }: RecordOptions,
  secrets: SecretValues,
): AuditRecord["client"] => {
  const agent = headerText(request, "user-agent")?.slice(0, LONGEST_AGENT);
  return {
    fingerprint: fingerprintOf(hash),
    ...(hash !== undefined && { accepted }),
    userAgent: agent === undefined ? null : redaction.text(agent, secrets),
    address: request.address,
  };
};

/** Characters of a `User-Agent`: what is longer names no program. */
const LONGEST_AGENT = 512;
/** Characters of a path, a query and a filter of a client whose token v4 has not accepted: such records cost it nothing. */
const LONGEST_OF_STRANGERS = 1024;

const longestOf = (accepted: boolean): number => (accepted ? Infinity : LONGEST_OF_STRANGERS);

const asked = (
  request: AlphaRequest,
  route: string | null,
  accepted: boolean,
  { redaction, filterHeader }: RecordOptions,
  secrets: SecretValues,
  pathSecrets = secrets,
) => {
  const longest = longestOf(accepted);
  const filter = headerText(request, filterHeader.toLowerCase());
  return {
    method: request.method,
    path: redaction.path(asUtf8(request.path), route !== null, pathSecrets).slice(0, longest),
    query: redaction.query(asUtf8(request.query), secrets).slice(0, longest),
    filter: filter === undefined ? null : redaction.text(filter, secrets).slice(0, longest),
  };
};

/** What v4 said. Of JSON the text alone is looked through. */
const saidBy = (
  { text, bytes, isValidJson = isJson(text, bytes) }: NonNullable<UpstreamCallRecord["response"]>,
  { json, value }: Redaction,
  secrets: SecretValues,
): RecordedBody => (isValidJson ? json(text, secrets, bytes) : value(text, undefined, secrets));

/** v4's calls as they are kept: without bodies, or with redacted ones. */
function recordedCalls(
  context: RequestContext,
  { redaction, bodies }: RecordOptions,
  secrets: SecretValues,
): AuditRecord["v4"] {
  return context.calls.map(({ body, response: came, ...call }) => ({
    ...call,
    path: redaction.target(call.path, secrets),
    filter: call.filter === null ? null : redaction.text(call.filter, secrets),
    ...(bodies && body !== undefined && { body: redaction.value(body, undefined, secrets) }),
    ...(bodies && came && { response: saidBy(came, redaction, secrets) }),
  }));
}

/** Whether v4 has accepted the token of a request, then or before. */
const isAccepted = ({ accepted, tokenInfo }: RequestContext): boolean =>
  accepted === true || (tokenInfo !== undefined && !tokenInfo.refused);

/** Bytes of a body that is kept of a request that was refused to a caller without an accepted token. */
const LONGEST_BODY_OF_STRANGERS = 1024;

/** Whether a body is recorded: whoever shows a made-up token must not be able to fill the store with what it sends. */
const isWorthKeeping = ({ body }: RequestContext, accepted: boolean, status: number): boolean =>
  accepted || status < 400 || (body?.length ?? 0) <= LONGEST_BODY_OF_STRANGERS;

/** The record of one alpha request, redacted before it leaves the request. */
export function createAuditRecord(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
  options: RecordOptions,
): AuditRecord {
  const { redaction, bodies } = options;
  const { credentials: caller } = context;
  const route = routeOf(context);
  const accepted = isAccepted(context);
  const secrets = secretsOf(request, context, route, tokensOf(request, context), options);
  const sent =
    bodies && isWorthKeeping(context, accepted, outcome.status) ? bodyOf(request, context) : undefined;
  return {
    id: options.newId(),
    time: context.time.toISOString(),
    lane: "alpha",
    requestId: secrets.conceal(request.id),
    client: clientOf(request, caller?.hash, accepted, options, secrets),
    alpha: {
      ...asked(request, route, accepted, options, secrets),
      route,
      ...(sent && { body: redaction.body(sent, secrets) }),
      status: outcome.status,
      ...(bodies && { response: describeResponse(outcome.response, context, redaction, secrets) }),
    },
    v4: recordedCalls(context, options, secrets),
    losses: without([...context.losses], secrets),
    warnings: warningsOf(context.warnings, secrets),
    timings: timingsOf(context),
    bytes: {
      in: context.streamedBytes?.in || (context.body?.length ?? 0),
      out: context.streamedBytes?.out || outcome.response.body.length,
    },
  };
}

/** What is kept where the record itself can't be made: who called what, and how it ended. */
export function createMinimalRecord(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
  { newId }: Pick<RecordOptions, "newId">,
): AuditRecord {
  return {
    id: newId(),
    time: context.time.toISOString(),
    lane: "alpha",
    requestId: request.id,
    client: {
      fingerprint: fingerprintOf(context.credentials?.hash),
      accepted: isAccepted(context),
      userAgent: null,
      address: request.address,
    },
    alpha: {
      method: request.method,
      path: "",
      query: "",
      filter: null,
      route: routeOf(context),
      status: outcome.status,
    },
    v4: [],
    losses: [],
    warnings: ["audit: the record could not be made, so that what was said is left out"],
    timings: timingsOf(context),
    bytes: { in: context.body?.length ?? 0, out: outcome.response.body.length },
  };
}

/** Of a file it is known how much of it went by. */
const describeResponse = (
  { file, body }: AlphaResponse,
  context: RequestContext,
  redaction: Redaction,
  secrets: SecretValues,
): unknown =>
  file ? { streamed: context.streamedBytes?.out ?? 0 } : redaction.json(body.toString(), secrets, body);

/** The record of a request of the native proxy: what was called, not what was said. */
export function createNativeAuditRecord(
  request: AlphaRequest,
  outcome: NativeOutcome,
  hash: string | undefined,
  options: RecordOptions,
): AuditRecord {
  const { status, v4Status, ms } = outcome;
  const tokens = (request.headers["authorization"] ?? []).flatMap(wordsOf);
  const secrets = secretsOf(request, {}, null, tokens, options);
  const accepted = v4Status !== undefined && v4Status !== null && v4Status !== 401;
  // No route of the pack distinguishes the words of this path from secrets: only tokens are replaced in it, and what
  // follows a secret name.
  const { method, path, query, filter } = asked(
    request,
    null,
    accepted,
    options,
    secrets,
    secrets.tokensOnly(),
  );
  const call = { method, path: query === "" ? path : `${path}?${query}`, filter, ms };
  return {
    ...nativeSummaryOf(request, outcome, hash),
    id: options.newId(),
    time: new Date(Date.now() - ms).toISOString(),
    requestId: secrets.conceal(request.id),
    client: clientOf(request, hash, accepted, options, secrets),
    alpha: { method, path, route: null, query, filter, status },
    v4: v4Status === undefined ? [] : [{ ...call, status: v4Status }],
    warnings: warningsOf(outcome.warnings, secrets),
    bytes: { in: outcome.bytesIn, out: outcome.bytesOut },
  };
}

/** What is known of a request of the native proxy that no record is kept of. */
export function nativeSummaryOf(
  request: AlphaRequest,
  { status, v4Status, warnings, ms }: NativeOutcome,
  hash: string | undefined,
): RequestSummary & Pick<AuditRecord, "lane"> {
  return {
    lane: "native",
    requestId: request.id,
    client: { fingerprint: fingerprintOf(hash) },
    alpha: { method: request.method, route: null, status },
    v4: v4Status === undefined ? [] : [{ status: v4Status }],
    losses: [],
    warnings,
    timings: { total: ms, upstream: v4Status === undefined ? 0 : ms, translation: 0 },
  };
}
