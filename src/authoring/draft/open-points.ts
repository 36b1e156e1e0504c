/** The open points of a draft. */
import { plural } from "../../base/index.ts";
import type { ApiDescription, ApiObject, ApiRoute } from "./api-description.ts";
import { packRoute, type CountUses, type DraftResource, type OpenPoint } from "./draft-model.ts";
import type { RoutePair } from "./match-routes.ts";

interface Found {
  readonly old: ApiDescription;
  readonly routes: readonly RoutePair[];
  readonly named: ReadonlyMap<ApiObject, string>;
  readonly resources: readonly DraftResource[];
  readonly countUses: CountUses;
}

/** Lists the open points, the most used first. */
export function findOpenPoints({ old, routes, named, resources, countUses }: Found): OpenPoint[] {
  const points: OpenPoint[] = [];
  const usesOf = (route: ApiRoute): number => (countUses ? countUses(route) : 1);
  const known = new Set(routes.map((pair) => pair.old));
  const uses = new Map<ApiObject, number>();
  const addUses = (object: ApiObject, count: number): void => {
    // Each object counts once for a route. The set grows during the loop.
    const all = new Set([object]);
    for (const each of all) {
      uses.set(each, (uses.get(each) ?? 0) + count);
      for (const field of each.fields.values()) if (field.object) all.add(field.object);
    }
  };
  for (const route of old.routes) {
    if (route.payload.object) addUses(route.payload.object, usesOf(route));
    if (!known.has(route)) points.push({ name: packRoute(route), uses: usesOf(route), note: undefined });
  }
  for (const name of old.others)
    points.push({ name, uses: countUses ? 0 : 1, note: "a path that no route can have" });
  const mapped = new Map(resources.map((resource) => [resource.old, resource]));
  for (const [object, name] of named) {
    const resource = mapped.get(object);
    const count = uses.get(object) ?? 0;
    if (!resource) points.push({ name, uses: count, note: undefined });
    const fields = new Set(resource?.fields.map((pair) => pair.old.name));
    for (const field of resource ? object.fields.keys() : [])
      if (!fields.has(field)) points.push({ name: `${name}.${field}`, uses: count, note: undefined });
  }
  for (const { pair, body } of resources.flatMap((resource) => resource.routes)) {
    const route = packRoute(pair.old);
    const add = (what: string, note: string): void => {
      points.push({ name: `${route}: ${what}`, uses: usesOf(pair.old), note });
    };
    if (pair.old.payload.object && !pair.now.payload.object)
      add("response", "the new response has no such object");
    const members = new Set(body?.members.map(({ name }) => name));
    for (const name of pair.old.body?.fields.keys() ?? [])
      if (!members.has(name)) add(name, "a member of the body");
    for (const name of pair.old.queryNames) add(name, "a query parameter");
  }
  return points.toSorted((one, other) => other.uses - one.uses);
}

/** Formats how much a point is used. */
export const usesText = ({ uses, note }: OpenPoint, isCounted: boolean): string => {
  const unit = isCounted ? "call" : "route";
  return `${note === undefined ? "" : `${note}, `}${plural(uses, unit)}`;
};
