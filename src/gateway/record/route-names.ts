/** Parts of the record of a translated request: the names of its route that it had and lost, and its calls to v4. */
import {
  type AuditRecord,
  numberedNames,
  type NumberedNames,
  type RecordedBody,
  type Redaction,
  type SecretValues,
} from "../../audit/index.ts";
import type { Grammar } from "../../pack/index.ts";
import type { RequestContext } from "../request/context.ts";
import { type AlphaRequest, splitTarget } from "../request/request.ts";
import { filterInHeader } from "../stages/build-list-request.ts";
import { type RecordOptions, roundMs } from "./recorded-request.ts";
import { isJson } from "../../base/index.ts";
import type { UpstreamCallRecord } from "../calls/instrument-call.ts";

/** The client's filter: as it was parsed for the upstream, else parsed here. Undefined if it is invalid. */
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
export function sentMembersOf(
  request: AlphaRequest,
  context: RequestContext,
  { sentNames, grammar }: RecordOptions,
): NumberedNames | undefined {
  const { match, sent } = context;
  const names = sent && match && sentNames.get(match.route.name);
  if (!names || names.names.length === 0) return undefined;
  const bits = names.bitsOf({
    query: sent.query,
    filter: sentFilterOf(request, context, grammar),
    body: sentObjectOf(context),
  });
  // Also without any bit, so that the store learns which names are counted, and that nobody sent them.
  return numberedNames(names.names, bits);
}

/**
 * The losses of its route that a request had. Undefined without any, and for requests to routes outside of the pack.
 */
export function lostNamesOf(
  { match, losses }: Pick<RequestContext, "match" | "losses">,
  { lossNames }: RecordOptions,
): NumberedNames | undefined {
  const names = losses.size > 0 && match && lossNames.get(match.route.name);
  if (!names) return undefined;
  const bits = names.bitsOf(losses);
  return bits && numberedNames(names.names, bits);
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
    ...(bodies && response && { response: recordResponse(response, redaction, secrets) }),
  }));

/**
 * Adds the secret values of a call and of the head of its response. Secrets of bodies are added when the bodies are
 * redacted.
 */
export function addFromCall(
  { path, filter, body, response }: UpstreamCallRecord,
  redaction: Redaction,
  secrets: SecretValues,
): void {
  const [target, query] = splitTarget(path);
  const sent = {
    path: target,
    isRoute: true,
    query,
    texts: filter === null ? [] : [filter],
    headers: response?.headers,
  };
  redaction.addFrom(sent, secrets);
  redaction.addFromValue(body, secrets);
}
