/** Finds the rows that a path names, through the rows above them, and only those that the caller may see. */

import type { Caller } from "../http/caller.ts";
import { notFound } from "../http/problem.ts";
import type { Row, Table } from "../store/table.ts";
import { everyone } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { Resource } from "./declaration.ts";

export type Params = Readonly<Record<string, string>>;

/** Every resource, by name. */
export type Resources = ReadonlyMap<string, Resource>;

/** The home of the rows below a row. */
export function homeBelow(name: string, id: number | string): string {
  return `${name}/${id}`;
}

/** The home of what belongs to one user. */
export function homeOfUser(user: string): string {
  return homeBelow("user", user);
}

/** The number of the row above, from the home of a row below it. */
export function idAbove(home: string): number {
  return Number(home.slice(home.indexOf("/") + 1));
}

/** The resource and those above it, outermost first. */
export function lineage(resource: Resource, resources: Resources): readonly Resource[] {
  const parent = resource.parent && resources.get(resource.parent);
  return parent ? [...lineage(parent, resources), resource] : [resource];
}

/**
 * Follows a path down.
 *
 * @param line The resources whose rows the path names, outermost first.
 * @throws {Problem} 404 where one of them does not exist, belongs to another account or hangs elsewhere.
 */
export function locate(
  world: World,
  caller: Caller,
  line: readonly Resource[],
  params: Params,
): readonly Row[] {
  const rows: Row[] = [];
  for (const resource of line) {
    const row = tableOf(world, resource).get(idOf(resource, caller, params));
    if (!row || !homesOf(resource, caller, rows.at(-1)).includes(row.home)) throw notFound();
    rows.push(row);
  }
  return rows;
}

/** Where the rows of a collection live that this caller may see. */
export function homesOf(resource: Resource, caller: Caller, above: Row | undefined): readonly string[] {
  if (resource.parent) return above ? [homeBelow(resource.parent, above.id)] : [];
  if (resource.owner === "everyone") return [everyone];
  if (resource.owner === "user") return [homeOfUser(caller.user)];
  return resource.owner === "account" ? [caller.account] : [everyone, caller.account];
}

export function tableOf(world: World, resource: Resource): Table {
  return world.table(resource.table ?? resource.name) as unknown as Table;
}

function idOf({ id, name }: Resource, caller: Caller, params: Params): number | string {
  const text = params[name] ?? "";
  if (id === "single") return caller.account;
  if (id === "own") return caller.user;
  if (id === "pair") return `${params["first"] ?? ""}/${text}`;
  if (id !== "integer") return text;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}
