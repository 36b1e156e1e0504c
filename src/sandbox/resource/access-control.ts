/** Access control of restricted users by entity grants and account access (V-179, V-180, V-182). */

import { Problem } from "../http/problem.ts";
import type { GrantKind, Level } from "../resources/hidden-state.ts";
import type { Row } from "../store/store-table.ts";
import { publicHome } from "../store/homes.ts";
import type { Caller } from "../http/request-types.ts";
import type { CallContext, Resource } from "./resource-declaration.ts";

export function forbidden(): Problem {
  return new Problem(403, [{ reason: "Unauthorized" }]);
}

/** Returns the numeric id that grants use; for image `private/55012` it is 55012. */
export function grantId(id: number | string): number {
  return typeof id === "number" ? id : Number(id.slice(id.lastIndexOf("/") + 1));
}

export function hasGrant({ grants }: Caller, kind: GrantKind, id: number, level: Level): boolean {
  if (!grants) return true;
  const current = grants.entities[kind]?.[id];
  return current === "read_write" || current === level;
}

/**
 * Whether a caller has this level of access to a row.
 *
 * @param resource The outermost resource of the path: access to a row includes its children.
 */
export function canAccess(
  resource: Resource,
  row: Row | undefined,
  level: Level,
  view: CallContext,
): boolean {
  const { caller } = view;
  if (row && resource.isVisible) return resource.isVisible(row, view, level);
  if (row?.home === publicHome && resource.owner === "both") return level === "read_only";
  const { grant } = resource;
  if (!caller.grants || grant === undefined) return true;
  if (grant === "unrestricted") return false;
  if (grant === "account") return canAccessAccount(caller, level);
  return !row || hasGrant(caller, grant.entity, grantId(row.id), level);
}

/** Whether a caller has this level of access to the account: billing, clients, settings. */
export function canAccessAccount({ grants }: Caller, level: Level): boolean {
  const current = grants?.global["account_access"];
  return !grants || current === "read_write" || current === level;
}

/** Checks a caller's access to a row. @throws {Problem} 403 if the caller has no access. */
export function requireAccess(
  resource: Resource,
  row: Row | undefined,
  level: Level,
  view: CallContext,
): void {
  if (!canAccess(resource, row, level, view)) throw forbidden();
}

/** Checks that the caller may create a row of the resource. @throws {Problem} 403 if not. */
export function requireAddGrant({ grant }: Resource, { grants }: Caller): void {
  if (!grants || grant === undefined) return;
  if (typeof grant === "string") {
    if (grant === "unrestricted" || grants.global["account_access"] !== "read_write") throw forbidden();
  } else if (grants.global[grant.add] !== true) throw forbidden();
}

/** Grants the creator of a row write access to it. */
export function grantToCreator({ grant }: Resource, { grants }: Caller, id: number | string): void {
  if (!grants || typeof grant !== "object") return;
  (grants.entities[grant.entity] ??= {})[grantId(id)] = "read_write";
}
