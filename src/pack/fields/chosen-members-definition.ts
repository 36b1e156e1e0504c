/** How clients choose the members of the objects in a response, for all routes and for one route. */
import { z } from "zod";
import { about } from "../../base/index.ts";

const name = z.string().min(1);

const definition = z.strictObject({
  parameter: about(
    name,
    "The parameter with the names of members. `{name}` in it is the `object` of the resource.",
    "fields",
  ),
  multiple: about(
    z.enum(["repeat", "comma"]).default("comma"),
    "Names are separated by commas (`fields=a,b`, the default), or repeated (`fields=a&fields=b`).",
    "repeat",
  ),
  always: about(z.array(name).default([]), "Members that are always included.", ["id"]),
  unknown: about(
    z.enum(["ignore", "reject"]).default("ignore"),
    "Unknown names have no effect (the default), or get status 400.",
    "reject",
  ),
});

export type MemberChoice = z.infer<typeof definition>;

/** The key of `client`, for all routes. */
export const clientChoice = about(
  definition.optional(),
  "How clients choose members of objects. Default: they get all members.",
  { parameter: "fields", always: ["id"] },
);

/** The key of a route. */
export const routeChoice = about(
  z.union([z.literal("none"), definition]).optional(),
  "How clients choose the members of this route's objects, or `none`. Default: as in `client`.",
  { parameter: "fields", always: ["id"] },
);
