import cors, { type CorsOptions } from "cors";
import type { IncomingMessage } from "node:http";
import type { Middleware } from "./request-context.ts";

export interface AllowedOrigins {
  /** Origins of browser clients, or `*`. */
  readonly origins: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
}

const PREFLIGHT_SECONDS = 600;

/** Whether a request is the question of a browser whether a page may send another one. */
const isPreflight = ({ method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/**
 * Allows browser clients of the given origins (Fetch standard, CORS protocol). A preflight gets 204 and goes no
 * further; without the headers of this protocol where its origin is not allowed. Any other OPTIONS request is the
 * pipeline's.
 *
 * @param limitPreflight runs before a preflight is answered
 */
export function allowOrigins(
  { origins, allowHeaders, exposeHeaders }: AllowedOrigins,
  limitPreflight: Middleware,
): Middleware {
  const any = origins.includes("*");
  const origin = any ? "*" : [...origins];
  const exposedHeaders = exposeHeaders.join(", ");
  const withoutPreflightHeaders: CorsOptions = { methods: "", allowedHeaders: [] };
  const allow = cors({ ...withoutPreflightHeaders, origin, exposedHeaders, preflightContinue: true });
  const allowPreflight = cors({
    origin,
    exposedHeaders,
    methods: "GET, POST, PUT, PATCH, DELETE",
    allowedHeaders: allowHeaders.join(", "),
    maxAge: PREFLIGHT_SECONDS,
  });
  const rejectPreflight = cors({ ...withoutPreflightHeaders, origin: [] });

  return function answerOrigin(request, response, next) {
    const from = request.headers.origin;
    const isAllowed = from !== undefined && (any || origins.includes(from));
    if (!isPreflight(request)) return isAllowed ? allow(request, response, next) : next();
    const answer = isAllowed ? allowPreflight : rejectPreflight;
    return limitPreflight(request, response, (error) =>
      error === undefined ? answer(request, response, next) : next(error),
    );
  };
}
