/** The audit record of a translated request, and the parts of it that the metrics and the log need. */
import {
  type AuditRecord,
  checksumOf,
  isTruncated,
  JsonText,
  numberedNames,
  type NumberedNames,
  type RecordedBody,
  recordTime,
  REDACTED,
} from "../../audit/index.ts";
import { identityOf, type RequestContext } from "../pipeline/context.ts";
import type { AlphaResponse, ResultMeaning } from "../pipeline/response.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import { type Grammar, shortName } from "../../pack/index.ts";
import { filterInHeader } from "../pipeline/stages/build-list-request.ts";
import {
  concealAll,
  fingerprintOf,
  recordClient,
  recordHead,
  recordWarnings,
  roundMs,
  type RecordedSender,
  type RecordOptions,
  type RequestSummary,
} from "./recorded-request.ts";
import { exchangeSecrets, recordExchange, routeOf, sentBody } from "./recorded-exchange.ts";

/** The end of a request: alpha's status, what it means, and the response as it is sent. */
export interface RequestOutcome {
  readonly status: number;
  readonly meaning: ResultMeaning;
  readonly response: AlphaResponse;
}

/** Bytes of a body that is recorded of a rejected request, where v4 has not accepted the token. */
const LONGEST_BODY_WITHOUT_TOKEN = 1024;

const bodyLength = ({ body }: Pick<RequestContext, "body">): number => body?.bytes.length ?? 0;

/** Whether v4 has accepted the token of a request, in this request or before. */
export const isAccepted = ({
  upstream,
  token,
  client,
}: Pick<RequestContext, "upstream" | "token" | "client">): boolean =>
  upstream?.isTokenAccepted === true || (token ?? client)?.isAccepted === true;

/** Who has sent a request, for its record. */
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

/** The summary of a request without a record. Its texts are searched for secrets only if the log gets a warning. */
export function summarizeRequest(
  request: AlphaRequest,
  { status, response }: RequestOutcome,
  context: RequestContext,
  options: RecordOptions,
): RequestSummary {
  const { warnings } = context;
  const secrets = warnings.length > 0 ? exchangeSecrets(request, context, options, response) : undefined;
  return {
    lane: "alpha",
    requestId: secrets?.conceal(request.id) ?? request.id,
    client: { fingerprint: fingerprintOf(context.client?.credentials.hash) },
    alpha: { method: request.method, route: routeOf(context), status },
    v4: context.upstream?.calls ?? [],
    losses: [...context.losses],
    warnings: secrets ? concealAll(warnings, secrets) : warnings,
    timings: timingsOf(context),
  };
}

/** An unexpected error and its request for the log, without the secret values of the request. */
export function describeError(
  error: unknown,
  request: AlphaRequest,
  context: RequestContext,
  options: RecordOptions,
): { readonly requestId: string; readonly err: object } {
  const secrets = exchangeSecrets(request, context, options);
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  const err = { type: name, message: secrets.conceal(message), stack: secrets.conceal(stack) };
  return { requestId: secrets.conceal(request.id), err };
}

/** The length of a body. The difference between what was sent and what is recorded would be the length of a secret. */
function lengthWithoutSecrets(recorded: RecordedBody, bytes: number): number {
  if (recorded instanceof JsonText || isTruncated(recorded) || !recorded) return bytes;
  const text = typeof recorded === "string" ? recorded : JSON.stringify(recorded);
  return text.includes(REDACTED) ? Buffer.byteLength(text) : bytes;
}

/** Clients with invented tokens must not be able to fill the store with their bodies. */
const isBodyRecorded = (context: RequestContext, { meaning }: RequestOutcome): boolean =>
  isAccepted(context) || meaning === "succeeded" || bodyLength(context) <= LONGEST_BODY_WITHOUT_TOKEN;

/** The client's filter: as it was parsed for the upstream, else parsed here. Undefined for an invalid one. */
function sentFilterOf(
  request: AlphaRequest,
  { match, sentFilter, sent }: Pick<RequestContext, "match" | "sentFilter" | "sent">,
  grammar: Grammar,
) {
  if (sentFilter || !match || match.route.response !== "list" || !sent) return sentFilter;
  try {
    return match.route.queryFilter?.parse(sent.query) ?? filterInHeader(request, grammar);
  } catch {
    return undefined;
  }
}

