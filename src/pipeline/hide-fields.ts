/** Field brown-outs: members that are left out of a response for a while. */
import { isObject, parseJson, printJson } from "../dialect/json/parse.ts";
import { findPath, valueAt, type Shape } from "../dialect/shape.ts";
import type { Route } from "../mapping/compile/route.ts";
import type { FieldStage } from "../sunset/plan.ts";

/** The header of a response that lacks fields because of the plan. */
export const FIELD_HEADER = "x-field-brown-out";

/** Removes a member, dotted when nested. */
function removeMember(object: unknown, [key = "", ...rest]: readonly string[]): void {
  if (!isObject(object) || !Object.hasOwn(object, key)) return;
  if (rest.length === 0) delete object[key];
  else removeMember(object[key], rest);
}

/** The objects of a response: the one, or the items of a list. */
export function objectsOf(body: unknown, route: Route, listShape: Shape): readonly unknown[] {
  if (route.bulk) return route.bulk.objectsIn(body);
  if (route.response !== "list") return [valueAt(body, route.clientPath)];
  const items = valueAt(body, findPath(listShape, "items", { list: route.list }) ?? []);
  return Array.isArray(items) ? items.map((item) => valueAt(item, route.clientPath)) : [];
}

/** The stages that concern the objects of a route. */
export const hiddenIn = ({ responseObjects }: Route, stages: readonly FieldStage[]): readonly FieldStage[] =>
  stages.filter(({ object }) => responseObjects.includes(object));

/**
 * Removes fields from a response. The response is parsed again, since only few responses have fields to remove: others
 * need no time for it.
 *
 * @param body JSON text
 * @param listShape of the client's lists
 */
export function hideFields(
  body: string | Buffer,
  stages: readonly FieldStage[],
  route: Route,
  listShape: Shape,
): string {
  const parsed = parseJson(body.toString());
  const objects = objectsOf(parsed, route, listShape);
  for (const { field } of stages)
    for (const object of objects) {
      // A pack may write a name with a dot as one member.
      if (isObject(object) && Object.hasOwn(object, field)) removeMember(object, [field]);
      else removeMember(object, field.split("."));
    }
  return printJson(parsed);
}
