import type { RequestContext } from "./context.ts";

/**
 * Calls a function with the milliseconds of each stage that a request has reached, in order, without the audit.
 * `build_request` ends when the first v4 call starts. `build_response` is all time after that which is not spent waiting
 * for v4.
 */
export function forEachStage(
  { stageTimes, upstream, startedAt }: Pick<RequestContext, "stageTimes" | "upstream" | "startedAt">,
  observe: (stage: string, ms: number) => void,
): void {
  const { authenticate, matchRoute, rateLimit, authorize, buildResponse } = stageTimes;
  const { upstreamMs = 0, firstCallAt = 0 } = upstream ?? {};
  // Calls to the login server belong to no stage.
  const buildRequest = authorize > 0 ? firstCallAt : 0;
  if (authenticate > 0) observe("authenticate", authenticate - startedAt);
  if (matchRoute > 0) observe("match_route", matchRoute - authenticate);
  if (rateLimit > 0) observe("rate_limit", rateLimit - matchRoute);
  if (authorize > 0) observe("authorize", authorize - rateLimit);
  if (buildRequest > 0) observe("build_request", buildRequest - authorize);
  if (upstreamMs > 0) observe("upstream", upstreamMs);
  if (buildResponse > 0) {
    const builtFrom = buildRequest > 0 ? buildRequest + upstreamMs : authorize;
    observe("build_response", buildResponse - builtFrom);
  }
}
