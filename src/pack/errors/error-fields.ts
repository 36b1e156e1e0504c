/** The names of fields in errors: dotted names with indexes (`lines[0].sku`), and JSON pointers. */

/** How a dialect writes the index of an item in the name of a field: `lines.0.sku`, `lines[0].sku`, or not at all. */
export type FieldIndexes = "none" | "dots" | "brackets";

/** A dotted name as a JSON pointer (RFC 6901): `address.lines[0]` → `/address/lines/0`. */
export const toPointer = (field: string): string =>
  `/${field
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((key) => key.replaceAll("~", "~0").replaceAll("/", "~1"))
    .join("/")}`;

/** A JSON pointer, also one in a fragment (`#/a/b`), as a dotted name. */
export const fromPointer = (pointer: string): string =>
  pointer
    .replace(/^#?\//, "")
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");

/** Writes indexes that are keys (`lines.0.sku`) in brackets (`lines[0].sku`). */
export const withBrackets = (field: string): string => field.replaceAll(/\.(\d+)(?=[.[]|$)/g, "[$1]");

/** Returns the name of a field with the indexes of a dialect. @param field with indexes in brackets */
export function formatIndexes(field: string, indexes: FieldIndexes): string {
  if (indexes === "brackets" || !field.includes("[")) return field;
  return field.replaceAll(/\[(\d+)\]/g, indexes === "dots" ? ".$1" : "").replace(/^\./, "");
}
