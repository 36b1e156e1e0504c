/** Finds the rows that a path names, from the outermost to the innermost, among those visible to the caller. */

import type { FieldError } from "../http/problem.ts";
import { notFound } from "../http/problem.ts";
import type { Level } from "../resources/hidden-state.ts";
import type { RowTypes } from "../resources/row-types.ts";
import type { Row, Table } from "../store/store-table.ts";
import { childHome, publicHome, userHome } from "../store/homes.ts";
import { requireAccess } from "./access-control.ts";
import type { Caller } from "../http/request-types.ts";
import type { Call, EndpointRequest, Resource, RowCall, Store } from "./resource-declaration.ts";

export type Params = Readonly<Record<string, string>>;

/** All resources by name. */
export type Resources = ReadonlyMap<string, Resource>;

/** Returns the parent of the row that the path names. @throws {Error} if the resource has no parent. */
export function parentOf({ parents }: Pick<Call, "parents">): Row {
  const row = parents.at(-1);
  if (!row) throw new Error("The resource has no parent");
  return row;
}

/** Returns the resource and its ancestors, outermost first. */
export function resourceChain(resource: Resource, resources: Resources): readonly Resource[] {
  const parent = resource.parent && resources.get(resource.parent);
  return parent ? [...resourceChain(parent, resources), resource] : [resource];
}

/**
 * Finds the rows of a path.
 *
 * @param chain The resources whose rows the path names, outermost first.
 * @throws {Problem} 404 if one of them does not exist, or belongs to a different account or parent.
 */
function findRows(store: Store, caller: Caller, chain: readonly Resource[], params: Params): readonly Row[] {
  const rows: Row[] = [];
  for (const resource of chain) {
    const row = tableFor(store, resource).get(idFromPath(resource, caller, params));
    if (!row || !homesFor(resource, caller, rows.at(-1)).includes(row.home)) throw notFound();
    rows.push(row);
  }
  return rows;
}

/** Returns the homes of the rows of a collection that the caller may see. */
export function homesFor(resource: Resource, caller: Caller, parents: Row | undefined): readonly string[] {
  if (resource.parent) return parents ? [childHome(resource.parent, parents.id)] : [];
  if (resource.owner === "everyone") return [publicHome];
  if (resource.owner === "user") return [userHome(caller.user)];
  return resource.owner === "account" ? [caller.account] : [publicHome, caller.account];
}

/** Returns the home of the rows that the caller may add to the collection. */
export function homeOf({ resource, caller, parents }: Call): string {
  return homesFor(resource, caller, parents.at(-1)).at(-1) ?? "";
}

export function tableFor(store: Store, resource: Resource): Table {
  return store.table<keyof RowTypes>(resource.table ?? resource.name);
}

function idFromPath({ id, name }: Resource, caller: Caller, params: Params): number | string {
  const text = params[name] ?? "";
  if (id === "perAccount") return caller.account;
  if (id === "perUser") return caller.user;
  if (id === "twoSegments") return `${params["first"] ?? ""}/${text}`;
  if (id !== "integer") return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

/** Returns an error for each body member that is not the id of a row of its table. */
export function unknownIds(
  { store, body }: Call,
  tables: Readonly<Record<string, keyof RowTypes>>,
): FieldError[] {
  return Object.entries(tables).flatMap(([field, table]): FieldError[] => {
    const id = body[field] ?? undefined;
    const unknown = id !== undefined && !store.table(table).get(id);
    return unknown ? [{ reason: `${field} is not valid`, field }] : [];
  });
}

// Building the call context of a request after the access check.

/** A resource with its ancestors, outermost first. */
export type ResourceChain = readonly Resource[];

/** Creates the call of a collection. @throws {Problem} 404 if a parent row does not exist, 403 if access is denied. */
export function buildCollectionCall(
  resource: Resource,
  chain: ResourceChain,
  request: EndpointRequest,
  level?: Level,
): Call {
  const parents = findRows(request.store, request.caller, chain.slice(0, -1), request.params);
  if (level) requireAccess(chain[0] ?? resource, parents[0], level, request);
  return { ...contextOf(request), resource, parents };
}

/** Creates the call of a row. @throws {Problem} 404 if the row does not exist, 403 if access is denied. */
export function buildRowCall(
  resource: Resource,
  chain: ResourceChain,
  request: EndpointRequest,
  level?: Level,
): RowCall {
  const rows = findRows(request.store, request.caller, chain, request.params);
  if (level) requireAccess(chain[0] ?? resource, rows[0], level, request);
  const row = rows.at(-1);
  if (!row) throw notFound();
  return { ...contextOf(request), resource, row, parents: rows.slice(0, -1) };
}

function contextOf({
  store,
  caller,
  at,
  body,
  params,
  upload,
}: EndpointRequest): Omit<Call, "resource" | "parents"> {
  return { store, caller, at, body, params, ...(upload && { upload }) };
}
