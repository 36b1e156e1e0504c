/** The schema of resource files. Unknown keys are errors, because they would have no effect. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { checkDefinition } from "../expressions/check-definition.ts";
import { clientBody, upstreamBodies } from "../bodies/bodies-definition.ts";
import { field } from "../fields/field-definition.ts";
import { envelope } from "../errors/responses-definition.ts";
import { catalogPagination } from "../lists/pagination-definition.ts";
import { pathParameters } from "../paths/path-definition.ts";
import { route } from "../keys/route-keys.ts";
import { textKey } from "../values/key-schemas.ts";

const json = z.json();
const name = z.string().min(1);
const expression = z.string().min(1);

const bodyDefinition = z.strictObject({
  parts: about(z.array(name).optional(), "Shared parts of `pack.yaml` whose members and rules are added.", [
    "deployment",
  ]),
  schema: about(
    z.record(z.string(), json).default({ type: "object", properties: {} }),
    "JSON Schema of the client's members. `message` in any part is the text of its errors, except of a missing member. With `type: array`, each item of the body is translated. Default: no members.",
    { type: "object", required: ["label"], properties: { label: { type: "string" } } },
  ),
  client: about(clientBody.optional(), "Keys of `client.bodies` that differ for this body.", {
    object: { customer: "$object" },
  }),
  upstream: about(upstreamBodies.optional(), "Keys of `upstream.bodies` that differ for this body.", {
    media_type: "application/merge-patch+json",
  }),
  set: about(z.record(z.string(), json).optional(), "Upstream members that the gateway always sends.", {
    booted: false,
  }),
  default: about(
    z.record(z.string(), json).optional(),
    "Upstream members that the gateway sends if the client has not sent them.",
    { label: "book" },
  ),
  from_path: about(
    z.record(z.string(), name).optional(),
    "Upstream members whose value is a path parameter.",
    { domain_id: "id" },
  ),
  from_body: about(
    z.record(z.string(), expression).optional(),
    "Upstream members computed from the client's body. A null result is sent.",
    { currency: '$substringAfter(price, " ")' },
  ),
  from_calls: about(
    z.record(z.string(), name).optional(),
    "Upstream members with the value of a call before the main call, or with a part of it. A member without a value is not sent.",
    { hold: "hold.id" },
  ),
  to_path: about(
    z.record(z.string(), name).optional(),
    "Path parameters of the upstream, each with the member of the body that becomes its value.",
    { id: "client_id" },
  ),
  merge_with: about(
    z.union([name, z.record(z.string(), name)]).optional(),
    "The current value, if the upstream replaces whole objects: a call before the main call, or a path in its response. A text merges the whole object, a map merges single members. A list of catalog ids keeps hidden ids.",
    { helpers: "config.helpers" },
  ),
  checks: about(
    z
      .array(
        checkDefinition(
          about(name, "The client's field that is invalid.", "shelf"),
          'size < 10 ? "Must be at least 10."',
        ),
      )
      .optional(),
    "Rules that a schema can't express.",
    [{ field: "size", message: 'size < 10 ? "Must be at least 10."' }],
  ),
});

const catalog = z.strictObject({
  upstream: about(
    z.array(
      z.strictObject({
        request: about(name, "The GET of the list.", "GET /regions"),
        filter: about(z.record(z.string(), json).optional(), "A condition in the upstream's filter form.", {
          deprecated: false,
        }),
        pagination: catalogPagination,
        optional: about(z.boolean().optional(), "The upstream may have no such list.", true),
        listed: about(
          z.boolean().optional(),
          "With `false`, its items appear only in objects that refer to them.",
          false,
        ),
      }),
    ),
    "The upstream lists from which the catalog is loaded.",
    [{ request: "GET /regions" }],
  ),
  id: textKey("The member with the id of a row, a text. Default: `upstream.id` of `pack.yaml`.", "code"),
  ids: textKey("A value kind for the ids: a table, or a compiled `read` and `write`.", "shelf_id"),
  closed: about(z.boolean().optional(), "Only the ids of the table of `ids` are accepted and listed.", true),
  accepts: about(
    z.record(name, name).optional(),
    "Additional ids that requests may use, with their upstream ids.",
    { latest: "sea/new" },
  ),
  ignore_case: about(z.boolean().optional(), "Ids in requests are compared case-insensitively.", true),
  hidden_prefix: textKey(
    "Upstream ids with this prefix are never shown. Fields with such an id are null.",
    "cellar/",
  ),
  stub: about(
    expression,
    "JSONata of the object for an unknown id, over `$id`, `$name` and the upstream object that refers to it.",
    '{ "id": $id, "label": $id }',
  ),
  opposites: about(
    z.record(name, name).optional(),
    "Additional filter names, each with the boolean field that it negates.",
    { deprecated: "in_print" },
  ),
  with_token: textKey(
    "Reads the list with a client's token. JSONata: the items to cache. Default: no token.",
    "visible",
  ),
});

/** The keys of an object that do not depend on its routes. */
const objectKeys = {
  fields: about(
    z.record(name, field).optional(),
    "Fields by the client's names, dotted if nested. Optional with `extends`.",
    { name: { upstream: "label", filter: true } },
  ),
  inputs: about(z.record(name, field).optional(), "Members that only bodies and filters contain.", {
    root_pass: "root_password",
  }),
  error_fields: about(
    z.record(name, name).optional(),
    "Upstream members, dotted, each with the client's field in the upstream's errors. `lines.price` is for all items of a list, `lines[0].price` for one item.",
    { first_name: "name", "lines.price": "amount", "lines[0]": "first_line" },
  ),
};

