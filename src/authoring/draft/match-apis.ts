/** Matches two APIs: routes, the objects in their requests and responses, and their fields. */
import type { ApiDescription, ApiObject } from "./api-description.ts";
import { matchFields, type FieldPair } from "./match-fields.ts";
import { matchRoutes, type RoutePair } from "./match-routes.ts";
import { Vocabulary } from "./words.ts";

/** An old object, the new object that provides its fields, and the matching fields. */
interface ObjectPair {
  readonly old: ApiObject;
  readonly now: ApiObject;
  readonly fields: readonly FieldPair[];
}

interface ApiMatch {
  readonly routes: readonly RoutePair[];
  readonly objects: readonly ObjectPair[];
  /** The vocabulary for matching the members of bodies. */
  readonly vocabulary: Vocabulary;
}

function countNames(apis: readonly ApiDescription[], vocabulary: Vocabulary): void {
  const objects = new Set(
    apis.flatMap(({ routes }) => routes.flatMap(({ payload }) => payload.object ?? [])),
  );
  for (const object of objects) for (const name of object.fields.keys()) vocabulary.count(name);
  for (const { routes } of apis) for (const { path } of routes) vocabulary.count(path);
}

/** Finds the new object for each old one: the most similar object in the responses of matching routes. */
function matchObjects(routes: readonly RoutePair[], vocabulary: Vocabulary): ObjectPair[] {
  const best = new Map<ApiObject, ObjectPair & { readonly worth: number }>();
  const seen = new Map<ApiObject, Set<ApiObject>>();
  /** Adds a pair of objects, and the pairs of their nested objects. */
  function add(old: ApiObject | undefined, now: ApiObject | undefined): void {
    if (!old || !now || seen.get(old)?.has(now)) return;
    seen.set(old, (seen.get(old) ?? new Set()).add(now));
    const fields = matchFields(old, now, vocabulary);
    const worth = fields.reduce((sum, { score }) => sum + score, 0);
    if (worth > (best.get(old)?.worth ?? 0)) best.set(old, { old, now, fields, worth });
    for (const field of fields) add(field.old.object, field.now.object);
  }
  for (const { old, now } of routes) add(old.payload.object, now.payload.object);
  return [...best.values()];
}

/** Matches two APIs. Uncertain matches are omitted. */
export function matchApis(old: ApiDescription, now: ApiDescription): ApiMatch {
  const vocabulary = new Vocabulary();
  countNames([old, now], vocabulary);
  const routes = matchRoutes(old, now, vocabulary);
  return { routes, objects: matchObjects(routes, vocabulary), vocabulary };
}
