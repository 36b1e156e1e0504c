/** An example of a difference in its stored form: without secrets, and with a limited size. */
import {
  type RecordedBody,
  type RecordedCall,
  type Redaction,
  type SecretValues,
  truncatedBody,
  tryParse,
} from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { addFromCall, recordCalls, splitTarget, type UpstreamCallRecord } from "../../gateway/index.ts";
import type { Answer, Compared, ComparedSample } from "../answers/comparison.ts";

/** A comparison with a confirmed difference, without secrets. */
export type Example = ReturnType<typeof createExample>;

/** Maximum number of differences of an example: more of them contain nothing new. */
const MAX_DIFFERENCES = 50;
/** Maximum number of bytes of a value, as JSON. */
const MAX_VALUE = 500;
/** Maximum number of bytes of each body. */
const MAX_BODY = 32_768;
/** Maximum number of bytes of all calls of an example. If its calls are missing, an example can't become a golden case. */
const MAX_CALLS = 131_072;
const MAX_NAME = 200;
/** Maximum number of names of a field path that are used. */
const MAX_DEPTH = 16;

/** Finds the secrets in all messages of a sample. */
function findSecrets(
  { path, filter, body, old, new: other, calls = [], tokens = [] }: ComparedSample,
  { search }: Redaction,
) {
  const [bare, query] = splitTarget(path);
  const sent = { path: bare, isRoute: true, query, texts: [filter ?? undefined] };
  const secrets = search.find(sent, tokens);
  for (const bytes of [body, old.body, other.body]) if (bytes) search.addFromBody(bytes, secrets);
  for (const call of calls) {
    addFromCall(call, search, secrets);
    if (call.response) search.addFromBody(call.response.bytes, secrets);
  }
  return secrets;
}

/** Returns a redacted body with a limited size. */
function bounded(body: RecordedBody, bytes: number): RecordedBody {
  const json = JSON.stringify(body);
  if (json === undefined || Buffer.byteLength(json) <= MAX_BODY) return body;
  return truncatedBody(typeof body === "string" ? body : json, MAX_BODY, bytes);
}

const toAnswer = ({ status, headers, body }: Answer, redaction: Redaction, secrets: SecretValues) => ({
  status,
  type: headers["content-type"] === undefined ? null : redaction.text(headers["content-type"], secrets),
  ...(body.length > 0 && { body: bounded(redaction.raw(body, secrets), body.length) }),
});

/**
 * Redacts a value below the names of its path, which may show that the value is secret. @param json The value before
 * redaction
 */
function redactValue(
  field: string,
  json: string | undefined,
  redaction: Redaction,
  secrets: SecretValues,
): string | null {
  const parsed = json === undefined ? undefined : tryParse(json);
  if (!parsed) return null;
  const names = field.split(".").slice(-MAX_DEPTH);
  const nested = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), parsed.value);
  let value: unknown = redaction.value(nested, undefined, secrets);
  for (const name of names) {
    // If a whole value is secret, it has no remaining members.
    if (!isObject(value) || !Object.hasOwn(value, name)) break;
    value = value[name];
  }
  const text = JSON.stringify(value) ?? "null";
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`;
}

/** Returns the calls of an example; undefined if they are too large. */
function redactCalls(
  calls: readonly UpstreamCallRecord[],
  redaction: Redaction,
  secrets: SecretValues,
): readonly RecordedCall[] | undefined {
  const redacted = recordCalls(calls, { redaction, bodies: true }, secrets);
  return Buffer.byteLength(JSON.stringify(redacted)) <= MAX_CALLS ? redacted : undefined;
}

/** Creates an example. */
export function createExample(
  { source, subject, route, client, time, requestId, differences }: Compared,
  sample: ComparedSample,
  id: string,
  redaction: Redaction,
) {
  const secrets = findSecrets(sample, redaction);
  const calls = sample.calls && redactCalls(sample.calls, redaction, secrets);
  return {
    id,
    source,
    subject,
    route,
    client: client === null ? null : secrets.redact(client.slice(0, MAX_NAME)),
    /** The time in ISO 8601, UTC. */
    time: new Date(time).toISOString(),
    requestId: secrets.redact(requestId.slice(0, MAX_NAME)),
    /** Values are JSON. */
    differences: differences.slice(0, MAX_DIFFERENCES).map(({ field, kind, old, new: other }) => ({
      // A service may use values of clients as names of members.
      field: secrets.redact(field.slice(0, MAX_NAME)),
      kind,
      old: redactValue(field, old, redaction, secrets),
      new: redactValue(field, other, redaction, secrets),
    })),
    method: sample.method,
    /** The path with its query. */
    path: redaction.target(sample.path, secrets),
    filter: sample.filter === null ? null : redaction.text(sample.filter, secrets),
    ...(sample.body && { body: bounded(redaction.raw(sample.body, secrets), sample.body.length) }),
    /** The client's response, and the response of the other side. */
    old: toAnswer(sample.old, redaction, secrets),
    new: toAnswer(sample.new, redaction, secrets),
    ...(calls && { calls }),
  };
}
