import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../dialect/json/parse.ts";
import type { JsonObject } from "../translation-context.ts";

/** Items of a list are told apart by their ids; what an item leaves out keeps what it has. */
function changedItems(given: readonly unknown[], shown: readonly unknown[], reference: string): unknown[] {
  // The first of an id counts.
  const byId = new Map(
    shown.toReversed().flatMap((each) => (isObject(each) ? [[each[reference], each] as const] : [])),
  );
  return given.flatMap((item) => {
    const now = isObject(item) ? byId.get(item[reference]) : undefined;
    if (now === undefined) return [item];
    const whole = { ...now, ...(item as JsonObject) };
    return isDeepStrictEqual(whole, now) ? [] : [whole];
  });
}

/** Of what a client sends, the members and items that differ from what it is shown. */
export function changedMembers(given: JsonObject, shown: unknown, reference: string): JsonObject {
  const now = isObject(shown) ? shown : {};
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
      const old = now[name];
      if (isDeepStrictEqual(value, old)) return [];
      if (Array.isArray(value) && Array.isArray(old)) {
        const items = changedItems(value, old, reference);
        return items.length === 0 ? [] : [[name, items]];
      }
      if (!isObject(value) || !isObject(old)) return [[name, value]];
      const members = changedMembers(value, old, reference);
      return Object.keys(members).length === 0 ? [] : [[name, members]];
    }),
  );
}
