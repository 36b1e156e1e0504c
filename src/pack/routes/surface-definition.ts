/** The schema of `surface.yaml`: everything that the old API contains, whether or not the pack maps it. */
import { z } from "zod";
import { about } from "../../base/index.ts";

/**
 * Matches the type of a field: `string`, `number`, `integer`, `boolean`, `date-time`, `object` (of any shape), `any`,
 * or the name of an object. `[]` makes a list, `
 * null` allows null, and `?` at the end marks an optional field.
 */
const TYPE = /^([a-z][\w-]*)((?:\[\])*)( \| null)?(\?)?$/;

const typeText = z.string().regex(TYPE, "not a type");

/** The schema of `surface.yaml`. */
export const surfaceDefinition = z.strictObject({
  objects: about(
    z.record(z.string().min(1), z.record(z.string().min(1), typeText)),
    "Every object with all its fields and their types. `a.b` is a member of `a`, `a[].b` one of every member of the list `a`.",
    { volume: { id: "integer", name: "string | null" } },
  ),
  routes: about(
    z.array(z.string().regex(/^(GET|POST|PUT|PATCH|DELETE) \/\S*$/, "not METHOD /path")),
    "Every route. The names of parameters don't matter.",
    ["GET /books/:id"],
  ),
  open: about(
    z.record(z.string().min(1), z.string()).default({}),
    "What is not known yet, with how much it is used: a route, an object, `object.field`, or any other point. The pack need not map it. `check` lists it until the pack does.",
    { "GET /books/:id/cover": "12 calls", "book.binding": "3 routes" },
  ),
});

export type SurfaceDefinition = z.infer<typeof surfaceDefinition>;

/** The parsed type of a field. */
export interface FieldType {
  /** The name of the type: `string`, …, or the name of an object. */
  readonly name: string;
  /** Number of nested lists around the type. */
  readonly lists: number;
  readonly nullable: boolean;
  readonly optional: boolean;
}

/** Names of types that are not declared objects. */
export const PLAIN_TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "date-time",
  "object",
  "any",
]);

/** Parses a valid type. */
export function readType(text: string): FieldType {
  const [, name = "any", lists = "", nullable, optional] = TYPE.exec(text) ?? [];
  return {
    name,
    lists: lists.length / 2,
    nullable: nullable !== undefined,
    optional: optional !== undefined,
  };
}
