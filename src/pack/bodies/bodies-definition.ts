/** The schemas of `bodies` of both dialects, and of the same keys of one body. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { mediaType } from "../values/text-types.ts";

const json = z.json();

const clientObject = about(
  json.optional(),
  "The body as JSON, with `$object` in a wrapper. `$name` is `object` of the resource. Default: the object itself.",
  { customer: "$object" },
);
const upstreamObject = about(
  json.optional(),
  "The body as JSON, with `$object` in a wrapper. `$name` is `upstream_object`, other `$` names are path parameters, other values constants. Default: the object itself.",
  { client: "$object" },
);
const unknown = about(
  z.enum(["ignore", "reject"]).optional(),
  "Members that the schema lacks are left out (the default), or are errors.",
  "reject",
);
const bodyType = mediaType.refine((type) => !type.endsWith("/*"), "a body has one exact media type");

const upstreamType = about(
  bodyType.optional(),
  "The media type of bodies. `application/x-www-form-urlencoded` is a form, others are JSON. Default: `application/json`.",
  "application/merge-patch+json",
);
const lists = about(
  z.enum(["brackets", "indexes", "repeat"]).optional(),
  "How a form repeats the values of a list: `tags[]=a` (the default), `tags[0]=a` or `tags=a`.",
  "indexes",
);

const objects = about(
  z.enum(["indexes", "brackets"]).optional(),
  "How a form writes the objects in a list: `items[0][name]=a` (the default) or `items[][name]=a`.",
  "brackets",
);

/** The schema of `client.bodies`. */
export const clientBodies = z.strictObject({
  media_types: about(
    z.array(bodyType).min(1).optional(),
    "Media types that clients may send. `application/x-www-form-urlencoded` is a form, others are JSON. Default: JSON, even with the form type of `curl -d`.",
    ["application/x-www-form-urlencoded", "application/json"],
  ),
  null_body: about(
    z.literal("absent").optional(),
    "With `absent`, the body `null` is treated as no body. Default: it is an error.",
    "absent",
  ),
  object: clientObject,
  unknown,
});

/** The schema of `upstream.bodies`, and of `upstream` of one body. */
export const upstreamBodies = z.strictObject({
  media_type: upstreamType,
  lists,
  objects,
  object: upstreamObject,
});

/** The schema of `client` of one body. */
export const clientBody = z.strictObject({ object: clientObject, unknown });

export type ClientBodiesDefinition = z.infer<typeof clientBodies>;
export type UpstreamBodiesDefinition = z.infer<typeof upstreamBodies>;
