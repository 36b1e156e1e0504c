/** Reports a request to the log and to the metrics of its stages. */
import type { AuditRecord } from "../../audit/index.ts";
import { CLIENT_GONE, type Log, type Metrics, parseTraceparent } from "../../base/index.ts";
import { forEachStage, type RequestContext, tokenInfoOf } from "../request/context.ts";
import type { RecordedExchange } from "./recorded-exchange.ts";

/** The parts of a record that the metrics, the log and the trace use. */
export type RequestSummary = Pick<AuditRecord, "lane" | "requestId" | "losses" | "warnings" | "timings"> & {
  /** The id of the record, if there is one. */
  readonly id?: string | undefined;
  readonly client: Pick<AuditRecord["client"], "fingerprint">;
  readonly alpha: Pick<AuditRecord["alpha"], "method" | "route" | "status">;
  readonly v4: readonly Pick<AuditRecord["v4"][number], "status">[];
};

/** Creates the log line of a request: enough to find its record and its trace, but no content. */
function logLine(
  { id, requestId, lane, client, alpha, v4, warnings, timings }: RequestSummary,
  { traceparent }: RecordedExchange,
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

/** Logs a request. A line can be more expensive than the request itself, so successful requests are only logged at `debug`. */
export function logRequest(log: Log, summary: RequestSummary, exchange: RecordedExchange): void {
  const { warnings, alpha } = summary;
  if (warnings.length === 0 || alpha.status === CLIENT_GONE) {
    if (log.isLevelEnabled("debug")) log.debug(logLine(summary, exchange), "request");
  } else if (exchange.hasFailed) {
    if (log.isLevelEnabled("error"))
      log.error({ code: "AG_REQUEST_FAILED", ...logLine(summary, exchange) }, "request");
  } else if (log.isLevelEnabled("warn")) {
    log.warn({ code: "AG_REQUEST_WARNING", ...logLine(summary, exchange) }, "request");
  }
}

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
