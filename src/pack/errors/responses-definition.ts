/** The schemas of `responses` of a side, and of `envelope` of a resource and of a route: the shapes of bodies. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { mediaType } from "../values/text-types.ts";
import { textKey } from "../values/key-schemas.ts";

const json = z.json();
const name = z.string().min(1);

const statusOrClass = z.union([z.int().min(400).max(599), z.enum(["4XX", "5XX"])]);

/** A shape for some errors. */
export const shapeRule = z.strictObject({
  status: about(
    z.union([statusOrClass, z.array(statusOrClass).min(1)]).optional(),
    "Errors with this status, or one of these. `4XX` is a class. Default: any.",
    [400, 422],
  ),
  code: about(
    z.union([name, z.array(name).min(1)]).optional(),
    "Errors with this code of this side, or one of these. Default: any.",
    ["sold_out"],
  ),
  fields: about(
    z.boolean().optional(),
    "Errors with (`true`) or without (`false`) a problem that has a field. Default: both.",
    true,
  ),
  shape: about(json, "The error as JSON, like `error`.", { $field: ["$message"] }),
});

/** The shapes of objects, lists and errors of one side. */
const shapes = {
  list: about(
    json.optional(),
    "A list as JSON, with `$items` and values of the page such as `$total`. Default: the array itself.",
    { $list: "$items", page: "$page", total: "$total" },
  ),
  item: about(
    json.optional(),
    "Each item of a list as JSON, with `$object` in a wrapper. Default: the item itself.",
    { $name: "$object" },
  ),
  object: about(
    json.optional(),
    "A single object as JSON, with `$object` in a wrapper. Default: the object itself.",
    { $name: "$object" },
  ),
  error: about(
    json.optional(),
    "An error as JSON, with `$message`, `$field` and others. Default: `{ message: $message }`.",
    { errors: [{ field: "$field", reason: "$message" }] },
  ),
  error_shapes: about(
    z.array(shapeRule).min(1).optional(),
    "Shapes of some errors. The first matching shape is used, before `error`.",
    [{ status: 422, fields: true, shape: { $field: ["$message"] } }],
  ),
  no_field: textKey("The value of `$field` for a problem without a field. Default: none.", "base"),
};

const emptyList = z.enum(["present", "omitted"]);
const EMPTY_LIST =
  "The array of an empty list is always there (`present`, the default), or may be missing or null (`omitted`).";

/** The shapes that a resource or a route may define. */
const ownShapes = {
  ...shapes,
  more_error_shapes: about(
    z.array(shapeRule).min(1).optional(),
    "Shapes that are tried before `error_shapes` and `error` of the resource and the pack.",
    [{ code: "sold_out", shape: { sold_out: true } }],
  ),
};

/** The shapes of a resource or route that differ from the pack's. */
export const envelope = z.strictObject({
  client: about(z.strictObject(ownShapes).optional(), "The shapes of the client.", {
    list: { entries: "$items" },
  }),
  upstream: about(
    z
      .strictObject({ ...ownShapes, empty_list: about(emptyList.optional(), EMPTY_LIST, "omitted") })
      .optional(),
    "The shapes of the upstream.",
    { object: { result: "$object" } },
  ),
});

const responses = z.strictObject(shapes);

/** The shapes of the upstream. */
export const upstreamResponses = responses.extend({
  field_indexes: about(
    z.enum(["brackets", "dots"]).default("dots"),
    "The index of an item: only `lines[0].sku` (`brackets`), or both this and `lines.0.sku` (`dots`, the default).",
    "brackets",
  ),
  empty_list: about(emptyList.default("present"), EMPTY_LIST, "omitted"),
});
/** The shapes of the client. */
export const clientResponses = responses.extend({
  field_indexes: about(
    z.enum(["none", "dots", "brackets"]).default("none"),
    "The index of an item in `$field`: `lines.0.sku` (`dots`), `lines[0].sku` (`brackets`), or `lines.sku` (`none`, the default).",
    "dots",
  ),
  error_media_type: about(
    mediaType.optional(),
    "The media type of errors. Default: as for all responses.",
    "application/problem+json",
  ),
  omit_null: about(
    z.boolean().default(false),
    "Fields without a value are left out of responses. Default: they are null.",
    true,
  ),
});

export type EnvelopeDefinition = z.infer<typeof envelope>;
