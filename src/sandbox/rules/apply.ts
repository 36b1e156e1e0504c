/** Puts the writable members of a checked PUT body into a stored object (v4: read-only ones are ignored). */

import type { Body } from "./check.ts";
import type { Field, Fields } from "./field.ts";

/** The members that PUT may write, nested ones included. */
export function writableFields(fields: Fields): Fields {
  const writable: Record<string, Field> = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field.write) {
      const { required: _, ...optional } = field;
      writable[name] = optional;
    } else if (field.type === "object" && field.members) {
      const members = writableFields(field.members);
      if (Object.keys(members).length > 0) writable[name] = { ...field, members };
    }
  }
  return writable;
}

/** The members that POST takes: those of PUT and those that are given once. */
export function creatableFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, { write, create }]) => write ?? create));
}

/** Writes in place. Members are taken by their declared names only, so `__proto__` in a body is inert. */
export function applyFields(fields: Fields, body: Body, target: Record<string, unknown>): void {
  for (const [name, field] of Object.entries(fields)) {
    if (!Object.hasOwn(body, name)) continue;
    const value = body[name];
    const inside = target[name];
    if (field.members && field.type === "object" && isObject(value) && isObject(inside)) {
      applyFields(field.members, value, inside);
    } else target[name] = value;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
