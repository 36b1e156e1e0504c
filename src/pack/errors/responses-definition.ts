/** The schemas of `responses` of a side, and of `envelope` of a resource and of a route: the shapes of bodies. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { mediaType } from "../fields/text-types.ts";

const json = z.json();
const name = z.string().min(1);

const listShape = about(
  json.optional(),
  "A list as JSON, with `$items` where the items are. `$total`, `$has_more`, `$next_cursor` and others are values of the page; `$list` is the key `list` of the resource. Other values are constants. Default: the array itself.",
  { $list: "$items", page: "$page", total: "$total" },
);

const errorShape = about(
  json.optional(),
  "An error as JSON. An array, or an object with the key `$field`, has the problems; `$message` and `$field` are values. Default: `{ message: $message }`.",
  { errors: [{ field: "$field", reason: "$message" }] },
);

const statusOrClass = z.union([z.int().min(400).max(599), z.enum(["4XX", "5XX"])]);

const errorShapes = about(
  z
    .array(
      z.strictObject({
        status: about(
          z.union([statusOrClass, z.array(statusOrClass).min(1)]).optional(),
          "Errors with this status, or with one of several. `4XX` is a class. Default: any.",
          [400, 422],
        ),
        fields: about(
          z.boolean().optional(),
          "Errors with a problem that has a field (`true`), or without one (`false`). Default: both.",
          true,
        ),
        shape: about(json, "The error as JSON, like `error`.", { $field: ["$message"] }),
      }),
    )
    .min(1)
    .optional(),
  "Shapes of some errors, by status and by whether problems have fields. The first that an error fits counts, before `error`.",
  [{ status: 422, fields: true, shape: { $field: ["$message"] } }],
);

const noField = about(
  name.optional(),
  "What `$field` is of a problem without a field. Default: its member is left out.",
  "base",
);

const objectShape = about(
  json.optional(),
  "A single object as JSON, with `$object` where it is: a wrapper. `$name` is the `object` of the resource, in the upstream its `upstream_object`. Default: the object itself.",
  { $name: "$object" },
);

const itemShape = about(
  json.optional(),
  "Each item of a list as JSON, with `$object` where it is: a wrapper as in `object`. Default: the item itself.",
  { $name: "$object" },
);

/** The shapes of objects, lists and errors of one side. */
const shapes = {
  list: listShape,
  item: itemShape,
  object: objectShape,
  error: errorShape,
  error_shapes: errorShapes,
  no_field: noField,
};

const emptyList = z.enum(["present", "omitted"]);
const EMPTY_LIST =
  "Whether an empty list has the member with its items: always (`present`, the default), or it may be left out or null (`omitted`).";

/** The shapes of one resource or route, where they differ from those of the pack. */
export const envelope = z.strictObject({
  client: about(z.strictObject(shapes).optional(), "The shapes of the client.", {
    list: { entries: "$items" },
  }),
  upstream: about(
    z.strictObject({ ...shapes, empty_list: about(emptyList.optional(), EMPTY_LIST, "omitted") }).optional(),
    "The shapes of the upstream.",
    { object: { result: "$object" } },
  ),
});

const responses = z.strictObject(shapes);
const errorMediaType = about(
  mediaType.optional(),
  "The media type of errors. Default: that of all responses.",
  "application/problem+json",
);

/** The shapes of the upstream. */
export const upstreamResponses = responses.extend({
  field_indexes: about(
    z.enum(["brackets", "dots"]).default("dots"),
    "How errors write the index of an item: `lines[0].sku` only (`brackets`), or `lines.0.sku` as well (`dots`, the default).",
    "brackets",
  ),
  empty_list: about(emptyList.default("present"), EMPTY_LIST, "omitted"),
});
/** The shapes of the client. */
export const clientResponses = responses.extend({
  field_indexes: about(
    z.enum(["none", "dots", "brackets"]).default("none"),
    "How errors write the index of an item in a `$field`: `lines.0.sku` (`dots`), `lines[0].sku` (`brackets`), or `lines.sku` (`none`, the default). A `$pointer` always has it.",
    "dots",
  ),
  error_media_type: errorMediaType,
  omit_null: about(
    z.boolean().default(false),
    "Whether fields without a value are left out of responses. Default: they are null.",
    true,
  ),
});

export type EnvelopeDefinition = z.infer<typeof envelope>;
