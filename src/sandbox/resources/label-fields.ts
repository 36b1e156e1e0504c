/** Field rules for labels and tags that several resources share. */

import type { Field } from "../fields/field.ts";

/** Label of an instance: the documented rule, and alpha's default label, the product word, which is shorter. */
export const instanceLabel: Field = {
  type: "string",
  min: 3,
  max: 64,
  pattern: "[a-zA-Z0-9](?:(?!--|__|\\.\\.)[a-zA-Z0-9._-])*[a-zA-Z0-9]",
  alwaysAllowed: ["vm"],
};

export const tags: Field = { type: "strings", max: 500, items: { type: "string", min: 3, max: 50 } };
