/** Adds a span, a duration, a record and, if it fails, a warning to every call to v4 and to its login server. */
import type { RecordedCall } from "../../audit/index.ts";
import type { StartCallSpan } from "../../base/index.ts";
import { UpstreamError, wasNeverSent } from "../upstream/upstream-error.ts";

/** A call and its response. The body is read only if bodies are recorded. */
export interface UpstreamCallRecord extends Omit<RecordedCall, "response"> {
  readonly response?: {
    readonly bytes: Buffer;
    readonly isValidJson?: boolean | undefined;
    readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  };
}

export class UpstreamActivity {
  calls: UpstreamCallRecord[] = [];
  /** Calls that were never sent, if there are any. */
  neverSent: UpstreamCallRecord[] | undefined;
  /** The request's warnings, to which calls add their own. */
  readonly warnings: string[];
  /** Starts the span of a call; undefined if tracing is off. */
  readonly startSpan: StartCallSpan | undefined;
  /** The W3C trace of calls without a span. */
  readonly traceparent: string | undefined;
  upstreamMs = 0;
  /** Number of calls in progress. */
  callsInProgress = 0;
  waitingSince = 0;
  /** The start of the first call, by `performance.now()`. 0 if no call has started. */
  firstCallAt = 0;
  /** Whether v4 accepted the client's token in this request. */
  isTokenAccepted = false;
  /** The token of the last call to v4. */
  v4Token: string | undefined;
  /** Bytes of streamed files, from the client and to it. */
  streamedBytes: { in: number; out: number } | undefined;
  /** The v4 responses that came from the cache, for which no call was made. */
  cachedReads: { readonly path: string; readonly json: unknown }[] | undefined;
  cacheMisses = 0;

  constructor(warnings: string[], startSpan?: StartCallSpan, traceparent?: string) {
    this.warnings = warnings;
    this.startSpan = startSpan;
    this.traceparent = traceparent;
  }
}

const isWrite = ({ method }: UpstreamCallRecord): boolean => method !== "GET" && method !== "HEAD";

/**
 * Whether v4 has executed a write of a request, or may have done so: v4 did not refuse the write, or its connection
 * broke after the request was sent.
 */
export const hasWritten = ({ calls, neverSent }: Pick<UpstreamActivity, "calls" | "neverSent">): boolean =>
  calls.some(
    (call) => isWrite(call) && (call.status === null ? !neverSent?.includes(call) : call.status < 400),
  );

/** Adds a warning to the record of a request that fails after v4 has accepted one of its writes. */
export function warnOfWrites({ calls, warnings }: Pick<UpstreamActivity, "calls" | "warnings">): void {
  if (calls.some((call) => isWrite(call) && call.status !== null && call.status < 400))
    warnings.push("what was written before has taken effect");
}

/** A call's data for its record, and the function that sends the call. */
export interface InstrumentedCall<Response> {
  /** Name of the server in warnings. */
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly filter?: string | undefined;
  readonly body?: unknown;
  /** The headers, to which the `traceparent` of the call's span is added. */
  readonly headers: Record<string, string>;
  readonly send: () => Promise<Response>;
  readonly bodyOf: (response: Response) => UpstreamCallRecord["response"];
}

/**
 * Sends one call with its span, its record, its duration and, if it fails, its warning. The time of concurrent calls is
 * only counted once in the waiting time of the request.
 *
 * @throws the errors of `send`
 */
export async function instrumentCall<Response extends { readonly status: number; readonly ms: number }>(
  { service, method, path, filter, body, headers, send, bodyOf }: InstrumentedCall<Response>,
  activity: UpstreamActivity,
): Promise<Response> {
  const request = { method, path, filter: filter ?? null, ...(body !== undefined && { body }) };
  const span = activity.startSpan?.(method, path);
  if (span?.traceparent !== undefined) headers["traceparent"] = span.traceparent;
  const startedAt = performance.now();
  if (activity.firstCallAt === 0) activity.firstCallAt = startedAt;
  if (activity.callsInProgress === 0) activity.waitingSince = startedAt;
  activity.callsInProgress += 1;
  try {
    const response = await send();
    const { status, ms } = response;
    span?.end(status);
    const recorded = bodyOf(response);
    activity.calls.push({ ...request, status, ...(recorded && { response: recorded }), ms });
    return response;
  } catch (error) {
    span?.end(null);
    const call = { ...request, status: null, ms: performance.now() - startedAt };
    activity.calls.push(call);
    if (wasNeverSent(error)) (activity.neverSent ??= []).push(call);
    if (error instanceof UpstreamError)
      activity.warnings.push(`${service} ${method} ${path}: ${error.kind}, ${error.message}`);
    throw error;
  } finally {
    activity.callsInProgress -= 1;
    if (activity.callsInProgress === 0) activity.upstreamMs += performance.now() - activity.waitingSince;
  }
}
