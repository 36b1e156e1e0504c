/** The schemas of `client` and `upstream` in `pack.yaml`: what a dialect has everywhere. */
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
import { clientQuery, pathParameters, slashes, sparseFields } from "../routes/parameter-definition.ts";
import { clientBodies, upstreamBodies } from "../bodies/bodies-definition.ts";
import { clientResponses, upstreamResponses } from "../errors/responses-definition.ts";
import { fieldHeaderName, headerName, pathPrefix } from "../fields/text-types.ts";

const name = z.string().min(1);

/** A prefix of all paths. */
const basePath = about(pathPrefix.default(""), "Prefix of all paths. Default: none.", "/v1");

const dialectName = about(
  z.string().regex(/^[A-Za-z][\w .-]*$/, "must be a name of letters, digits, dots, dashes and blanks"),
  "Name of the dialect in messages, the console, reports and OpenAPI.",
  "alpha",
);

const operator = z.union([name, z.array(name).min(1)]);
const OPERATORS = [
  "and",
  "or",
  "gt",
  "gte",
  "lt",
  "lte",
  "contains",
  "neq",
  "order_by",
  "order",
  "search",
] as const;

const multiple = z.enum(["repeat", "comma"]);

const sort = z.strictObject({
  parameter: about(name, "The parameter with the field.", "sort"),
  direction: about(
    name.optional(),
    "The parameter with the direction. Without it: `parameter` has the direction, too.",
    "order",
  ),
  ascending: about(
    name.optional(),
    "The value for an ascending order. Default: `{field}`, or with `direction` `asc`.",
    "{field},asc",
  ),
  descending: about(
    name.optional(),
    "The value for a descending order. Default: `-{field}`, or with `direction` `desc`.",
    "{field},desc",
  ),
  multiple: about(
    multiple.optional(),
    "A list may be sorted by several fields: `repeat` (`sort=a&sort=b`) or `comma` (`sort=a,b`). Without it: by one.",
    "comma",
  ),
});

const filters = z.strictObject({
  header: about(
    headerName.optional(),
    "The header with the filter, a JSON object. Without it: filters are in the query.",
    "X-Query",
  ),
  parameter: about(
    name.optional(),
    "In a query: the parameter that a field must be equal to. `{field}` is the name of the field.",
    "filter[{field}]",
  ),
  operators: about(
    z.partialRecord(z.enum(OPERATORS), operator).default({}),
    "The operators that the dialect has, with their spelling: a key of the JSON object, or a parameter with `{field}`. Of several spellings the first is the documented one. `search` takes a text for all fields.",
    { gte: "{field}[gte]", search: "q" },
  ),
  in: about(
    z
      .strictObject({
        parameter: about(name, "The parameter, with `{field}`.", "{field}"),
        multiple: about(multiple, "The values are repeated parameters, or separated by commas.", "comma"),
      })
      .optional(),
    "In a query: the parameter with several values, one of which a field must be equal to.",
    { parameter: "{field}", multiple: "comma" },
  ),
  sort: about(sort.optional(), "In a query: the order of a list. In a header see `order_by`.", {
    parameter: "sort",
    multiple: "comma",
  }),
});

const clientFilters = filters.extend({
  unknown: about(
    z.enum(["ignore", "reject"]).default("reject"),
    "What happens to a filter in the query by a field that clients can't filter by: `reject` (400), or `ignore` (the audit record names it). Default: `reject`.",
    "ignore",
  ),
});

const id = about(name.default("id"), "The member with the id of an object.", "id");

