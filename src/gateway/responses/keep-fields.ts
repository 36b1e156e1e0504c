/** Responses with the members that the client asks for. */
import { isObject, parseJson, printJson } from "../../base/index.ts";
import { type ChosenMembers, objectKeys, type Route } from "../../pack/index.ts";
import { valuesAt } from "./response-objects.ts";

/** Removes all members but the chosen ones, in the objects of a list too. */
function keepMembers(value: unknown, chosen: ChosenMembers): void {
  if (Array.isArray(value)) return value.forEach((item) => keepMembers(item, chosen));
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(chosen, name)) delete value[name];
    else if (chosen[name]) keepMembers(value[name], chosen[name]);
  }
}

/**
 * Leaves out of a response what the client has not asked for. The response is parsed again: others need no time for it.
 *
 * @param body JSON text
 */
export function keepFields(body: string | Buffer, chosen: ChosenMembers, route: Route): string {
  const parsed = parseJson(body.toString());
  for (const object of valuesAt(parsed, objectKeys(route))) keepMembers(object, chosen);
  return printJson(parsed);
}
