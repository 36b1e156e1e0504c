/**
 * The description of a member, in the fields of a resource and in request bodies. It is plain data without
 * functions and regular expressions, so that product words in it can be renamed.
 */

import { dateTime } from "../clock.ts";

/** The body of a request. */
export type Body = Readonly<Record<string, unknown>>;

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
  /** Whether lists can be filtered by the member with `X-Filter`. */
  readonly filter?: true;
  /** Whether PUT accepts the member; other members of a PUT body are ignored. */
  readonly write?: true;
  /** Whether POST accepts the member, like all members that PUT accepts. */
  readonly create?: true;
  /** Whether the bodies of POST and of an action must contain the member. */
  readonly required?: true;
  /** Value of a new row. If omitted: null if nullable, otherwise the empty value of the type. */
  readonly default?: unknown;
  /** Whether the value must be unique among the rows of its home, or in the whole service. */
  readonly unique?: "siblings" | "everywhere";
  /** Bounds of a string's length, a number's value or an array's length. */
  readonly min?: number;
  readonly max?: number;
  /** A regular expression that the whole string must match. */
  readonly pattern?: string;
  /** Strings that are valid regardless of `min` and `pattern`. */
  readonly alwaysAllowed?: readonly string[];
  /** The only strings allowed. */
  readonly values?: readonly string[];
  /** Members of an object, or of each object of an array. If omitted, any member is stored. */
  readonly members?: Fields;
  /** Description of the items of an array of strings. */
  readonly items?: Field;
}

export type Fields = Readonly<Record<string, Field>>;

// The default values of a new row.

/** Returns an object with all members at their default. @param at Value of `created` and `updated`, in milliseconds. */
export function defaultValues(fields: Fields, at: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const isCreationTime = field.type === "date-time" && (name === "created" || name === "updated");
      return [name, isCreationTime ? dateTime(at) : defaultValue(field, at)];
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

// Writing the members of a validated body to a row (v4: read-only members are ignored).

/** Returns the members that PUT accepts, including nested ones. */
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

/** Returns the members that POST accepts: the members of PUT and the members that can be set only once. */
export function creatableFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, { write, create }]) => write ?? create));
}

/** Writes body members to `target` in place. Only declared names are read, so `__proto__` has no effect. */
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

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