/** The schema of `client`. */
export const clientDefinition = z.strictObject({
  name: dialectName.default("client"),
  base_path: basePath,
  credentials: about(
    clientCredentials.optional(),
    "Where clients send their token: exactly one place. Without it: they have none.",
    { scheme: "token" },
  ),
  id,
  method_header: about(
    fieldHeaderName.optional(),
    "A header with which a POST stands for a PUT, PATCH or DELETE. Without it: such a header has no effect.",
    "X-HTTP-Method-Override",
  ),
  sparse_fields: about(
    sparseFields.optional(),
    "How clients choose the members of objects in responses. Without it: they get all of them.",
    { parameter: "fields", always: ["id"] },
  ),
  slashes: about(slashes.optional(), "Which slashes in paths count. Default: none of them.", {
    trailing: "exact",
  }),
  path_parameters: about(
    pathParameters.default({}),
    "Path parameters by name, with their types: digits, one segment of text (the default), the rest of the path, or an IP address (of one family).",
    { id: "integer", slug: "path", reader: { values: "reader_id" } },
  ),
  pagination: about(
    clientPagination.optional(),
    "How clients ask for a page: one of `page`, `offset` and `cursor`, and the `size`. Without it: lists have no pages.",
    { page: { parameter: "page" }, size: 25 },
  ),
  query: about(
    clientQuery.prefault({}),
    "Query parameters of all routes, other than those of pages and filters.",
    { parameters: { lang: "locale" }, unknown: "reject" },
  ),
  filters: about(clientFilters.optional(), "How clients filter and sort lists. Without it: they can't.", {
    parameter: "{field}",
    operators: { gte: "{field}[gte]" },
    sort: { parameter: "sort" },
  }),
  headers: about(passedHeaders.optional(), "Headers that pass from one side to the other. Default: none.", {
    response: { ETag: "ETag" },
  }),
  rate_limit_headers: about(
    rateLimitHeaders.optional(),
    "The response headers with the status of the gateway's rate limit, or with the upstream's where the upstream has rejected the request (429). Without it: none.",
    {
      limit: "RateLimit-Limit",
      remaining: "RateLimit-Remaining",
      reset: "RateLimit-Reset",
      reset_unit: "seconds_left",
    },
  ),
  version: about(
    clientVersion.optional(),
    "The version that this pack serves, by a header or by a media type. A request for another one is a 400, or a 406.",
    { media_type: "application/vnd.shop.v1+json" },
  ),
  responses: about(
    clientResponses.default({ omit_null: false, field_indexes: "none" }),
    "The shapes of responses, as JSON with `$` names.",
    {
      list: { data: "$items", total: "$total" },
    },
  ),
  bodies: about(clientBodies.default({}), "The bodies that clients send. Default: JSON objects.", {
    media_types: ["application/x-www-form-urlencoded"],
  }),
  upstream_header: about(
    headerName.optional(),
    "A response header that names the upstream request, also where a request is refused: `none` where it has no counterpart. Without it: no such header.",
    "X-Upstream-Request",
  ),
  upstream_filter_header: about(
    headerName.optional(),
    "A response header with the translated filter, where the upstream takes filters in a header.",
    "X-Upstream-Filter",
  ),
  always_ok: about(
    z
      .strictObject({
        request_header: about(headerName, "The request header; its value is `true`.", "X-Always-Ok"),
        response_header: about(headerName, "The response header with the real status.", "X-Real-Status"),
      })
      .optional(),
    "If a client sends this header, it always gets status 200, and the real status in another header.",
    { request_header: "X-Always-Ok", response_header: "X-Real-Status" },
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
    "Where the upstream gets a token: exactly one place, and which token it gets. Without it: it gets none.",
    { scheme: "Bearer" },
  ),
  id,
  pagination: about(
    upstreamPagination.optional(),
    "How the upstream pages lists: one of `page`, `offset` and `cursor`, and the `size`. Without it: lists are complete.",
    { page: { parameter: "page" }, size: { parameter: "page_size", maximum: 100 } },
  ),
  filters: about(filters.optional(), "How the upstream filters and sorts lists. Without it: it can't.", {
    header: "X-Query",
    operators: { gte: "$gte" },
  }),
  headers: about(fixedHeaders.optional(), "Headers that all upstream requests have.", {
    "X-Client": "web",
  }),
  rate_limit_headers: about(
    rateLimitHeaders.optional(),
    "The headers of a 429 with the status of the upstream's rate limit. Without it: they are not read.",
    { limit: "X-RateLimit-Limit", remaining: "X-RateLimit-Remaining", reset: "X-RateLimit-Reset" },
  ),
  version: about(
    upstreamVersion.optional(),
    "The version that the gateway asks for, by a header or by the media type in `Accept`.",
    { header: "X-Api-Version", value: "2" },
  ),
  responses: about(
    upstreamResponses.default({ field_indexes: "dots", empty_list: "present" }),
    "The shapes of responses, as JSON with `$` names.",
    { list: { data: "$items", total: "$total" } },
  ),
  bodies: about(upstreamBodies.default({}), "The bodies that the upstream gets. Default: JSON objects.", {
    media_type: "application/merge-patch+json",
  }),
  token_check: about(
    name.optional(),
    "A GET that any token may send. It checks unknown tokens before a file is received, before a catalog is read with one (`with_token`), and those of clients that only read catalogs.",
    "GET /profile",
  ),
});
