import type { SourceLocation } from "../load/source-location.ts";

/** The members of an object in their order: a member is a field, by its dotted name, or an object itself. */
export type OutputTree = ReadonlyMap<string, string | OutputTree>;

/** How dotted names stand inside each other. */
export function buildOutputTree(
  names: Iterable<string>,
  placeOf: (name: string) => SourceLocation,
): OutputTree {
  const shape = new Map<string, string | OutputTree>();
  for (const name of names) {
    const keys = name.split(".");
    const last = keys.pop() ?? name;
    let object = shape;
    for (const key of keys) {
      const inner = object.get(key) ?? new Map<string, string | OutputTree>();
      if (typeof inner === "string") placeOf(name).report(`"${inner}" is a field already, and no object`);
      else object = object.set(key, inner).get(key) as typeof shape;
    }
    if (object.has(last)) placeOf(name).report("other fields stand inside this one");
    else object.set(last, name);
  }
  return shape;
}
