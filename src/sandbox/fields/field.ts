/**
 * How a member is described: in the fields of a resource and in the bodies of its calls. Plain data with
 * no functions and no regular expressions, so that the service's own words can be put into it.
 */

import { dateTime } from "../clock.ts";
import type { Body } from "./validate-body.ts";

export type FieldType =
  | "string"
  | "date-time"
  | "integer"
  | "number"
  | "boolean"
  | "object"
  | "strings"
  | "integers"
  | "objects";

export interface Field {
  readonly type: FieldType;
  readonly nullable?: true;
  /** Usable in `X-Filter`. */
  readonly filter?: true;
  /** Accepted in PUT; other members of a PUT body are ignored. */
  readonly write?: true;
  /** Accepted in POST, beside those that PUT accepts. */
  readonly create?: true;
  /** Must be in the body of POST and of an action. */
  readonly required?: true;
  /** What it is where nobody says; default the empty value of its type, null where that is allowed. */
  readonly default?: unknown;
  /** No two rows beside each other have the same, or no two of the service. */
  readonly unique?: "siblings" | "everywhere";
  /** Least and most characters of a string, value of a number, or items of an array. */
  readonly min?: number;
  readonly max?: number;
  /** A regular expression that the whole string must match. */
  readonly pattern?: string;
  /** Strings that are right whatever `min` and `pattern` say. */
  readonly alwaysAllowed?: readonly string[];
  /** The only strings allowed. */
  readonly values?: readonly string[];
  /** The members of an object, or of each item of an array of objects; without it any member is kept. */
  readonly members?: Fields;
  /** The rule that each item of an array of strings keeps. */
  readonly items?: Field;
}

export type Fields = Readonly<Record<string, Field>>;

// A new object out of the description of its members: each has its declared value, or the empty one of its type.

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

// Puts the writable members of a checked PUT body into a stored object (v4: read-only ones are ignored).

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
