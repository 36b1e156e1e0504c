/** Reports a request to the log, to its trace and to the metrics of its stages. */
import {
  CLIENT_GONE,
  type Log,
  type Metrics,
  parseTraceparent,
  type RequestResult,
} from "../../base/index.ts";
import { forEachStage, type RequestContext, tokenInfoOf } from "../request/context.ts";
import type { RequestSummary } from "./recorded-request.ts";

/** The facts for the log and the metrics that a record does not have. */
export interface RecordDetails {
  readonly rejectedBy?: RequestContext["rejectedBy"];
  /** Whether v4 or the gateway has failed, independent of the status. */
  readonly hasFailed: boolean;
  readonly traceparent: string | undefined;
}

/** One log line for a request: enough to find its record and its trace, and no content. */
function logLine(
  { id, requestId, lane, client, alpha, v4, warnings, timings }: RequestSummary,
  { traceparent }: RecordDetails,
): Record<string, unknown> {
  return {
    requestId,
    trace: parseTraceparent(traceparent)?.traceId,
    record: id,
    lane,
    client: client.fingerprint,
    method: alpha.method,
    route: alpha.route,
    status: alpha.status,
    v4: v4.map(({ status }) => status),
    ms: Math.round(timings.total * 10) / 10,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** A line for each request would cost more than many of them: successes are logged at `debug` only. */
export function logRequest(log: Log, record: RequestSummary, details: RecordDetails): void {
  const { warnings, alpha } = record;
  if (warnings.length === 0 || alpha.status === CLIENT_GONE) {
    if (log.isLevelEnabled("debug")) log.debug(logLine(record, details), "request");
  } else if (details.hasFailed) {
    if (log.isLevelEnabled("error"))
      log.error({ code: "AG_REQUEST_FAILED", ...logLine(record, details) }, "request");
  } else if (log.isLevelEnabled("warn")) {
    log.warn({ code: "AG_REQUEST_WARNING", ...logLine(record, details) }, "request");
  }
}

export const spanResult = ({ alpha, lane, requestId }: RequestSummary): RequestResult => ({
  route: alpha.route,
  status: alpha.status,
  lane,
  requestId,
});

/** Reports the time of a request in each stage, and its cache hits and misses. */
export function observeStages(
  metrics: Pick<Metrics, "stagesOf" | "countCacheReads">,
  context: RequestContext,
  auditMs: number,
): void {
  const { client, match, stageTimes, upstream } = context;
  const { cachedReads, cacheMisses = 0 } = upstream ?? {};
  const observeStage = metrics.stagesOf(match?.route.name ?? null);
  forEachStage(context, observeStage);
  observeStage("audit", auditMs);

  if (client?.credentials.hash !== undefined)
    metrics.countCacheReads("tokens", tokenInfoOf(context) !== undefined);
  if (cachedReads) metrics.countCacheReads("reads", true, cachedReads.length);
  if (cacheMisses > 0) metrics.countCacheReads("reads", false, cacheMisses);
  if (stageTimes.buildResponse > 0 && match?.route.kind === "catalog")
    metrics.countCacheReads("catalogs", upstream?.calls.length === 0);
}
