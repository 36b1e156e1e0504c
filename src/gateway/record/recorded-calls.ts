/** The record's part about the calls to v4 for a translated request. */
import type { AuditRecord, RecordedBody, Redaction, SecretValues } from "../../audit/index.ts";
import { isJson } from "../../base/index.ts";
import type { UpstreamCallRecord } from "../pipeline/calls/instrument-call.ts";
import { type RecordOptions, roundMs } from "./recorded-request.ts";

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
export function addFromCall(
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
