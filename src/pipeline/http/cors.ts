import cors, { type CorsOptions } from "cors";
import type { Request, RequestHandler } from "express";

export interface AllowedOrigins {
  /** Origins of browser clients, or `*`. */
  readonly origins: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
}

const PREFLIGHT_SECONDS = 600;

/** Whether a request is the question of a browser whether a page may send another one. */
export const isPreflight = ({ method, headers }: Pick<Request, "method" | "headers">): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/**
 * Allows browser clients of the given origins (Fetch standard, CORS protocol). A preflight gets 204 and goes no
 * further; without the headers of this protocol where its origin is not allowed. Any other OPTIONS request is the
 * pipeline's.
 */
export function allowOrigins({ origins, allowHeaders, exposeHeaders }: AllowedOrigins): RequestHandler {
  const any = origins.includes("*");
  const origin = any ? "*" : [...origins];
  const withoutPreflightHeaders: CorsOptions = { methods: "", allowedHeaders: [], preflightContinue: true };
  const allowed: CorsOptions = {
    ...withoutPreflightHeaders,
    origin,
    exposedHeaders: exposeHeaders.join(", "),
  };
  const allowedPreflight: CorsOptions = {
    origin,
    exposedHeaders: exposeHeaders.join(", "),
    methods: "GET, POST, PUT, PATCH, DELETE",
    allowedHeaders: allowHeaders.join(", "),
    maxAge: PREFLIGHT_SECONDS,
  };
  const rejectedPreflight: CorsOptions = { origin: [], methods: "", allowedHeaders: [] };
  const notAllowed: CorsOptions = { origin: false };

  return cors<Request>((request, done) => {
    const from = request.headers.origin;
    const isAllowed = from !== undefined && (any || origins.includes(from));
    if (isPreflight(request)) done(null, isAllowed ? allowedPreflight : rejectedPreflight);
    else done(null, isAllowed ? allowed : notAllowed);
  });
}