/** The object or list of the client's body; undefined for one that is invalid. */
function sentObjectOf({ match, sent, body }: Pick<RequestContext, "match" | "sent" | "body">): unknown {
  const { body: rules } = match?.route ?? {};
  if (!rules || !sent || !body) return undefined;
  try {
    return rules.unwrap(sent.readJson());
  } catch {
    return undefined;
  }
}

/** Which names of its route a client sent; undefined for a request that was rejected by its head. */
function sentMembersOf(
  request: AlphaRequest,
  context: RequestContext,
  { packHash, sentNames, grammar }: RecordOptions,
): NumberedNames | undefined {
  const { match, sent } = context;
  const names = sent && match && sentNames.get(match.route.name);
  if (!names || names.names.length === 0) return undefined;
  const bits = names.bitsOf({
    query: sent.query,
    filter: sentFilterOf(request, context, grammar),
    body: sentObjectOf(context),
  });
  // Also without any bit: the store learns which names are counted, so that nobody is known to send a name.
  return numberedNames(packHash, names.names, bits);
}

/** Which losses of its route a request had; undefined for none, and for requests to other routes than those of the pack. */
function lostNamesOf(
  { match, losses }: Pick<RequestContext, "match" | "losses">,
  { packHash, lossNames }: RecordOptions,
): NumberedNames | undefined {
  const names = losses.size > 0 && match && lossNames.get(match.route.name);
  if (!names) return undefined;
  const bits = names.bitsOf(losses);
  return bits && numberedNames(packHash, names.names, bits);
}

/** The record of a request, redacted before it leaves the request. */
export function createAuditRecord(
  request: AlphaRequest,
  outcome: RequestOutcome,
  context: RequestContext,
  options: RecordOptions,
): AuditRecord {
  const { status, response } = outcome;
  const { redaction, bodies } = options;
  const { upstream, rejectedBy, isOwnPage } = context;
  const route = routeOf(context);
  const accepted = isAccepted(context);
  const members = sentMembersOf(request, context, options);
  const lost = lostNamesOf(context, options);
  const exchange = recordExchange(request, context, options, isOwnPage ? undefined : response);
  const { secrets } = exchange;
  const sent = bodies && isBodyRecorded(context, outcome) ? sentBody(request, context) : undefined;
  const body = sent && redaction.body(sent, secrets);
  const streamed = upstream?.streamedBytes;
  const responseBody = (): Pick<AuditRecord["alpha"], "response" | "checksum"> =>
    response.file
      ? { response: { streamed: streamed?.out ?? 0 } }
      : {
          response: exchange.response,
          // Of a response with a secret the checksum would show which value fits in it.
          ...((exchange.response === null || exchange.response instanceof JsonText) && {
            checksum: checksumOf(response.body),
          }),
        };
  return {
    id: options.newId(),
    time: recordTime(context.time.getTime()),
    lane: "alpha",
    pack: options.packHash,
    requestId: secrets.conceal(request.id),
    client: recordClient(request, senderOf(request, context), secrets, options),
    alpha: {
      ...recordHead(request, route, accepted, secrets, options),
      ...(context.ignoredParameters.length > 0 && {
        ignored: context.ignoredParameters.map((name) => shortName(redaction.text(name, secrets))),
      }),
      route,
      ...(sent && { body }),
      status,
      ...(bodies && !isOwnPage && responseBody()),
    },
    v4: exchange.calls,
    losses: concealAll([...context.losses], secrets),
    warnings: recordWarnings(context.warnings, secrets),
    timings: timingsOf(context),
    bytes: {
      in: streamed?.in || lengthWithoutSecrets(body, bodyLength(context)),
      out: streamed?.out || lengthWithoutSecrets(exchange.response, response.body.length),
    },
    ...(rejectedBy !== undefined && { rejectedBy }),
    ...(members && { sent: members }),
    ...(lost && { lost }),
    ...(isOwnPage && { requests: 0 }),
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
  const { hash, isAccepted: accepted } = senderOf(request, context);
  return {
    id: newId(),
    time: recordTime(context.time.getTime()),
    lane: "alpha",
    requestId,
    client: { fingerprint: fingerprintOf(hash), accepted, userAgent: null, address },
    alpha: { method, path: "", query: "", filter: null, route: routeOf(context), status },
    v4: [],
    losses: [],
    warnings: ["audit: the record could not be made, so that what was said is left out"],
    timings: timingsOf(context),
    bytes: { in: bodyLength(context), out: response.body.length },
    ...(context.rejectedBy !== undefined && { rejectedBy: context.rejectedBy }),
    ...(context.isOwnPage && { requests: 0 }),
  };
}
