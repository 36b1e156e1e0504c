/** The keys of a field about other forms in which bodies and filters may have it. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import type { FieldKeys } from "./field-key.ts";

const schemas = {
  aliases: about(
    z.array(z.string().min(1)).optional(),
    "Other names of the member that clients may use in bodies.",
    ["zone_id"],
  ),
  accepts: about(
    z.array(z.enum(["object", "json"])).optional(),
    "Other forms of the value in bodies: `object` (an object with an `id`) and `json` (JSON as a text).",
    ["object"],
  ),
};

export const bodyForms: FieldKeys<typeof schemas> = {
  schemas,
  filter: ({ accepts }, { id }) => (accepts?.includes("object") ? { reference: true, idName: id } : {}),
};
