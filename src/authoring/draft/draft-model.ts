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

/** A request body of a draft: the known members, and the new names of members that do not occur in responses. */
export interface DraftBody {
  readonly members: readonly Field[];
  readonly inputs: readonly FieldPair[];
}

export interface DraftRoute {
  readonly pair: RoutePair;
  readonly body: DraftBody | undefined;
}

export interface DraftResource {
  /** A unique name in the pack. */
  readonly name: string;
  readonly old: ApiObject | undefined;
  readonly fields: readonly FieldPair[];
  readonly routes: readonly DraftRoute[];
}

/** An open point of the draft: the name of a route, an object, a field or something else, and its usage. */
export interface OpenPoint {
  readonly name: string;
  readonly uses: number;
  readonly note: string | undefined;
}

export interface Draft {
  readonly old: ApiDescription;
  readonly now: ApiDescription;
  readonly resources: readonly DraftResource[];
  /** The open points, the most used first. */
  readonly openPoints: readonly OpenPoint[];
  /** Names of all old objects. */
  readonly names: ReadonlyMap<ApiObject, string>;
}

/** Returns how often a route of the old API is used; undefined if no calls were recorded. */
export type CountUses = ((route: ApiRoute) => number) | undefined;

/** Whether a name can be used everywhere in a pack. The author must handle other names. */
export const isPlainName = (name: string): boolean =>
  name.length <= 200 &&
  name.split(".").every((part) => /^[A-Za-z_@$][\w@$-]*$/.test(part) && part !== "__proto__");

/** Converts `/books/{id}` to `/books/:id`. */
export const clientPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Returns the name of a route in a pack: `GET /books/:id`. */
export const packRoute = (route: ApiRoute): string => `${route.method} ${clientPath(route.path)}`;

/** Returns the new path with the old names of its parameters; undefined if it has more parameters than the old path. */
export function upstreamPath({ old, now }: RoutePair): string | undefined {
  const names = old.segments.filter(isParameter);
  const needed = now.segments.filter(isParameter).length;
  if (needed > names.length) return undefined;
  const taken = names.slice(names.length - needed);
  return `/${now.segments.map((segment) => (isParameter(segment) ? taken.shift() : segment)).join("/")}`;
}
