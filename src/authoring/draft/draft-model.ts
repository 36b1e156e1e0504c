/** The content of a draft. */
import {
  isParameter,
  type ApiDescription,
  type ApiObject,
  type ApiRoute,
  type Field,
} from "./api-description.ts";
import type { FieldPair } from "./match-fields.ts";
import type { RoutePair } from "./match-routes.ts";

/** A request body of a draft: the known members, and the new names of members that no response has. */
export interface DraftBody {
  readonly members: readonly Field[];
  readonly inputs: readonly FieldPair[];
}

export interface DraftRoute {
  readonly pair: RoutePair;
  readonly body: DraftBody | undefined;
}

export interface DraftResource {
  /** A name that is unique in the pack. */
  readonly name: string;
  readonly old: ApiObject | undefined;
  readonly fields: readonly FieldPair[];
  readonly routes: readonly DraftRoute[];
}

/** An open point of the draft: the name of a route, an object, a field or something else, and how much it is used. */
export interface OpenPoint {
  readonly name: string;
  readonly uses: number;
  readonly note: string | undefined;
}

export interface Draft {
  readonly old: ApiDescription;
  readonly now: ApiDescription;
  readonly resources: readonly DraftResource[];
  /** Most-used first. */
  readonly openPoints: readonly OpenPoint[];
  /** Names of all old objects. */
  readonly names: ReadonlyMap<ApiObject, string>;
}

/** How often a route of the old API is used; undefined if nothing was recorded. */
export type CountUses = ((route: ApiRoute) => number) | undefined;

/** Names of a pack that its files can have in all places. Others are left to the author. */
export const isPlainName = (name: string): boolean =>
  name.length <= 200 &&
  name.split(".").every((part) => /^[A-Za-z_@$][\w@$-]*$/.test(part) && part !== "__proto__");

/** `/books/{id}` → `/books/:id`. */
export const clientPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** `GET /books/:id`, the name of a route in a pack. */
export const packRoute = (route: ApiRoute): string => `${route.method} ${clientPath(route.path)}`;

/** The new path with the old names of its parameters; undefined if it has more of them than the old path. */
export function upstreamPath({ old, now }: RoutePair): string | undefined {
  const names = old.segments.filter(isParameter);
  const needed = now.segments.filter(isParameter).length;
  if (needed > names.length) return undefined;
  const taken = names.slice(names.length - needed);
  return `/${now.segments.map((segment) => (isParameter(segment) ? taken.shift() : segment)).join("/")}`;
}
