/** The schemas of headers and versions, of both dialects and of a route. */
import { z } from "zod";
import { about } from "./about.ts";
import { fieldHeaderName, headerValue, versionMediaType } from "./text-types.ts";

const upstreamName = about(
  fieldHeaderName.optional(),
  "Name of the upstream's header. `ETag: ETag` is short for `ETag: { upstream: ETag }`.",
  "ETag",
);

const requestHeaderRule = z.strictObject({
  upstream: upstreamName,
  required: about(z.literal(true).optional(), "A request without the header is a 400.", true),
  default: about(headerValue.optional(), "The value if the client has not sent the header.", "en"),
});

const responseHeaderRule = z.strictObject({
  upstream: upstreamName,
  const: about(
    headerValue.optional(),
    "The value of all responses, instead of the upstream's.",
    "2024-05-01",
  ),
});

const named = (rule: unknown): unknown => (typeof rule === "string" ? { upstream: rule } : rule);

/** A header that the upstream gets: its rule, or in short form only its upstream name. */
export const requestHeader = z.preprocess(named, requestHeaderRule);

/** A header that clients get: its rule, or in short form only its upstream name. */
export const responseHeader = z.preprocess(named, responseHeaderRule);

/** The headers with the status of a rate limit. */
export const rateLimitHeaders = z.strictObject({
  limit: about(
    fieldHeaderName.optional(),
    "The header with the number of requests that are allowed in a window.",
    "RateLimit-Limit",
  ),
  remaining: about(
    fieldHeaderName.optional(),
    "The header with the number of requests that remain in this window.",
    "RateLimit-Remaining",
  ),
  reset: about(fieldHeaderName.optional(), "The header with the end of the window.", "RateLimit-Reset"),
  reset_unit: about(
    z.enum(["epoch_seconds", "seconds_left"]).optional(),
    "The end of the window is a time in seconds since 1970 (`epoch_seconds`, the default), or the number of seconds until then (`seconds_left`).",
    "seconds_left",
  ),
});

/** The headers that pass from one side to the other. */
export const passedHeaders = z.strictObject({
  request: about(
    z.record(fieldHeaderName, requestHeader).default({}),
    "Headers of requests that pass, by the client's names. The route's own upstream request has them.",
    { "Idempotency-Key": "Idempotency-Key", "If-None-Match": "If-None-Match" },
  ),
  response: about(
    z.record(fieldHeaderName, responseHeader).default({}),
    "Headers of successful responses that pass, by the client's names. A `Location` becomes the client's path.",
    { ETag: "ETag", Location: "Location" },
  ),
});

/** Headers that the upstream always gets. */
export const fixedHeaders = z.record(fieldHeaderName, headerValue);

const place = {
  header: about(fieldHeaderName.optional(), "The header with the version.", "X-Api-Version"),
  value: about(headerValue.optional(), "Its value.", "2024-05-01"),
  media_type: about(
    versionMediaType.optional(),
    "The media type of the version, with its parameters.",
    "application/vnd.shop.v1+json",
  ),
};

/** The version that clients ask for. */
export const clientVersion = z.strictObject({
  ...place,
  required: about(
    z.literal(true).optional(),
    "A request without the version is an error. Without this key only another version is one.",
    true,
  ),
});

/** The version that the gateway asks the upstream for. */
export const upstreamVersion = z.strictObject(place);

export type PassedHeadersDefinition = z.infer<typeof passedHeaders>;
export type VersionDefinition = z.infer<typeof clientVersion>;
