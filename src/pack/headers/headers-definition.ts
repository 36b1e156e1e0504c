/** The schemas of headers and versions, for both dialects and for a route. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import {
  fieldHeaderName,
  headerValue,
  parameterName,
  responseHeaderName,
  versionMediaType,
} from "../values/text-types.ts";
import { flagKey, textKey } from "../values/key-schemas.ts";

const upstreamName = about(
  fieldHeaderName.optional(),
  "Name of the upstream's header. Short form: `ETag: ETag`.",
  "ETag",
);

const requestHeaderRule = z.strictObject({
  upstream: upstreamName,
  query: about(parameterName.optional(), "Instead of `upstream`: the upstream's query parameter.", "tenant"),
  member: textKey(
    "Instead of `upstream`: the member of the upstream's body, dotted if nested.",
    "meta.tenant",
  ),
  path: textKey(
    "Instead of `upstream`: the name in braces in the upstream's paths. Routes without this name ignore the header.",
    "tenant",
  ),
  write: textKey(
    "JSONata over the client's body without its wrapper: the value. `$value` is the client's header. An undefined result is not sent.",
    "version",
  ),
  every_call: flagKey("All calls of the request send the header."),
  required: flagKey("A request without the value gets status 400."),
  default: about(headerValue.optional(), "The value if the client has not sent the header.", "en"),
});

const responseHeaderRule = z.strictObject({
  upstream: upstreamName,
  const: about(headerValue.optional(), "A constant value.", "2024-05-01"),
  read: textKey(
    "JSONata over the upstream's object: the value. With `upstream`, it is used only if the upstream does not send that header. `$object` and `$status` are the client's.",
    '$response_headers."x-used" & "/" & $response_headers."x-limit"',
  ),
  on: about(
    z.enum(["success", "error", "always"]).default("success"),
    "The responses that contain the header. Default: successful responses, and 304.",
    "always",
  ),
  links: about(
    z.enum(["path", "absolute"]).default("path"),
    "With `absolute`, a path in this header becomes a URL below `PUBLIC_URL`.",
    "absolute",
  ),
});

const named = (rule: unknown): unknown => (typeof rule === "string" ? { upstream: rule } : rule);

/** A header that is sent to the upstream: its rule, or in short form only its upstream name. */
export const requestHeader = z.preprocess(named, requestHeaderRule);

/** A header that is sent to clients: its rule, or in short form only its upstream name. */
export const responseHeader = z.preprocess(named, responseHeaderRule);

/** The headers that contain the status of a rate limit. */
export const rateLimitHeaders = z.strictObject({
  limit: about(fieldHeaderName.optional(), "Requests that a window allows.", "RateLimit-Limit"),
  remaining: about(fieldHeaderName.optional(), "Requests that remain in this window.", "RateLimit-Remaining"),
  reset: about(fieldHeaderName.optional(), "The end of the window.", "RateLimit-Reset"),
  reset_unit: about(
    z.enum(["epoch_seconds", "seconds_left"]).optional(),
    "Seconds since 1970 (`epoch_seconds`, the default), or until the end (`seconds_left`).",
    "seconds_left",
  ),
});

/** The headers that pass from one side to the other. */
export const passedHeaders = z.strictObject({
  request: about(
    z.record(fieldHeaderName, requestHeader).default({}),
    "Headers of requests, by the client's names, for the main call.",
    { "Idempotency-Key": "Idempotency-Key", "If-None-Match": "If-None-Match" },
  ),
  response: about(
    z.record(responseHeaderName, responseHeader).default({}),
    "Headers of responses, by the client's names. A `Location` of the upstream becomes the client's path.",
    { ETag: "ETag", Location: "Location" },
  ),
});

/** Headers that are always sent to the upstream. */
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

/** The version that clients request. */
export const clientVersion = z.strictObject({
  ...place,
  required: flagKey("A request without the version is also an error."),
});

/** The version that the gateway requests from the upstream. */
export const upstreamVersion = z.strictObject(place);

export type PassedHeadersDefinition = z.infer<typeof passedHeaders>;
export type RequestHeaderDefinition = z.infer<typeof requestHeaderRule>;
export type ResponseHeaderDefinition = z.infer<typeof responseHeaderRule>;
export type VersionDefinition = z.infer<typeof clientVersion>;
