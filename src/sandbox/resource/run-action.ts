/** The actions that a resource declares, on a row, on the collection or beside them. */

import { filterableFields } from "../filter/filterable.ts";
import type { Level } from "../resources/hidden.ts";
import { createValidator } from "../rules/check.ts";
import type { Row } from "../store/table.ts";
import type { ResourceChain } from "./call.ts";
import { buildCollectionCall, buildRowCall } from "./call.ts";
import type { Action, ActionCall, Resource } from "./declaration.ts";
import type { EndpointRequest, Endpoint } from "./endpoints.ts";
import { requireAddGrant } from "./grants.ts";
import { paginateRows, serializeRow } from "./list.ts";
import type { Resources } from "./locate.ts";
import { throwInvalid } from "./refuse.ts";

export function createActionHandler(
  resource: Resource,
  chain: ResourceChain,
  action: Action,
  resources: Resources,
): Endpoint["run"] {
  const check = createValidator(action.body ?? {});
  const asked = action.grant ?? (action.method === "GET" ? "read_only" : "read_write");
  const level: Level | undefined = asked === "none" || asked === "add" ? undefined : asked;
  const listed = requireResource(action.returnsRows, resources);
  const showed = requireResource(action.returnsRow, resources);
  const filterable = listed && filterableFields(listed.fields);

  function callOf(request: EndpointRequest): ActionCall {
    if (asked === "add") requireAddGrant(resource, request.caller);
    if ((action.on ?? "row") === "row") {
      return { ...buildRowCall(resource, chain, request, asked === "add" ? "read_only" : level), action };
    }
    const of = action.on === "collection" ? chain : [resource];
    // An action on no row is handed none; those that are declared so never look at it.
    return { ...buildCollectionCall(resource, of, request, level), action } as ActionCall;
  }

  return function runAction(request) {
    const call = callOf(request);
    throwInvalid([...check(call.body), ...(action.validate?.(call) ?? [])]);
    const result = action.run(call);
    if (listed && filterable) return paginateRows(listed, filterable, result as Row<object>[], request);
    if (showed) return serializeRow(showed, result as Row<object>, request);
    return result === undefined ? {} : result;
  };
}

function requireResource(name: string | undefined, resources: Resources): Resource | undefined {
  if (name === undefined) return undefined;
  const found = resources.get(name);
  if (!found) throw new Error(`No resource is called ${name}`);
  return found;
}
