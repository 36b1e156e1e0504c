/**
 * Keys of a field that need no file of their own. Every export is a family of keys. They convert the value of the
 * client: after the other families in responses, and before them in bodies.
 */
import { z } from "zod";
import { about, SEVERITIES } from "../../../base/index.ts";
import { needsKey } from "../../key-rules.ts";
import { fieldKeys } from "./field-key.ts";
import { textKey } from "../../values/key-schemas.ts";

export const absence = fieldKeys({
  schemas: {
    default: about(z.json().optional(), "The value in responses if the upstream sends null or no value.", ""),
    omit_null: about(
      z.boolean().optional(),
      "The field is left out of responses if it has no value. Default: `client.responses.omit_null`.",
      true,
    ),
  },
});

export const asArray = fieldKeys({
  schemas: {
    as_array: about(
      z.boolean().optional(),
      "The client gets an array with the value as its only item.",
      true,
    ),
  },
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
});

export const bodyForms = fieldKeys({
  schemas: {
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
  },
  operand: ({ accepts }, { id }) => ({ reference: accepts?.includes("object") ?? false, idName: id }),
  select: ({ accepts }) => (accepts?.includes("object") ? { hasId: true } : {}),
});

export const errors = fieldKeys({
  schemas: {
    error_field: textKey(
      "The client's field in upstream errors about it: a member below it, or `whole` for the field itself.",
      "threshold",
    ),
  },
  error: ({ error_field: error }) => (error === undefined ? {} : { error }),
});

export const losses = fieldKeys({
  schemas: {
    loss: about(z.string().optional(), "A text that describes the loss.", "upstream has no owner"),
    loss_when: textKey("JSONata, as in `read`: whether this object loses something.", "$value > 100"),
    severity: about(
      z.enum(SEVERITIES).optional(),
      "How much the loss matters: `rounding`, `detail` (the default) or `meaning`.",
      "rounding",
    ),
  },
  rules: { loss_when: [needsKey("loss")], severity: [needsKey("loss")] },
});
