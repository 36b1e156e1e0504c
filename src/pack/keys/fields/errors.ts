/** The key `error_field` of a field: what an error of the upstream about it names. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import type { FieldKeys } from "./field-key.ts";

const schemas = {
  error_field: about(
    z.string().min(1).optional(),
    "The client's field in errors about it: a member below it, or `whole` for the field itself.",
    "threshold",
  ),
};

export const errors: FieldKeys<typeof schemas> = {
  schemas,
  error: ({ error_field: error }) => (error === undefined ? {} : { error }),
};
