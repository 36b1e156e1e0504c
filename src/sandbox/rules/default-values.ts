/** A new object out of the description of its members: each has its declared value, or the empty one of its type. */

import { dateTime } from "../clock.ts";
import type { Field, Fields } from "./field.ts";

/** @param at The time that `created` and `updated` get, in milliseconds. */
export function defaultValues(fields: Fields, at: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const made = field.type === "date-time" && (name === "created" || name === "updated");
      return [name, made ? dateTime(at) : defaultValue(field, at)];
    }),
  );
}

function defaultValue(field: Field, at: number): unknown {
  if (field.default !== undefined) return structuredClone(field.default);
  if (field.nullable) return null;
  if (field.type === "object") return defaultValues(field.members ?? {}, at);
  if (field.type === "boolean") return false;
  if (field.type === "integer" || field.type === "number") return 0;
  return field.type === "string" || field.type === "date-time" ? "" : [];
}
