/** The key `as_array` of a field. */
import { z } from "zod";
import { about } from "../../../base/index.ts";
import type { FieldKeys } from "./field-key.ts";

const schemas = {
  as_array: about(z.boolean().optional(), "The client gets an array with the value as its only item.", true),
};

export const asArray: FieldKeys<typeof schemas> = {
  schemas,
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
