import type { RequestHandler } from "express";

export interface CorsOptions {
  /** Origins that are let in, or `*`. */
  readonly origins: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
}

/**
 * Lets browser clients of the given origins in (Fetch standard, CORS protocol). A preflight is answered here,
 * with or without leave, and goes no further.
 */
export function cors({ origins, allowHeaders, exposeHeaders }: CorsOptions): RequestHandler {
  const any = origins.includes("*");
  return function corsHeaders(request, response, next) {
    const { origin } = request.headers;
    const allowed = origin !== undefined && (any || origins.includes(origin));
    if (allowed) {
      response.setHeader("access-control-allow-origin", any ? "*" : origin);
      response.setHeader("access-control-expose-headers", exposeHeaders.join(", "));
    }
    const preflight =
      request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;
    if (!preflight) return next();
    response.setHeader("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
    if (allowed) {
      response.setHeader("access-control-allow-methods", "GET, POST, PUT, DELETE");
      response.setHeader("access-control-allow-headers", allowHeaders.join(", "));
      response.setHeader("access-control-max-age", "600");
    }
    response.status(204).end();
  };
}
