/** What can be done with any resource besides listing it: read, create, update, remove. */

import { dateTime } from "../clock.ts";
import type { FieldError } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import { applyFields, creatableFields, writableFields } from "../rules/apply.ts";
import { defaultValues } from "../rules/default-values.ts";
import { createValidator } from "../rules/check.ts";
import type { Fields } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import type { ResourceChain } from "./call.ts";
import { buildCollectionCall, buildRowCall } from "./call.ts";
import type {
  Call,
  CreateDeclaration,
  DeleteDeclaration,
  Resource,
  UpdateDeclaration,
} from "./declaration.ts";
import type { Endpoint } from "./endpoints.ts";
import { recordEvent } from "./events.ts";
import { grantToCreator, requireAddGrant } from "./grants.ts";
import { serializeRow } from "./list.ts";
import { homesFor, tableFor } from "./locate.ts";
import { throwInvalid } from "./refuse.ts";
import { deleteRow } from "./removal.ts";

type Run = Endpoint["run"];

export function createReadHandler(resource: Resource, chain: ResourceChain): Run {
  return function runRead(request) {
    return serializeRow(resource, buildRowCall(resource, chain, request, "read_only").row, request);
  };
}

export function createCreateHandler(
  resource: Resource,
  chain: ResourceChain,
  declared: CreateDeclaration,
): Run {
  const body = declared.body ?? creatableFields(resource.fields);
  const check = createValidator(body);
  // What the resource has no field for is taken and never shown: a password, what is made besides.
  const kept = Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(resource.fields, name)),
  );
  return function runCreate(request) {
    if (!resource.parent) requireAddGrant(resource, request.caller);
    const call = buildCollectionCall(resource, chain, request, resource.parent && "read_write");
    requireRoom(call, declared.maxRows);
    throwInvalid([
      ...check(call.body),
      ...uniquenessErrors(call, body),
      ...(declared.validate?.(call) ?? []),
    ]);
    declared.checkPreconditions?.(call);
    const row = declared.createRow?.(call) ?? createDefaultRow(call, declared, kept);
    if (!resource.parent) grantToCreator(resource, request.caller, row.id);
    return declared.buildResponse?.(row, call) ?? serializeRow(resource, row, request);
  };
}

function createDefaultRow(call: Call, declared: CreateDeclaration, kept: Fields): Row<object> {
  const { store, caller, at, resource, parents } = call;
  const table = tableFor(store, resource);
  const id = declared.id?.(call) ?? table.nextId();
  const value = defaultValues(resource.fields, at);
  if (resource.fields["id"]) value["id"] = id;
  applyFields(kept, call.body, value);
  Object.assign(value, declared.computeMembers?.(call, id));
  const row = table.add(homesFor(resource, caller, parents.at(-1)).at(-1) ?? "", id, value);
  const event = declared.event && recordEvent(call, declared.event, row, declared.durationSeconds);
  declared.afterCreate?.(call, row, event ? event.id : undefined);
  return row;
}

export function createUpdateHandler(
  resource: Resource,
  chain: ResourceChain,
  declared: UpdateDeclaration,
): Run {
  const fields = writableFields(resource.fields);
  const check = createValidator(fields);
  return function runUpdate(request) {
    const call = buildRowCall(resource, chain, request, "read_write");
    throwInvalid([
      ...check(call.body),
      ...uniquenessErrors(call, fields),
      ...(declared.validate?.(call) ?? []),
    ]);
    declared.checkPreconditions?.(call);
    const value = call.row.value as Record<string, unknown>;
    const before = declared.afterUpdate && structuredClone(value);
    applyFields(fields, call.body, value);
    if (resource.fields["updated"]) value["updated"] = dateTime(call.at);
    if (declared.event) recordEvent(call, declared.event, call.row);
    if (before) declared.afterUpdate?.(call, before);
    return declared.buildResponse?.(call.row, call) ?? serializeRow(resource, call.row, request);
  };
}

export function createDeleteHandler(
  resource: Resource,
  chain: ResourceChain,
  declared: DeleteDeclaration,
): Run {
  return function runRemove(request) {
    const call = buildRowCall(resource, chain, request, "read_write");
    declared.checkPreconditions?.(call);
    deleteRow(call, declared);
    return {};
  };
}

/** Members that are unique must not be those of another row. */
function uniquenessErrors(
  { store, caller, resource, parents, row, body }: Call,
  fields: Fields,
): FieldError[] {
  return Object.entries(fields).flatMap(([field, { unique }]) => {
    const wanted = body[field];
    if (!unique || wanted === undefined) return [];
    const table = tableFor(store, resource);
    const rows =
      unique === "everywhere"
        ? table.all()
        : table.inHome(homesFor(resource, caller, parents.at(-1)).at(-1) ?? "");
    for (const other of rows) {
      if (other !== row && other.value[field] === wanted)
        return [{ reason: `${field} is already in use`, field }];
    }
    return [];
  });
}

/** Memory is all there is to keep rows in. */
const defaultMaxRows = 50_000;

function requireRoom({ store, caller, resource, parents }: Call, most = defaultMaxRows): void {
  const home = homesFor(resource, caller, parents.at(-1)).at(-1) ?? "";
  if (tableFor(store, resource).count(home) >= most)
    throw invalid("A limit of this account has been reached");
}
