import type { AuditRecord, RecordedBody } from "../audit/record.ts";
import type { Redaction } from "../audit/redact.ts";
import { isJson } from "../dialect/json-scan.ts";
import { fingerprint } from "../tokens/fingerprint.ts";
import { header, type AlphaAnswer, type AlphaRequest, type MadeCall, type Notes } from "./exchange.ts";

export interface RecordOptions {
  readonly newId: () => string;
  readonly redaction: Redaction;
  /** False: no bodies (AUDIT=metadata). */
  readonly bodies: boolean;
  readonly filterHeader: string;
}

/** The end of a request: alpha's status, and what went out on the wire. */
export interface Outcome {
  readonly status: number;
  readonly answer: AlphaAnswer;
}

/** The end of a request of the native lane. */
export interface NativeOutcome {
  readonly status: number;
  /** Of v4's answer; null where there was none, undefined where v4 was not asked. */
  readonly v4Status: number | null | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly warnings: readonly string[];
  readonly ms: number;
}

const clientOf = (
  request: AlphaRequest,
  hash: string | undefined,
  redaction: Redaction,
): AuditRecord["client"] => {
  const agent = header(request, "user-agent");
  return {
    fingerprint: hash === undefined ? null : fingerprint(hash),
    userAgent: agent === undefined ? null : redaction.text(agent),
    address: request.address,
  };
};

const asked = (request: AlphaRequest, { redaction, filterHeader }: RecordOptions) => {
  const filter = header(request, filterHeader.toLowerCase());
  return {
    method: request.method,
    path: redaction.text(request.path),
    query: redaction.query(request.query),
    filter: filter === undefined ? null : redaction.text(filter),
  };
};

/** What v4 said. Of JSON the text alone is looked through. */
const saidBy = (
  { text, bytes, sound = isJson(text, bytes) }: NonNullable<MadeCall["came"]>,
  { json, value }: Redaction,
): RecordedBody => (sound ? json(text) : value(text));

/** v4's calls as they are kept: without bodies, or with redacted ones. */
function recordedCalls(notes: Notes, { redaction, bodies }: RecordOptions): AuditRecord["v4"] {
  return notes.calls.map(({ body, came, ...call }) => ({
    ...call,
    filter: call.filter === null ? null : redaction.text(call.filter),
    ...(bodies && body !== undefined && { body: redaction.value(body) }),
    ...(bodies && came && { response: saidBy(came, redaction) }),
  }));
}

/** The record of one alpha request, redacted before it leaves the request. */
export function recordOf(
  request: AlphaRequest,
  outcome: Outcome,
  notes: Notes,
  options: RecordOptions,
): AuditRecord {
  const { redaction, bodies } = options;
  const total = performance.now() - notes.startedAt;
  const sent = bodies && notes.body && notes.body.length > 0 ? { body: redaction.raw(notes.body) } : {};
  return {
    id: options.newId(),
    time: notes.time.toISOString(),
    lane: "alpha",
    requestId: request.id,
    client: clientOf(request, notes.caller?.hash, redaction),
    alpha: {
      ...asked(request, options),
      route: notes.route ?? notes.target?.route.name ?? null,
      ...sent,
      status: outcome.status,
      ...(bodies && { response: answeredWith(outcome.answer, notes, redaction) }),
    },
    v4: recordedCalls(notes, options),
    losses: [...notes.losses],
    warnings: notes.warnings,
    timings: { total, upstream: notes.upstreamMs, translation: Math.max(0, total - notes.upstreamMs) },
    bytes: {
      in: notes.carried?.in || (notes.body?.length ?? 0),
      out: notes.carried?.out || outcome.answer.body.length,
    },
  };
}

/** Of a file it is known how much of it went by. */
const answeredWith = ({ file, body }: AlphaAnswer, notes: Notes, redaction: Redaction): unknown =>
  file ? { streamed: notes.carried?.out ?? 0 } : redaction.json(body.toString());

/** The record of a request of the native lane: what was called, not what was said. */
export function nativeRecordOf(
  request: AlphaRequest,
  outcome: NativeOutcome,
  hash: string | undefined,
  options: RecordOptions,
): AuditRecord {
  const { method, path, query, filter } = asked(request, options);
  const { status, v4Status, ms } = outcome;
  const call = { method, path: query === "" ? path : `${path}?${query}`, filter, ms };
  return {
    id: options.newId(),
    time: new Date(Date.now() - ms).toISOString(),
    lane: "native",
    requestId: request.id,
    client: clientOf(request, hash, options.redaction),
    alpha: { method, path, route: null, query, filter, status },
    v4: v4Status === undefined ? [] : [{ ...call, status: v4Status }],
    losses: [],
    warnings: outcome.warnings,
    timings: { total: ms, upstream: v4Status === undefined ? 0 : ms, translation: 0 },
    bytes: { in: outcome.bytesIn, out: outcome.bytesOut },
  };
}
