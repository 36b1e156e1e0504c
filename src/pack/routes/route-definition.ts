/** The schema of `routes` in a resource file. */
import { z } from "zod";
import { keySchemas } from "../keys/route-keys.ts";

/** The schema of one route. */
export const route = z.strictObject(keySchemas);

export type RouteDefinition = z.infer<typeof route>;
