/** What can be done with any resource besides listing it: read, create, update, remove. */

import { dateTime } from "../clock.ts";
import type { Fault } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import { applyFields, creatableFields, writableFields } from "../rules/apply.ts";
import { blank } from "../rules/default-values.ts";
import { checking } from "../rules/check.ts";
import type { Fields } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import type { Line } from "./call.ts";
import { callOnCollection, callOnRow } from "./call.ts";
import type { Call, CollectionCreate, Removal, Resource, Update } from "./declaration.ts";
import type { Endpoint } from "./endpoints.ts";
import { record } from "./events.ts";
import { grantMaker, requireAdding } from "./grants.ts";
import { shown } from "./list.ts";
import { homesOf, tableOf } from "./locate.ts";
import { throwInvalid } from "./refuse.ts";
import { removeRow } from "./removal.ts";

type Run = Endpoint["run"];

export function read(resource: Resource, line: Line): Run {
  return function runRead(arrived) {
    return shown(resource, callOnRow(resource, line, arrived, "read_only").row, arrived);
  };
}

export function create(resource: Resource, line: Line, declared: CollectionCreate): Run {
  const body = declared.body ?? creatableFields(resource.fields);
  const check = checking(body);
  // What the resource has no field for is taken and never shown: a password, what is made besides.
  const kept = Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(resource.fields, name)),
  );
  return function runCreate(arrived) {
    if (!resource.parent) requireAdding(resource, arrived.caller);
    const call = callOnCollection(resource, line, arrived, resource.parent && "read_write");
    refuseMore(call, declared.most);
    throwInvalid([...check(call.body), ...taken(call, body), ...(declared.check?.(call) ?? [])]);
    declared.guard?.(call);
    const row = declared.make?.(call) ?? makeRow(call, declared, kept);
    if (!resource.parent) grantMaker(resource, arrived.caller, row.id);
    return declared.answer?.(row, call) ?? shown(resource, row, arrived);
  };
}

function makeRow(call: Call, declared: CollectionCreate, kept: Fields): Row<object> {
  const { world, caller, at, resource, above } = call;
  const table = tableOf(world, resource);
  const id = declared.id?.(call) ?? table.nextId();
  const value = blank(resource.fields, at);
  if (resource.fields["id"]) value["id"] = id;
  applyFields(kept, call.body, value);
  Object.assign(value, declared.fill?.(call, id));
  const row = table.add(homesOf(resource, caller, above.at(-1)).at(-1) ?? "", id, value);
  const event = declared.event && record(call, declared.event, row, declared.takes);
  declared.made?.(call, row, event ? event.id : undefined);
  return row;
}

export function update(resource: Resource, line: Line, declared: Update): Run {
  const fields = writableFields(resource.fields);
  const check = checking(fields);
  return function runUpdate(arrived) {
    const call = callOnRow(resource, line, arrived, "read_write");
    throwInvalid([...check(call.body), ...taken(call, fields), ...(declared.check?.(call) ?? [])]);
    declared.guard?.(call);
    const value = call.row.value as Record<string, unknown>;
    const before = declared.changed && structuredClone(value);
    applyFields(fields, call.body, value);
    if (resource.fields["updated"]) value["updated"] = dateTime(call.at);
    if (declared.event) record(call, declared.event, call.row);
    if (before) declared.changed?.(call, before);
    return declared.answer?.(call.row, call) ?? shown(resource, call.row, arrived);
  };
}

export function remove(resource: Resource, line: Line, declared: Removal): Run {
  return function runRemove(arrived) {
    const call = callOnRow(resource, line, arrived, "read_write");
    declared.guard?.(call);
    removeRow(call, declared);
    return {};
  };
}

/** Members that are unique must not be those of another row. */
function taken({ world, caller, resource, above, row, body }: Call, fields: Fields): Fault[] {
  return Object.entries(fields).flatMap(([field, { unique }]) => {
    const wanted = body[field];
    if (!unique || wanted === undefined) return [];
    const table = tableOf(world, resource);
    const rows =
      unique === "everywhere" ? table.all() : table.of(homesOf(resource, caller, above.at(-1)).at(-1) ?? "");
    for (const other of rows) {
      if (other !== row && other.value[field] === wanted)
        return [{ reason: `${field} is already in use`, field }];
    }
    return [];
  });
}

/** Memory is all there is to keep rows in. */
const usualMost = 50_000;

function refuseMore({ world, caller, resource, above }: Call, most = usualMost): void {
  const home = homesOf(resource, caller, above.at(-1)).at(-1) ?? "";
  if (tableOf(world, resource).count(home) >= most) throw invalid("A limit of this account has been reached");
}
