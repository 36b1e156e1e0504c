/** v4's operations, as tests compare with them: `v4-operations.json`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A type, with `?` where null is allowed; `@NAME` is one of the named shapes; or a shape with bounds and members. */
type Shape = string | ShapeRules;

/** Names with blanks between them, or other values. */
type Names = string | readonly unknown[];

interface ShapeRules {
  /** Default: a string, where it has values or bounds. */
  readonly is?: string;
  readonly null?: true;
  readonly members?: Readonly<Record<string, Shape>>;
  /** Names of the required members. */
  readonly needs?: Names;
  readonly list?: Shape;
  readonly all?: readonly Shape[];
  readonly one?: readonly Shape[];
  readonly values?: Names;
  readonly from?: number;
  readonly to?: number;
  readonly shortest?: number;
  readonly longest?: number;
  readonly pattern?: string;
}

interface StoredOperation {
  /** Default: required. */
  readonly auth?: "none" | "optional";
  /** Whether only `/v4beta` has it. */
  readonly beta?: true;
  /** The items of a paged list, which is the response. */
  readonly list?: Shape;
  /** Fields that a filter may name. */
  readonly filters?: string;
  readonly body?: Shape;
  readonly bodyRequired?: true;
  /** The body of a response with status 200. */
  readonly response?: Shape;
}

interface Stored {
  /** By method and path: `GET /vm/instances/{vmId}`. */
  readonly operations: Readonly<Record<string, StoredOperation>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

type Schema = Record<string, unknown>;

const stored = JSON.parse(readFileSync(join(import.meta.dirname, "v4-operations.json"), "utf8")) as Stored;

const pageOf = (item: Shape): Shape => ({
  members: { data: { list: item }, page: "integer", pages: "integer", results: "integer" },
});

const operations = Object.entries(stored.operations).map(([call, { list, ...operation }]) => [
  call,
  {
    auth: "required",
    ...operation,
    isList: list !== undefined,
    ...(list !== undefined && { response: pageOf(list) }),
  },
]);

export const v4Operations = {
  shapes: stored.shapes,
  operations: Object.fromEntries(operations) as Readonly<
    Record<
      string,
      Omit<StoredOperation, "auth" | "list"> & { readonly auth: string; readonly isList: boolean }
    >
  >,
};

const namesOf = (names: Names): readonly unknown[] => (typeof names === "string" ? names.split(" ") : names);

/** Members that keep their value, by their name in JSON Schema. */
const KEYWORDS = {
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
  const { is, values, needs, shortest, longest, pattern } = shape;
  const isText = typeof values === "string" || (shortest ?? longest ?? pattern) !== undefined;
  if (is !== undefined || isText) schema["type"] = is ?? "string";
  if (values) schema["enum"] = namesOf(values);
  if (needs) schema["required"] = namesOf(needs);
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
