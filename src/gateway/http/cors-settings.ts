import { credentialPlaces, type Pack, type Route } from "../../pack/index.ts";
import type { Settings } from "../../base/index.ts";
import type { allowOrigins } from "./cors.ts";
import { FIELD_HEADER } from "../responses/shape-bodies.ts";
import { CODE_HEADER } from "../pipeline/stages/enforce-plan.ts";

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

/** The parts of a request that a browser client may send, and of a response that it may read. */
export function corsSettings(
  settings: Settings,
  { dialect, rateLimitHeaders, routes }: Pick<Pack, "dialect" | "rateLimitHeaders" | "routes">,
): Parameters<typeof allowOrigins>[0] {
  const { CORS_ORIGINS: origins = [] } = settings;
  const { client } = dialect;
  const { request = {}, response = {} } = client.headers ?? {};
  const present = (...names: (string | undefined)[]) => names.filter((name) => name !== undefined);
  return {
    origins,
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
      ...(settings.SUNSET_FILE === undefined
        ? []
        : ["Deprecation", "Sunset", "Link", FIELD_HEADER, CODE_HEADER]),
    ],
  };
}
