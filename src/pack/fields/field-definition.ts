/** The schema of one field. */
import { z } from "zod";
import { fieldSchemas } from "./keys/field-keys.ts";

/** The rule of one field. It serves all four translations: response, body, filter, and field of an error. */
const fieldRule = z.strictObject(fieldSchemas);

/** A field: its rule, or in short form only its upstream name. */
export const field = z.preprocess(
  (rule) => (typeof rule === "string" ? { upstream: rule } : rule),
  fieldRule,
);

export type FieldRule = z.infer<typeof fieldRule>;
