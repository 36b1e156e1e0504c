import type { Pack } from "../load/pack.ts";
import type { Json } from "./schemas.ts";

/** The parts of the plan that the description has. */
export interface DescribedPlan {
  /** When a route ends for everybody, in milliseconds since the epoch; undefined: no date is known. */
  endOf(route: string): number | undefined;
}

const text = (description: string): Json => ({ description, schema: { type: "string" } });
const integer = (description: string): Json => ({ description, schema: { type: "integer", minimum: 0 } });

const PLAN_HEADERS: Json = {
  Deprecation: text("When the end of this interface was announced: `@` and seconds since 1970 (RFC 9745)."),
  Sunset: text("When this operation ends for this client (RFC 8594), if there is a date."),
  Link: text("Where the end is described, and the call that takes the place of this one (RFC 8288)."),
};

/** The headers that all responses can have. */
export function describeResponseHeaders(
  { dialect: { client, upstream }, rateLimitHeaders }: Pack,
  plan: DescribedPlan | undefined,
): Json {
  const { upstream_header: call, upstream_filter_header: filter } = client;
  return {
    "X-Request-Id": text("The id of the request."),
    ...Object.fromEntries(
      rateLimitHeaders.client.names.map((name) => [name, integer("The rate limit of the token or address.")]),
    ),
    ...(call !== undefined && {
      [call]: text(`The call of ${upstream.name} that takes the place of this one.`),
    }),
    ...(filter !== undefined && { [filter]: text("The filter of that call.") }),
    ...(plan && PLAN_HEADERS),
  };
}

/** References to headers of the components. */
export const referToHeaders = (headers: Json): Json =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