/** A small object inside the file of a larger object. */
const innerObject = z
  .strictObject({
    extends: textKey("An object whose fields come before this object's.", "book"),
    ...objectKeys,
  })
  .refine((object) => object.fields ?? object.extends, { path: ["fields"] })
  .transform((object) => ({ ...object, fields: object.fields ?? {} }));

const resourceFile = z.strictObject({
  object: about(name, "Name of the resource.", "book"),
  extends: textKey("An object whose fields come before this object's.", "book"),
  upstream_object: textKey("The upstream's `$name`. Default: `object`.", "item"),
  list: textKey("The client's `$list`: the array of a list.", "books"),
  upstream_list: textKey("The upstream's `$list`. Default: `list`.", "items"),
  envelope: about(
    envelope.optional(),
    "Shapes that differ from `responses` of the pack, for all routes of this resource.",
    { upstream: { object: { result: "$object" } } },
  ),
  catalog: about(catalog.optional(), "Makes the resource a catalog.", {
    upstream: [{ request: "GET /regions" }],
    stub: '{ "id": $id }',
  }),
  ...objectKeys,
  path_parameters: about(
    pathParameters.optional(),
    "Path parameters of its routes that differ from `client.path_parameters`.",
    { id: { values: "book_id" } },
  ),
  bodies: about(z.record(name, bodyDefinition).optional(), "Request bodies of its routes, by name.", {
    create: { schema: { type: "object", properties: { name: { type: "string" } } } },
  }),
  objects: about(
    z.record(name, innerObject).optional(),
    "Small objects without a file, for fields or responses, by names that are unique in the pack.",
    { binding: { fields: { kind: "type" } } },
  ),
  routes: about(z.array(route).optional(), "Its routes.", [
    { client: "GET /books", upstream: "GET /books", response: "list" },
  ]),
});

/** The schema of a resource file. */
export const resourceDefinition = resourceFile
  .refine((file) => file.fields ?? file.extends, { path: ["fields"] })
  .transform((file) => ({ ...file, fields: file.fields ?? {} }));

export type ResourceDefinition = z.infer<typeof resourceDefinition>;
export type BodyDefinition = z.infer<typeof bodyDefinition>;
export type CatalogDefinition = z.infer<typeof catalog>;
