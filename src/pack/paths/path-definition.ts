/** The schema of path parameters, for a pack and for a resource, and of the slashes of paths. */
import { z } from "zod";
import { about } from "../../base/index.ts";
import { textKey } from "../values/key-schemas.ts";

const name = z.string().min(1);

const pathParameterType = z.enum(["integer", "text", "path", "ip", "ip4", "ip6"]);
const pathParameterRule = z.strictObject({
  type: about(
    pathParameterType.default("text"),
    "The type of the value. Default: one segment of text.",
    "integer",
  ),
  values: textKey("A value kind of `pack.yaml`. An untranslatable value gets status 404.", "reader_id"),
});

/** Path parameters by name. */
export const pathParameters = z.record(name, z.union([pathParameterType, pathParameterRule]));

export type PathParameterDefinitions = z.infer<typeof pathParameters>;

/** The schema of the slashes of a path that are significant. */
export const slashes = z.strictObject({
  trailing: about(
    z.enum(["any", "exact"]).optional(),
    "A trailing slash has no effect (`any`, the default), or must be as in the route (`exact`).",
    "exact",
  ),
  doubled: about(
    z.enum(["any", "reject"]).optional(),
    "Several slashes are like one (`any`, the default), or get status 404 (`reject`).",
    "reject",
  ),
});
