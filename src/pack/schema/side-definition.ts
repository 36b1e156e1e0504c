/** The schemas of `client` and `upstream` in `pack.yaml`, which describe a dialect for all routes. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { clientCredentials, upstreamCredentials } from "../credentials/credentials-definition.ts";
import { clientPagination, upstreamPagination } from "../lists/pagination-definition.ts";
import {
  clientVersion,
  fixedHeaders,
  passedHeaders,
  rateLimitHeaders,
  upstreamVersion,
} from "../headers/headers-definition.ts";
import { clientChoice } from "../fields/chosen-members-definition.ts";
import { clientQuery } from "../parameters/parameter-definition.ts";
import { pathParameters, slashes } from "../paths/path-definition.ts";
import { clientBodies, upstreamBodies } from "../bodies/bodies-definition.ts";
import { clientFilters, upstreamFilters } from "../filters/filter-definition.ts";
import { clientResponses, upstreamResponses } from "../errors/responses-definition.ts";
import {
  fieldHeaderName,
  headerName,
  jsonMediaType,
  parameterName,
  pathPrefix,
} from "../values/text-types.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

/** A prefix of all paths. */
const basePath = about(pathPrefix.default(""), "Prefix of all paths. Default: none.", "/v1");

const dialectName = about(
  z.string().regex(/^[A-Za-z][\w .-]*$/, "must be a name of letters, digits, dots, dashes and blanks"),
  "Name of the dialect in messages, reports and OpenAPI.",
  "alpha",
);

const id = about(name.default("id"), "The member with the id of an object.", "id");

/** The schema of `client`. */
export const clientDefinition = z.strictObject({
  name: dialectName.default("client"),
  base_path: basePath,
  credentials: about(
    clientCredentials.optional(),
    "Where clients send their token. Default: they have none.",
    { scheme: "token" },
  ),
  id,
  method_header: about(
    fieldHeaderName.optional(),
    "A header that turns a POST into a PUT, PATCH or DELETE.",
    "X-HTTP-Method-Override",
  ),
  sparse_fields: clientChoice,
  slashes: about(
    slashes.optional(),
    "Whether trailing and doubled slashes in paths have an effect. Default: no.",
    {
      trailing: "exact",
    },
  ),
  path_parameters: about(
    pathParameters.default({}),
    "Path parameters by name, with their types: `integer`, `text` (one segment, the default), `path` (the rest), `ip`, `ip4` or `ip6`.",
    { id: "integer", slug: "path", reader: { values: "reader_id" } },
  ),
  pagination: about(
    clientPagination.optional(),
    "How clients request a page. Default: lists have no pages.",
    { page: { parameter: "page" }, size: 25 },
  ),
  query: about(clientQuery.prefault({}), "Query parameters of all routes, except for pages and filters.", {
    parameters: { lang: "locale" },
    unknown: "reject",
  }),
  filters: about(
    clientFilters.optional(),
    "How clients filter and sort lists. Default: no filters or sorting.",
    {
      parameter: "{field}",
      operators: { gte: "{field}[gte]" },
      sort: { parameter: "sort" },
    },
  ),
  headers: about(passedHeaders.optional(), "Headers that pass from one side to the other. Default: none.", {
    response: { ETag: "ETag" },
  }),
  rate_limit_headers: about(
    rateLimitHeaders.optional(),
    "Response headers with the gateway's rate limit, or the upstream's if it rejected the request. Default: none.",
    {
      limit: "RateLimit-Limit",
      remaining: "RateLimit-Remaining",
      reset: "RateLimit-Reset",
      reset_unit: "seconds_left",
    },
  ),
  version: about(
    clientVersion.optional(),
    "The version that this pack serves. Other versions get status 400, or 406 in `Accept`.",
    { media_type: "application/vnd.shop.v1+json" },
  ),
  responses: about(
    clientResponses.default({ omit_null: false, field_indexes: "none" }),
    "The shapes of responses, as JSON with `$` names.",
    {
      list: { data: "$items", total: "$total" },
    },
  ),
  content_type: about(
    jsonMediaType.optional(),
    "The `Content-Type` of JSON responses. It excludes `media_type` of `version`. Default: that media type, or `application/json`.",
    "application/json; charset=utf-8",
  ),
  bodies: about(clientBodies.default({}), "The format of clients' bodies. Default: JSON objects.", {
    media_types: ["application/x-www-form-urlencoded"],
  }),
  upstream_header: about(
    headerName.optional(),
    "A response header with the upstream request, or `none`. Default: no such header.",
    "X-Upstream-Request",
  ),
  upstream_filter_header: about(
    headerName.optional(),
    "A response header with the translated filter, for an upstream with filters in a header.",
    "X-Upstream-Filter",
  ),
  always_ok: about(
    z
      .strictObject({
        request_header: about(
          headerName.optional(),
          "The request header of these clients, with the value `true`.",
          "X-Always-Ok",
        ),
        parameter: about(
          parameterName.optional(),
          "The query parameter of these clients, with the value `true`.",
          "suppress_status",
        ),
        response_header: about(headerName, "The response header with the real status.", "X-Real-Status"),
      })
      .optional(),
    "Clients that get status 200 for all responses, and the real status in a header.",
    { request_header: "X-Always-Ok", response_header: "X-Real-Status" },
  ),
  callback: about(
    z
      .strictObject({
        parameter: about(parameterName, "The query parameter with the name of a function.", "callback"),
      })
      .optional(),
    "A `GET` with this parameter gets a JavaScript call of a function with the JSON (JSONP), and status 200. Not with cookies and Basic credentials.",
    { parameter: "callback" },
  ),
  welcome: about(
    z
      .strictObject({
        path: about(name, "A path that clients may GET.", "/books"),
        scopes: about(name, "Scopes of the printed token.", "books:look"),
      })
      .optional(),
    "The example that `serve` prints at the start.",
    { path: "/books", scopes: "books:look" },
  ),
});

/** The schema of `upstream`. */
export const upstreamDefinition = z.strictObject({
  name: dialectName.default("upstream"),
  base_path: basePath,
  credentials: about(
    upstreamCredentials.optional(),
    "The token that the upstream gets, and its place. Default: none.",
    { scheme: "Bearer" },
  ),
  id,
  pagination: about(
    upstreamPagination.optional(),
    "How the upstream pages lists. Default: lists are complete.",
    { page: { parameter: "page" }, size: { parameter: "page_size", maximum: 100 } },
  ),
  filters: about(
    upstreamFilters.optional(),
    "How the upstream filters and sorts lists. Default: no filters or sorting.",
    {
      header: "X-Query",
      operators: { gte: "$gte" },
    },
  ),
  headers: about(fixedHeaders.optional(), "Fixed headers of all upstream requests.", {
    "X-Client": "web",
  }),
  rate_limit_headers: about(
    rateLimitHeaders.optional(),
    "Headers with the upstream's rate limit in a 429. Default: none.",
    { limit: "X-RateLimit-Limit", remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset" },
  ),
  version: about(
    upstreamVersion.optional(),
    "The version that the gateway requests, in a header or in `Accept`.",
    { header: "X-Api-Version", value: "2" },
  ),
  responses: about(
    upstreamResponses.default({ field_indexes: "dots", empty_list: "present" }),
    "The shapes of responses, as JSON with `$` names.",
    { list: { data: "$items", total: "$total" } },
  ),
  bodies: about(upstreamBodies.default({}), "The format of the upstream's bodies. Default: JSON objects.", {
    media_type: "application/merge-patch+json",
  }),
  token_check: textKey("A GET that any token may send, for checks of unknown tokens.", "GET /profile"),
});
