/** Turns a request into a call on a collection or a row, once the caller is known to reach it. */

import type { Level } from "../resources/hidden.ts";
import type { Row } from "../store/table.ts";
import type { Call, RowCall, Resource } from "./declaration.ts";
import type { EndpointRequest } from "./endpoints.ts";
import { requireAccess } from "./grants.ts";
import { findRows } from "./locate.ts";

/** A resource with those above it, outermost first. */
export type ResourceChain = readonly Resource[];

/** @throws {Problem} 404 where a row above does not exist, 403 where the caller may not reach it. */
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

/** @throws {Problem} 404 where the row does not exist, 403 where the caller may not reach it. */
export function buildRowCall(
  resource: Resource,
  chain: ResourceChain,
  request: EndpointRequest,
  level?: Level,
): RowCall {
  const rows = findRows(request.store, request.caller, chain, request.params);
  if (level) requireAccess(chain[0] ?? resource, rows[0], level, request);
  return { ...contextOf(request), resource, row: rows.at(-1) as Row<object>, parents: rows.slice(0, -1) };
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
