/** What may stand in `surface.yaml`: all that the old interface has, whether or not the pack serves it. */
import { z } from "zod";

/**
 * Type of a field: `string`, `number`, `integer`, `boolean`, `date-time`, `object` (of any shape), `any`, or the name
 * of an object. `[]` behind it makes a list of them, ` | null` allows null, and `?` at the end says that it may be
 * left out.
 */
const TYPE = /^([a-z][\w-]*)((?:\[\])*)( \| null)?(\?)?$/;

const typeText = z.string().regex(TYPE, "not a type");

export const surfaceDefinition = z.strictObject({
  /** Every object with all of its fields; `a.b` lies in `a`, `a[].b` in every member of the list `a`. */
  objects: z.record(z.string().min(1), z.record(z.string().min(1), typeText)),
  /** Every route, `GET /books/:id`; the names of parameters don't matter. */
  routes: z.array(z.string().regex(/^(GET|POST|PUT|DELETE) \/\S*$/, "not METHOD /path")),
});

export type SurfaceDefinition = z.infer<typeof surfaceDefinition>;

/** A field's type, read. */
export interface FieldType {
  /** `string`, …, or the name of an object. */
  readonly name: string;
  /** How many lists stand around it. */
  readonly lists: number;
  readonly nullable: boolean;
  readonly optional: boolean;
}

/** Names of types that are no objects. */
export const PLAIN_TYPES: ReadonlySet<string> = new Set([
  "string",
  "number",
  "integer",
  "boolean",
  "date-time",
  "object",
  "any",
]);

/** Reads a type that has been checked. */
export function readType(text: string): FieldType {
  const [, name = "any", lists = "", nullable, optional] = TYPE.exec(text) ?? [];
  return {
    name,
    lists: lists.length / 2,
    nullable: nullable !== undefined,
    optional: optional !== undefined,
  };
}
