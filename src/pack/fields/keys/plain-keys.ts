/** Keys of a field that other files of the pack read: they have no more than a schema, or one hook. */
import { z } from "zod";
import { about, SEVERITIES } from "../../../base/index.ts";
import { needsKey } from "../../key-rules.ts";
import type { FieldKeys } from "./field-key.ts";

const absenceSchemas = {
  default: about(z.json().optional(), "The value in responses if the upstream sends null or no value.", ""),
  omit_null: about(
    z.boolean().optional(),
    "The field is left out of responses if it has no value. Default: `client.responses.omit_null`.",
    true,
  ),
};

export const absence: FieldKeys<typeof absenceSchemas> = { schemas: absenceSchemas };

const asArraySchemas = {
  as_array: about(z.boolean().optional(), "The client gets an array with the value as its only item.", true),
};

export const asArray: FieldKeys<typeof asArraySchemas> = {
  schemas: asArraySchemas,
  makesList: ({ as_array: isSo = false }) => isSo,
  classOf: ({ as_array: isSo }) => (isSo ? "value" : undefined),
  texts: ({ as_array: isSo }) =>
    isSo
      ? [
          {
            read: "as the only item of a list",
            change: (client) => `One value; ${client} had a list with one item.`,
          },
        ]
      : [],
  openapi: ({ as_array: isSo }, object) => (isSo && object ? { type: "array", items: object } : undefined),
};

const bodyFormsSchemas = {
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

export const bodyForms: FieldKeys<typeof bodyFormsSchemas> = {
  schemas: bodyFormsSchemas,
  filter: ({ accepts }, { id }) => (accepts?.includes("object") ? { reference: true, idName: id } : {}),
};

const errorsSchemas = {
  error_field: about(
    z.string().min(1).optional(),
    "The client's field in upstream errors about it: a member below it, or `whole` for the field itself.",
    "threshold",
  ),
};

export const errors: FieldKeys<typeof errorsSchemas> = {
  schemas: errorsSchemas,
  error: ({ error_field: error }) => (error === undefined ? {} : { error }),
};

const lossesSchemas = {
  loss: about(z.string().optional(), "What the translation loses, as text.", "upstream has no owner"),
  loss_when: about(
    z.string().min(1).optional(),
    "JSONata, as in `read`: whether this object loses something.",
    "$value > 100",
  ),
  severity: about(
    z.enum(SEVERITIES).optional(),
    "How much the loss matters: `rounding`, `detail` (the default) or `meaning`.",
    "rounding",
  ),
};

export const losses: FieldKeys<typeof lossesSchemas> = {
  schemas: lossesSchemas,
  rules: { loss_when: [needsKey("loss")], severity: [needsKey("loss")] },
};
