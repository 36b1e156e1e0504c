/** The keys of a field about responses in which the upstream has no value. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import type { FieldKeys } from "./field-key.ts";

const schemas = {
  default: about(z.json().optional(), "The value in responses if the upstream sends null or no value.", ""),
  omit_null: about(
    z.boolean().optional(),
    "The field is left out of responses if it has no value. Default: `client.responses.omit_null`.",
    true,
  ),
};

export const absence: FieldKeys<typeof schemas> = { schemas };
