import type { RequestContext } from "../pipeline/context.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";

/**
 * Tells the metrics how long a request was at each stop, and what it found at hand. Calls of v4 and what is done
 * between them take turns: `out` ends where the first call begins, and `back` is all the rest that is not `upstream`.
 */
export function observeStages(
  metrics: Pick<Metrics, "stage" | "cache">,
  notes: RequestContext,
  recordMs: number,
): void {
  const {
    credentials: caller,
    match: target,
    tokenInfo: facts,
    stageTimes: passed,
    calls,
    upstreamMs,
    startedAt,
  } = notes;
  const route = target?.route.name ?? null;
  const {
    authenticate: credentials,
    rateLimit: limits,
    authorize: admission,
    buildRequest: out,
    buildResponse: back,
  } = passed;

  if (credentials > 0) metrics.stage("credentials", route, credentials - startedAt);
  if (limits > 0) metrics.stage("limits", route, limits - credentials);
  if (admission > 0) metrics.stage("admission", route, admission - limits);
  if (out > 0) metrics.stage("out", route, out - admission);
  if (upstreamMs > 0) metrics.stage("upstream", route, upstreamMs);
  if (back > 0) metrics.stage("back", route, back - (out > 0 ? out + upstreamMs : admission));
  metrics.stage("record", route, recordMs);

  if (caller?.hash !== undefined) metrics.cache("tokens", facts !== undefined);
  if (notes.cacheHits > 0) metrics.cache("reads", true, notes.cacheHits);
  if (notes.cacheMisses > 0) metrics.cache("reads", false, notes.cacheMisses);
  if (back > 0 && target && "catalog" in target.route.source) metrics.cache("catalogs", calls.length === 0);
}
