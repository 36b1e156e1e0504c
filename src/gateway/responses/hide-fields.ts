/** Field brown-outs: members that are left out of a response for a while. */
import { isObject, parseJson, printJson } from "../../base/index.ts";
import { keysOfObjects, type ResponseSources, type Route } from "../../pack/index.ts";
import { valuesAt } from "./response-objects.ts";
import type { HiddenField } from "../pipeline/plan.ts";

/** The header of a response that lacks fields because of the plan. */
export const FIELD_HEADER = "x-field-brown-out";

/** Removes a member, dotted when nested. */
function removeMember(object: unknown, [key = "", ...rest]: readonly string[]): void {
  if (!isObject(object) || !Object.hasOwn(object, key)) return;
  if (rest.length === 0) delete object[key];
  else removeMember(object[key], rest);
}

/** Removes a field. A pack may write a name with a dot as one member. */
function removeField(object: unknown, field: string): void {
  if (isObject(object) && Object.hasOwn(object, field)) removeMember(object, [field]);
  else removeMember(object, field.split("."));
}

/** Removes fields of the plan from responses of a pack. */
export interface FieldHider {
  /** The stages that concern the objects of a route. */
  hiddenIn(route: Route, stages: readonly HiddenField[]): readonly HiddenField[];
  /**
   * Removes fields from a response. The response is parsed again, since only few responses have fields to remove: others
   * need no time for it.
   *
   * @param body JSON text
   */
  hide(body: string | Buffer, stages: readonly HiddenField[], route: Route): string;
}

/** Creates what removes fields. Where a route has its objects is found once, when a plan first asks for it. */
export function createFieldHider(pack: ResponseSources): FieldHider {
  const known = new Map<Route, ReturnType<typeof keysOfObjects>>();
  function keysOf(route: Route): ReturnType<typeof keysOfObjects> {
    const found = known.get(route) ?? keysOfObjects(route, pack);
    known.set(route, found);
    return found;
  }
  return {
    hiddenIn: (route, stages) => stages.filter(({ object }) => keysOf(route).has(object)),
    hide(body, stages, route) {
      const parsed = parseJson(body.toString());
      for (const { object, field } of stages)
        for (const keys of keysOf(route).get(object) ?? [])
          for (const found of valuesAt(parsed, keys)) removeField(found, field);
      return printJson(parsed);
    },
  };
}
