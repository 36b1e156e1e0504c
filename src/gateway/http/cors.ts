import type { IncomingMessage } from "node:http";
import type { Middleware } from "./request-context.ts";
import { credentialPlaces, type Pack, type Route } from "../../pack/index.ts";
import type { Settings } from "../../base/index.ts";
import { FIELD_HEADER } from "../responses/shape-bodies.ts";
import { CODE_HEADER } from "../stages/enforce-plan.ts";
import cors, { type CorsOptions } from "cors";

type CorsPack = Pick<Pack, "dialect" | "rateLimitHeaders" | "routes">;

const PREFLIGHT_SECONDS = 600;

/** Whether a request is a preflight. */
const isPreflight = ({ method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/**
 * Allows browser clients of `CORS_ORIGINS` (Fetch standard, CORS protocol). A preflight gets 204 and is not forwarded.
 * If the origin is not allowed, the response contains no CORS headers. Other OPTIONS requests go to the pipeline.
 *
 * @param limitPreflight runs before a preflight is answered
 */
export function allowOrigins(settings: Settings, pack: CorsPack, limitPreflight: Middleware): Middleware {
  const { CORS_ORIGINS: origins = [] } = settings;
  const { allowHeaders, exposeHeaders } = corsHeaders(settings, pack);
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

/** The headers of a route's lists. */
function listHeaders({ response, lists }: Route): string[] {
  const {
    link_header: hasLink,
    total_header: total,
    range_header: range,
  } = lists.paging.definition.client ?? {};
  if (response !== "list") return [];
  return [hasLink ? "Link" : undefined, total, range?.name].filter((name) => name !== undefined);
}

/** Returns the headers that a browser client may send and read. */
function corsHeaders({ SUNSET_FILE }: Settings, { dialect, rateLimitHeaders, routes }: CorsPack) {
  const { client } = dialect;
  const { request = {}, response = {} } = client.headers ?? {};
  const present = (...names: (string | undefined)[]) => names.filter((name) => name !== undefined);
  return {
    allowHeaders: [
      "Authorization",
      "Content-Type",
      "X-Request-Id",
      ...Object.keys(request),
      ...credentialPlaces(client.credentials).flatMap(({ header }) => header ?? []),
      ...present(
        client.version?.header,
        client.filters?.header,
        client.always_ok?.request_header,
        client.method_header,
      ),
    ],
    exposeHeaders: [
      "X-Request-Id",
      ...rateLimitHeaders.client.names,
      "Retry-After",
      ...Object.keys(response),
      ...present(
        client.upstream_header,
        client.upstream_filter_header,
        client.credentials?.realm === undefined ? undefined : "WWW-Authenticate",
        client.always_ok?.response_header,
      ),
      ...new Set(routes.flatMap(listHeaders)),
      ...(SUNSET_FILE === undefined ? [] : ["Deprecation", "Sunset", "Link", FIELD_HEADER, CODE_HEADER]),
    ],
  };
}
