/** Turns a request into a call on a collection or a row, once the caller is known to reach it. */

import type { Level } from "../resources/hidden.ts";
import type { Row } from "../store/table.ts";
import type { Call, CallOnRow, Resource } from "./declaration.ts";
import type { Arrived } from "./endpoints.ts";
import { requireReach } from "./grants.ts";
import { locate } from "./locate.ts";

/** A resource with those above it, outermost first. */
export type Line = readonly Resource[];

/** @throws {Problem} 404 where a row above does not exist, 403 where the caller may not reach it. */
export function callOnCollection(resource: Resource, line: Line, arrived: Arrived, level?: Level): Call {
  const above = locate(arrived.world, arrived.caller, line.slice(0, -1), arrived.params);
  if (level) requireReach(line[0] ?? resource, above[0], level, arrived);
  return { ...given(arrived), resource, above };
}

/** @throws {Problem} 404 where the row does not exist, 403 where the caller may not reach it. */
export function callOnRow(resource: Resource, line: Line, arrived: Arrived, level?: Level): CallOnRow {
  const rows = locate(arrived.world, arrived.caller, line, arrived.params);
  if (level) requireReach(line[0] ?? resource, rows[0], level, arrived);
  return { ...given(arrived), resource, row: rows.at(-1) as Row<object>, above: rows.slice(0, -1) };
}

function given({ world, caller, at, body, params, upload }: Arrived): Omit<Call, "resource" | "above"> {
  return { world, caller, at, body, params, ...(upload && { upload }) };
}
