/** What the public port does about browsers: host names that a page chose, and preflights. */
import type { RequestHandler } from "express";
import { createHostCheck } from "../admin/loopback-host.ts";
import { CLIENT_GONE } from "../audit/record.ts";
import type { Settings } from "../config/setting-definitions.ts";
import { HttpError } from "../dialect/http-error.ts";
import { ANONYMOUS } from "../pipeline/context.ts";
import { isPreflight } from "../pipeline/http/cors.ts";
import { plainRequestOf } from "../pipeline/http/request-context.ts";
import { withLifecycle, type AlphaHandler, type LifecycleDependencies } from "../pipeline/lifecycle.ts";
import { consumeRateLimit, rejectLimited } from "../pipeline/stages/rate-limit.ts";
import { createPipelineConfig } from "./pipeline-config.ts";
import type { PublicAppDependencies } from "./public-app.ts";

/** The route of preflights in the metrics. */
const PREFLIGHT = "preflight";

interface GuardOptions {
  /** What handlers need to trace and record their requests. */
  readonly lifecycle: Pick<LifecycleDependencies, "record" | "onUnexpectedError" | "startSpan">;
  readonly toMiddleware: (handler: AlphaHandler) => RequestHandler;
}

/**
 * Rejects requests under another host name where clients have no credentials: on a loopback address any page that points
 * its domain there could use the gateway through the browser of a visitor (DNS rebinding).
 */
export function createHostGuard(
  settings: Settings,
  { pack, shared }: Pick<PublicAppDependencies, "pack" | "shared">,
  { lifecycle, toMiddleware }: GuardOptions,
): RequestHandler {
  if (pack.credentials.client) return (_request, _response, next) => next();
  const accepts = createHostCheck(settings.HOST, settings.PUBLIC_URL ? [settings.PUBLIC_URL.hostname] : []);
  const reject = withLifecycle(
    async (request, context) => {
      const { status } = await consumeRateLimit(request, ANONYMOUS, undefined, shared.limits);
      context.rateLimitStatus = status;
      rejectLimited(status);
      throw new HttpError(
        421,
        "This listener accepts loopback host names only, e.g. localhost, and that of PUBLIC_URL.",
      );
    },
    { ...createPipelineConfig(pack, settings), ...lifecycle },
  );
  const respondRejected = toMiddleware(reject);
  return function guardHost(request, response, next) {
    return accepts(request.headers.host) ? next() : respondRejected(request, response, next);
  };
}

/** Counts preflights: against the limit of their address, since browsers send no token with them, and in the metrics. */
export function createPreflightLimit({
  pack,
  shared,
  metrics,
}: Pick<PublicAppDependencies, "pack" | "shared" | "metrics">): RequestHandler {
  return async function limitPreflight(request, response, next) {
    if (!isPreflight(request)) return next();
    const { startedAt, address } = plainRequestOf(response);
    const { status } = await shared.limits.consume({
      token: undefined,
      address,
      isKnownToken: false,
      isCreate: false,
    });
    response.on("close", () => {
      const ended = response.writableFinished ? response.statusCode : CLIENT_GONE;
      const timings = { total: performance.now() - startedAt, upstream: 0 };
      const alpha = { route: PREFLIGHT, status: ended };
      metrics.observeRequest(
        { lane: "alpha", alpha, v4: [], timings },
        status.isAllowed ? undefined : "limit",
      );
    });
    if (status.isAllowed) return next();
    response.writeHead(pack.statuses.limited, { "retry-after": String(status.retryAfter) }).end();
  };
}
