import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { lookup as lookupName } from "../path.ts";
import { sequenceOf, type List } from "../sequence.ts";
import { setMember } from "../../../base/index.ts";
import { isNumeric } from "../values.ts";

function addKeys(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) for (const member of value) addKeys(member, names);
  else if (typeof value === "object" && value !== null)
    for (const name of Object.keys(value)) names.add(name);
}

/** `$keys`: names of the members of an object, or of all objects of a list. */
export function keys(value: unknown): List {
  const names = new Set<string>();
  addKeys(value, names);
  const ordered: Record<string, unknown> = {};
  if (Array.isArray(value)) for (const name of names) setMember(ordered, name, true);
  return sequenceOf(Array.isArray(value) ? Object.keys(ordered) : names);
}

/** `$lookup`: reads a member by name. */
export const lookup = (value: unknown, name: unknown): unknown => lookupName(value, name as string);

/** `$merge`: one object with the members of all objects. The last member of a name wins. */
export function merge(objects?: readonly object[]): Record<string, unknown> | undefined {
  if (objects === undefined) return undefined;
  const merged: Record<string, unknown> = {};
  for (const object of objects) {
    const members = Object.entries(object);
    tick(1 + members.length);
    for (const [name, value] of members) setMember(merged, name, value);
  }
  return merged;
}

/** `$type`: the name of the type of a value. */
export function type(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return isNumeric(value) ? "number" : "object";
  return typeof value;
}

/** `$assert`. @throws {Failure} D3141 If the condition is false. */
export function assert(condition?: boolean, message?: string): undefined {
  if (!condition) throw new Failure("D3141", 0, message || "$assert() does not hold");
}
