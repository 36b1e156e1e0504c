import { isDeepStrictEqual } from "node:util";
import { isObject, setMember } from "../../base/index.ts";
import type { Change, JsonObject } from "../translation-context.ts";

/** Returns the items that differ from the current items with the same id. Members that an item omits keep their value. */
function changedItems(given: readonly unknown[], shown: readonly unknown[], reference: string): unknown[] {
  // If several items have the same id, the first one is used.
  const byId = new Map(
    shown.toReversed().flatMap((each) => (isObject(each) ? [[each[reference], each] as const] : [])),
  );
  return given.flatMap((item) => {
    const now = isObject(item) ? byId.get(item[reference]) : undefined;
    if (now === undefined || !isObject(item)) return [item];
    const whole = { ...now, ...item };
    return isDeepStrictEqual(whole, now) ? [] : [whole];
  });
}

/** Finds the differences between a value and the current one. */
function changeOf(value: unknown, old: unknown, reference: string | undefined): Change<unknown> {
  const unchanged = { changed: undefined, before: value };
  if (isDeepStrictEqual(value, old)) return unchanged;
  if (reference !== undefined && Array.isArray(value) && Array.isArray(old)) {
    const items = changedItems(value, old, reference);
    return items.length === 0 ? unchanged : { changed: items, before: old };
  }
  if (!isObject(value) || !isObject(old)) return { changed: value, before: old };
  const change = changedMembers(value, old, reference);
  return Object.keys(change.changed).length === 0 ? unchanged : change;
}

/**
 * Finds the members of a body that differ from the current object, as a JSON merge patch (RFC 7396): only the changed
 * members of an object, and a changed list as a whole.
 *
 * @param given The body of the client.
 * @param shown The current alpha object.
 * @param reference The member with the id of an item, if only the changed items of a list are sent.
 */
export function changedMembers(
  given: JsonObject,
  shown: unknown,
  reference: string | undefined,
): Change<JsonObject> {
  const now = isObject(shown) ? shown : {};
  const [changed, before]: [JsonObject, JsonObject] = [{}, {}];
  for (const [name, value] of Object.entries(given)) {
    const change = changeOf(value, now[name], reference);
    if (change.changed !== undefined) setMember(changed, name, change.changed);
    if (change.before !== undefined) setMember(before, name, change.before);
  }
  return { changed, before };
}
