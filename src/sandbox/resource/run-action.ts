/** The actions that a resource declares, on a row, on the collection or beside them. */

import { filterableFields } from "../filter/filterable.ts";
import type { Level } from "../resources/hidden.ts";
import { checking } from "../rules/check.ts";
import type { Row } from "../store/table.ts";
import type { Line } from "./call.ts";
import { callOnCollection, callOnRow } from "./call.ts";
import type { Action, ActionCall, Resource } from "./declaration.ts";
import type { Arrived, Endpoint } from "./endpoints.ts";
import { requireAdding } from "./grants.ts";
import { pageOfRows, shown } from "./list.ts";
import type { Resources } from "./locate.ts";
import { throwInvalid } from "./refuse.ts";

export function runAction(
  resource: Resource,
  line: Line,
  action: Action,
  resources: Resources,
): Endpoint["run"] {
  const check = checking(action.body ?? {});
  const asked = action.grant ?? (action.method === "GET" ? "read_only" : "read_write");
  const level: Level | undefined = asked === "none" || asked === "add" ? undefined : asked;
  const listed = resourceNamed(action.lists, resources);
  const showed = resourceNamed(action.shows, resources);
  const filterable = listed && filterableFields(listed.fields);

  function callOf(arrived: Arrived): ActionCall {
    if (asked === "add") requireAdding(resource, arrived.caller);
    if ((action.on ?? "row") === "row") {
      return { ...callOnRow(resource, line, arrived, asked === "add" ? "read_only" : level), action };
    }
    const of = action.on === "collection" ? line : [resource];
    // An action on no row is handed none; those that are declared so never look at it.
    return { ...callOnCollection(resource, of, arrived, level), action } as ActionCall;
  }

  return function runAction(arrived) {
    const call = callOf(arrived);
    throwInvalid([...check(call.body), ...(action.check?.(call) ?? [])]);
    const result = action.run(call);
    if (listed && filterable) return pageOfRows(listed, filterable, result as Row<object>[], arrived);
    if (showed) return shown(showed, result as Row<object>, arrived);
    return result === undefined ? {} : result;
  };
}

function resourceNamed(name: string | undefined, resources: Resources): Resource | undefined {
  if (name === undefined) return undefined;
  const found = resources.get(name);
  if (!found) throw new Error(`No resource is called ${name}`);
  return found;
}
