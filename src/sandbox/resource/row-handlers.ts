/** Handlers of a row: read, create, update, delete and declared actions. */

import { dateTime } from "../clock.ts";
import { type Fields, applyFields, creatableFields, defaultValues, writableFields } from "../fields/field.ts";
import { createValidator } from "../fields/validate-body.ts";
import { filterableFields } from "../filter/filterable-fields.ts";
import { type FieldError, invalid, throwInvalid } from "../http/problem.ts";
import type { Level } from "../resources/hidden-state.ts";
import type { Row } from "../store/store-table.ts";
import { grantToCreator, requireAddGrant } from "./access-control.ts";
import { recordEvent } from "./event-log.ts";
import {
  type ResourceChain,
  type Resources,
  buildCollectionCall,
  buildRowCall,
  homeOf,
  tableFor,
} from "./find-rows.ts";
import { paginateRows, serializeRow } from "./list-handler.ts";
import type {
  Action,
  ActionCall,
  Call,
  CreateDeclaration,
  DeleteDeclaration,
  Endpoint,
  EndpointRequest,
  Resource,
  UpdateDeclaration,
} from "./resource-declaration.ts";
import { deleteCascade, finishing, jobStages, startTransition } from "./transitions.ts";

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
  // Body members without a field of the resource are accepted but not stored, e.g. a password.
  const storedFields = Object.fromEntries(
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
    const row = declared.createRow?.(call) ?? createDefaultRow(call, declared, storedFields);
    if (!resource.parent) grantToCreator(resource, request.caller, row.id);
    return declared.buildResponse?.(row, call) ?? serializeRow(resource, row, request);
  };
}

function createDefaultRow(call: Call, declared: CreateDeclaration, storedFields: Fields): Row {
  const { store, at, resource } = call;
  const table = tableFor(store, resource);
  const id = declared.id?.(call) ?? table.nextId();
  const value = defaultValues(resource.fields, at);
  if (resource.fields["id"]) value["id"] = id;
  applyFields(storedFields, call.body, value);
  Object.assign(value, declared.computeMembers?.(call, id));
  const row = table.add(homeOf(call), id, value);
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
    const { value } = call.row;
    const before = declared.afterUpdate && structuredClone(value);
    applyFields(fields, call.body, value);
    if (resource.fields["updated"]) value["updated"] = dateTime(call.at);
    if (declared.event) recordEvent(call, declared.event, call.row);
    if (before) declared.afterUpdate?.(call, before);
    return serializeRow(resource, call.row, request);
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

/** Returns an error for each unique member whose value belongs to a different row, too. */
function uniquenessErrors(call: Call, fields: Fields): FieldError[] {
  const { store, resource, row, body } = call;
  return Object.entries(fields).flatMap(([field, { unique }]) => {
    const wanted = body[field];
    if (!unique || wanted === undefined) return [];
    const table = tableFor(store, resource);
    const rows = unique === "everywhere" ? table.all() : table.inHome(homeOf(call));
    for (const other of rows) {
      if (other !== row && other.value[field] === wanted)
        return [{ reason: `${field} is already in use`, field }];
    }
    return [];
  });
}

/** Default maximum number of rows per home. All rows are kept in memory. */
const defaultMaxRows = 50_000;

function requireRoom(call: Call, most = defaultMaxRows): void {
  if (tableFor(call.store, call.resource).count(homeOf(call)) >= most)
    throw invalid("A limit of this account has been reached");
}

// DELETE: a row has the status `deleting` first, if declared, and is then deleted with its children.

function deleteRow(
  call: Call & { readonly row: Row },
  { event, durationSeconds = 0 }: DeleteDeclaration,
): void {
  const { store, at, resource, row } = call;
  // A second DELETE must not delay the deletion.
  const ends = at + durationSeconds * 1000;
  const planned = store.timeline.pending.some(
    (step) =>
      step.drop &&
      step.id === row.id &&
      step.job === row.job &&
      step.table === resource.name &&
      step.at <= ends,
  );
  if (row.value["status"] === "deleting" && planned) return;
  const recorded = event === undefined ? undefined : recordEvent(call, event, row, durationSeconds);
  if (durationSeconds === 0) return deleteCascade(store, resource.name, row);
  const stages = jobStages("deleting", durationSeconds, "deleting");
  startTransition(store, resource.name, row, at, stages, { drop: true, ...finishing(recorded?.id) });
}

// Declared actions on a row, the collection or the service.

export function createActionHandler(
  resource: Resource,
  chain: ResourceChain,
  action: Action,
  resources: Resources,
): Endpoint["run"] {
  const check = createValidator(action.body ?? {});
  const requiredGrant = action.grant ?? (action.method === "GET" ? "read_only" : "read_write");
  const level: Level | undefined =
    requiredGrant === "none" || requiredGrant === "add" ? undefined : requiredGrant;
  const listed = requireResource(action.returnsRows, resources);
  const showed = requireResource(action.returnsRow, resources);
  const filterable = listed && filterableFields(listed.fields);

  function callOf(request: EndpointRequest): ActionCall {
    if (requiredGrant === "add") requireAddGrant(resource, request.caller);
    if ((action.on ?? "row") === "row") {
      return {
        ...buildRowCall(resource, chain, request, requiredGrant === "add" ? "read_only" : level),
        action,
      };
    }
    const actionChain = action.on === "collection" ? chain : [resource];
    // Actions on the collection or service get no row, because their functions do not use a row.
    return { ...buildCollectionCall(resource, actionChain, request, level), action } as ActionCall;
  }

  return function runAction(request) {
    const call = callOf(request);
    throwInvalid([...check(call.body), ...(action.validate?.(call) ?? [])]);
    const result = action.run(call);
    if (listed && filterable) return paginateRows(listed, filterable, result as Row[], request);
    if (showed) return serializeRow(showed, result as Row, request);
    return result === undefined ? {} : result;
  };
}

function requireResource(name: string | undefined, resources: Resources): Resource | undefined {
  if (name === undefined) return undefined;
  const found = resources.get(name);
  if (!found) throw new Error(`No resource is called ${name}`);
  return found;
}
