/** Alpha's surface, as tests compare with it: `alpha-surface.json`. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A type, with `?` where null is allowed and `[]` for a list; `@NAME` is one of the named objects; or an object by its
 * members, or a list with one of these. A member whose name ends in ` (optional)` may be missing.
 */
type Shape = string | readonly [Shape] | { readonly [member: string]: Shape };

export interface AlphaSurface {
  /** By method and path, without `/v4`. Path parameters are `:id`, `:address`, … */
  readonly routes: Readonly<Record<string, AlphaRoute>>;
  readonly objects: Readonly<Record<string, Shape>>;
  /** The values of a text, `instance status` or `event action`. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

interface AlphaRoute {
  /** `RESOURCE:LEVEL`, `token` for any token, or `public`. */
  readonly scope: string;
  /** The name of the list in the response. */
  readonly list?: string;
}

export const alphaSurface = JSON.parse(
  readFileSync(join(import.meta.dirname, "alpha-surface.json"), "utf8"),
) as AlphaSurface;

const OPTIONAL = " (optional)";

/**
 * Returns the types of an object's fields by their dotted names, `a.b[].c`. Null is left out of a type, and `?` at its
 * end marks an optional field.
 */
export function fieldTypes(shape: Shape, name = ""): Record<string, string> {
  if (typeof shape === "string") return { [name]: shape.replace("@", "").replace("?", "") };
  if (Array.isArray(shape)) return fieldTypes((shape as readonly [Shape])[0], `${name}[]`);
  const members = Object.entries(shape).flatMap(([key, member]) => {
    const memberName = key.replace(OPTIONAL, "");
    const types = Object.entries(fieldTypes(member, name === "" ? memberName : `${name}.${memberName}`));
    return types.map(([field, type]) => [field, key === memberName ? type : `${type}?`] as const);
  });
  return Object.fromEntries(members);
}
