/** The schema of `routes` in a resource file. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { failures } from "../calls/check-definition.ts";
import { routeQuery, routeSparseFields } from "./parameter-definition.ts";
import { passedHeaders } from "../headers/headers-definition.ts";
import { bulk } from "../calls/bulk-definition.ts";
import { poll } from "../calls/poll-definition.ts";
import { relatedRequest } from "../calls/related-definition.ts";
import { routePagination } from "../lists/pagination-definition.ts";
import { envelope } from "../errors/responses-definition.ts";
import { errorStatus, mediaType } from "../fields/text-types.ts";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);
const filterValue = z.union([z.string(), z.number(), z.boolean()]);

/** The schema of one route. */
export const route = z.strictObject({
  client: about(name, "The client's operation.", "GET /books/:id"),
  scope: about(
    name.optional(),
    "`public`, `token` (any), or `resource:level`. Default: `token` where clients have credentials, else `public`.",
    "books:look",
  ),
  upstream: about(
    name.optional(),
    "The upstream operation. Names in braces are path parameters, or prerequisites and their members.",
    "GET /books/{id}",
  ),
  reject: about(
    z
      .union([
        name,
        z.strictObject({
          message: about(name, "A message of `pack.yaml`.", "no_counterpart"),
          status: about(errorStatus.default(400), "The client's status, 400 to 599. Default: 400.", 410),
        }),
      ])
      .optional(),
    "Instead of `upstream`: the upstream has no such operation. A message of `pack.yaml`, and the status (default 400).",
    "no_counterpart",
  ),
  catalog: about(
    z.union([z.literal(true), name]).optional(),
    "Instead of `upstream`: the response is the cached catalog of this file, or an object of it. `true`, or the `object` of the file.",
    true,
  ),
  response: about(
    z.enum(["list", "object", "none", "file"]).default("object"),
    "What the response has. `file`: the file that the upstream sends, with the media type of `file`.",
    "list",
  ),
  query: about(
    routeQuery.optional(),
    "Query parameters of this route. They are added to those of `client.query`, and replace those of the same name.",
    { parameters: { expand: "embed" } },
  ),
  sparse_fields: routeSparseFields,
  status: about(
    z.int().min(200).max(299).optional(),
    "The status of successful responses. With 204 they have no body, and `response` is `none`. Default: 200.",
    201,
  ),
  headers: about(
    passedHeaders.optional(),
    "Headers that pass on this route, in addition to those of `client.headers`.",
    { request: { "Idempotency-Key": { upstream: "Idempotency-Key", required: true } } },
  ),
  envelope: about(
    envelope.optional(),
    "The shapes of lists, objects and errors that differ from `responses` of the pack, for this route.",
    { upstream: { object: { result: "$object" } } },
  ),
  pagination: about(
    routePagination.optional(),
    "How this list is paged where that is not as in `pack.yaml`, by side. `none`: no side pages it. A client without pages gets the whole list, up to `max_items` of the upstream's pagination, and an error where it is longer.",
    { client: "none" },
  ),
  body: about(name.optional(), "Name of the body.", "create"),
  safe: about(
    z.literal(true).optional(),
    "A `POST` that only reads, of the client or of the upstream: a comparison of two services may send it once more. A GET on both sides always is.",
    true,
  ),
  upload: about(
    z
      .strictObject({
        content_type: about(mediaType, "The media type of the file.", "image/png"),
        max_bytes: about(z.int().positive(), "The largest file.", 1_048_576),
      })
      .optional(),
    "The request body is a file. It is streamed unchanged.",
    { content_type: "image/png", max_bytes: 1_048_576 },
  ),
  file: about(
    z
      .strictObject({
        content_type: about(mediaType, "The media type, exact or with a wildcard.", "image/*"),
      })
      .optional(),
    "The file of a `response: file`.",
    { content_type: "image/*" },
  ),
  one_of: about(
    z
      .array(
        z.strictObject({
          object: about(name, "A resource.", "restored_book"),
          when: about(
            expression.optional(),
            "JSONata over the upstream object, with `$query` and `$headers`.",
            'type = "disk"',
          ),
        }),
      )
      .min(1)
      .optional(),
    "Objects of the response: the first whose condition on the upstream object is true. Default: the object of this file.",
    [{ object: "cat", when: 'kind = "cat"' }, { object: "dog" }],
  ),
  exists: about(
    expression.optional(),
    "JSONata over the client's object, with `$query` and `$headers`. If it is false, the response is a 404.",
    'kind != "hidden"',
  ),
  when: about(
    expression.optional(),
    "JSONata over the client's body. Of several routes of one path, the first whose condition is true is used.",
    "$exists(password)",
  ),
  where: about(
    z.record(z.string(), json).optional(),
    "A condition in the upstream's filter form that is added to the client's filter. Names in braces in its values are path parameters, or prerequisites and their members.",
    { kind: "public" },
  ),
  where_values: about(
    z.record(name, name).optional(),
    "Upstream fields, each with a value kind: the list has only the objects whose value is in the table of the kind. Added to `where`.",
    { status: "state" },
  ),
  default_filter: about(
    z.record(name, z.union([filterValue, z.array(filterValue).min(1)])).optional(),
    "Values of the client's fields by which the list is filtered if the client's filter does not have the field. A list is one of several values.",
    { state: "open" },
  ),
  default_order: about(
    z.record(name, z.enum(["ascending", "descending"])).optional(),
    "The client's fields by which the list is sorted if the client does not say it, the most important first.",
    { created: "descending" },
  ),
  aggregate: about(
    z
      .strictObject({
        include: about(
          expression.optional(),
          "JSONata over the upstream row: whether the list has it.",
          'kind != "hidden"',
        ),
        max_items: about(z.int().positive(), "The longest upstream list.", 1000),
      })
      .optional(),
    "Fetches the upstream's whole list. The gateway filters, orders and pages its rows.",
    { max_items: 1000 },
  ),
  merge: about(
    z.record(name, name).optional(),
    "More upstream paths with parts of the object, by the name of their member in the upstream object. They are read together with it, and written separately if there is something to write.",
    { settings: "/account/settings" },
  ),
  rate_limit: about(z.enum(["create"]).optional(), "An additional rate limit.", "create"),
  prerequisites: about(
    z.array(name).optional(),
    "Prerequisites by their names in `pack.yaml`: requests before the call, for rules and values that need them.",
    ["author"],
  ),
  failures: about(
    failures.optional(),
    "The status and the code of the error where a check or a prerequisite has failed. Default: those of an invalid request, or of the upstream's error.",
    { checks: { status: 409, code: "conflict" } },
  ),
  if_match: about(
    name.optional(),
    "A prerequisite. The call has its `ETag` as `If-Match`: if the object has changed since, the upstream responds with 412 and changes nothing. `headers.request` needs `If-Match`.",
    "current",
  ),
  wait: about(
    z
      .strictObject({
        upstream: about(name, "The GET that is repeated.", "GET /books/{id}"),
        until: about(
          expression,
          "JSONata over its response, with `$query` and `$headers`.",
          'status = "running"',
        ),
        interval_ms: about(z.int().positive(), "Time between two requests.", 2000),
        timeout_ms: about(z.int().positive(), "Time after which the call is sent anyway.", 20_000),
      })
      .optional(),
    "A request that is repeated, before the call, until its response meets a condition.",
    { upstream: "GET /jobs/{id}", until: "done", interval_ms: 2000, timeout_ms: 20_000 },
  ),
  bulk: about(
    bulk.optional(),
    "The client sends many ids. Each is a call of `upstream`; the response has all results, each with its own failure.",
    { parameter: "id", ids: "ids", most: 50, list: { results: "$items" } },
  ),
  poll: about(
    poll.optional(),
    "The result of the call must be polled: the upstream responds with an operation. The client gets the result.",
    {
      upstream: "GET /operations/{response.id}",
      state: "status",
      done: ["succeeded"],
      interval_ms: 1000,
      timeout_ms: 20_000,
    },
  ),
  read_after: about(
    z
      .strictObject({
        upstream: about(
          name,
          "The GET after the call. `{response.id}` is a member of the upstream's response to it.",
          "GET /books/{id}",
        ),
        fallback: about(
          expression,
          "JSONata of the client's body if that GET fails: the call itself has succeeded.",
          '{ "id": $number($path.id) }',
        ),
      })
      .optional(),
    "A request after the call. Its response is used as the response of the route.",
    { upstream: "GET /books/{id}", fallback: '{ "id": $path.id }' },
  ),
  related: about(
    z.record(name, relatedRequest).optional(),
    "Related requests for the fields that need them. Each name is a member of `$related`.",
    { loan: { upstream: "GET /books/{id}/loan" } },
  ),
  retry: about(
    z
      .strictObject({
        without: about(name, "An upstream member that the gateway has added.", "label"),
      })
      .optional(),
    "If the upstream rejects only this member and the gateway has added it, the call is repeated without it.",
    { without: "label" },
  ),
  not_found_field: about(
    name.optional(),
    "The client's field of the error if the upstream does not find something and does not name it.",
    "copy",
  ),
  search: about(
    z.record(name, json).optional(),
    "For a list that the upstream reads by a POST: its JSON body, with the parameters that the upstream would get in the query as `$` names. `$filter` is the JSON of its filter header. Other parameters stay in the query.",
    { filter: "$filter", paging: { page: "$page", size: "$size" } },
  ),
  only_changes: about(
    z.union([z.literal(true), z.literal("items")]).optional(),
    "Only members that differ from the response of `read_route` are sent: a `PUT` becomes a `PATCH`. The others keep their upstream value. A list that differs is sent as a whole; with `items`, only its items that differ.",
    true,
  ),
  empty: about(
    name.optional(),
    "A message of `pack.yaml` for the 400 if the upstream's response has no body.",
    "unrestricted",
  ),
  read_route: about(
    name.optional(),
    "The client's route that reads the object. Clients may send back what it returns, even if the schema forbids it.",
    "GET /books/:id",
  ),
  without_scopes: about(
    name.optional(),
    "The object in the response for tokens without any scope. Without this key such tokens get 403.",
    "public_profile",
  ),
  tokens: about(
    z
      .strictObject({
        token: about(name, "The field with the token.", "token"),
        scopes: about(name, "The field with its scopes.", "scopes"),
        expires: about(name.optional(), "The field with its expiry.", "ends_at"),
        created: about(
          z.literal(true).optional(),
          "The upstream has just created the token: the response has the complete one.",
          true,
        ),
        deleted: about(
          z.literal(true).optional(),
          "The upstream deletes the token. `read_route` reads it before, to find what is stored about it.",
          true,
        ),
      })
      .optional(),
    "The objects are tokens. Levels that are requested for a new token are stored and enforced, and shown in place of the translated upstream scopes.",
    { token: "token", scopes: "scopes" },
  ),
});

export type RouteDefinition = z.infer<typeof route>;
