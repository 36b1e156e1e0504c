/** v4's operations, as tests compare with them: `v4-operations.json`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A type, with `?` where null is allowed; `@NAME` is one of the named shapes; or a shape with bounds and members. */
type Shape = string | ShapeRules;

interface ShapeRules {
  readonly is?: string;
  readonly null?: true;
  readonly members?: Readonly<Record<string, Shape>>;
  /** Names of the required members. */
  readonly needs?: readonly string[];
  readonly list?: Shape;
  readonly all?: readonly Shape[];
  readonly one?: readonly Shape[];
  readonly values?: readonly unknown[];
  readonly from?: number;
  readonly to?: number;
  readonly shortest?: number;
  readonly longest?: number;
  readonly pattern?: string;
}

interface V4Operation {
  readonly auth: string;
  readonly versions: readonly string[];
  readonly list?: true;
  /** Fields that a filter may name. */
  readonly filters?: readonly string[];
  readonly body?: Shape;
  readonly bodyRequired?: true;
  /** The body of a response with status 200. */
  readonly response?: Shape;
}

export interface V4Operations {
  /** By method and path: `GET /vm/instances/{vmId}`. */
  readonly operations: Readonly<Record<string, V4Operation>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

type Schema = Record<string, unknown>;

export const v4Operations = JSON.parse(
  readFileSync(join(import.meta.dirname, "v4-operations.json"), "utf8"),
) as V4Operations;

/** Members that keep their value, by their name in JSON Schema. */
const KEYWORDS = {
  values: "enum",
  from: "minimum",
  to: "maximum",
  shortest: "minLength",
  longest: "maxLength",
  pattern: "pattern",
} as const;

const orNull = (schema: Schema): Schema => ({ anyOf: [{ type: "null" }, schema] });

/** Returns the JSON Schema of a shape. Named shapes are `v4#/NAME`. */
export function toJsonSchema(shape: Shape): Schema {
  if (typeof shape === "string") {
    if (shape.startsWith("@")) return { $ref: `v4#/${shape.slice(1)}` };
    return shape.endsWith("?") ? orNull({ type: shape.slice(0, -1) }) : { type: shape };
  }
  const schema: Schema = {};
  if (shape.members) {
    const members = Object.entries(shape.members);
    schema["type"] = "object";
    schema["properties"] = Object.fromEntries(members.map(([name, each]) => [name, toJsonSchema(each)]));
  }
  if (shape.list !== undefined) Object.assign(schema, { type: "array", items: toJsonSchema(shape.list) });
  if (shape.is !== undefined) schema["type"] = shape.is;
  if (shape.needs) schema["required"] = shape.needs;
  if (shape.all) schema["allOf"] = shape.all.map(toJsonSchema);
  if (shape.one) schema["oneOf"] = shape.one.map(toJsonSchema);
  for (const [key, keyword] of Object.entries(KEYWORDS)) {
    const value = shape[key as keyof typeof KEYWORDS];
    if (value !== undefined) schema[keyword] = value;
  }
  return shape.null ? orNull(schema) : schema;
}

/** Returns one JSON Schema that has all named shapes. */
export const namedShapes = (): Schema => ({
  $id: "v4",
  ...Object.fromEntries(
    Object.entries(v4Operations.shapes).map(([name, each]) => [name, toJsonSchema(each)]),
  ),
});

/** The names of the members that a shape describes, through references; undefined where any may be. */
export function memberNames(shape: Shape): ReadonlySet<string> | undefined {
  if (typeof shape === "string") {
    const named = shape.startsWith("@") ? v4Operations.shapes[shape.slice(1)] : undefined;
    return named === undefined ? undefined : memberNames(named);
  }
  const sets = [...(shape.all ?? []), ...(shape.one ?? [])].flatMap((part) => memberNames(part) ?? []);
  if (!shape.members && sets.length === 0) return undefined;
  return new Set([...Object.keys(shape.members ?? {}), ...sets.flatMap((set) => [...set])]);
}
