/** Matches two APIs: routes, the objects that they take and return, and their fields. */
import type { ApiDescription, ApiObject, ApiRoute } from "./api-description.ts";
import { matchFields, type FieldPair } from "./match-fields.ts";
import { matchRoutes, type RoutePair } from "./match-routes.ts";
import { Vocabulary } from "./words.ts";

/** An old object, the new one that its fields are read from, and the fields that are the same. */
export interface ObjectPair {
  readonly old: ApiObject;
  readonly now: ApiObject;
  readonly fields: readonly FieldPair[];
}

export interface ApiMatch {
  readonly routes: readonly RoutePair[];
  readonly objects: readonly ObjectPair[];
  /** For the members of bodies. */
  readonly vocabulary: Vocabulary;
}

function countNames(apis: readonly ApiDescription[], vocabulary: Vocabulary): void {
  const objects = new Set(
    apis.flatMap(({ routes }) => routes.flatMap(({ payload }) => payload.object ?? [])),
  );
  for (const object of objects) for (const name of object.fields.keys()) vocabulary.count(name);
  for (const { routes } of apis) for (const { path } of routes) vocabulary.count(path);
}

/** The new object of each old one: the most similar one among those that matched routes return. */
class ObjectMatcher {
  readonly #vocabulary: Vocabulary;
  readonly #pairs = new Map<ApiObject, ObjectPair & { readonly worth: number }>();
  readonly #seen = new Map<ApiObject, Set<ApiObject>>();

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  /** Adds a pair of objects, and the pairs of objects in them. */
  add(old: ApiObject, now: ApiObject): void {
    const seen = this.#seen.get(old) ?? new Set();
    this.#seen.set(old, seen);
    if (seen.has(now)) return;
    seen.add(now);
    const fields = matchFields(old, now, this.#vocabulary);
    const worth = fields.reduce((sum, { score }) => sum + score, 0);
    if (worth > (this.#pairs.get(old)?.worth ?? 0)) this.#pairs.set(old, { old, now, fields, worth });
    for (const field of fields)
      if (field.old.object && field.now.object) this.add(field.old.object, field.now.object);
  }

  get pairs(): readonly ObjectPair[] {
    return [...this.#pairs.values()];
  }
}

/** Matches two APIs. What is not nearly certain is left out. */
export function matchApis(old: ApiDescription, now: ApiDescription): ApiMatch {
  const vocabulary = new Vocabulary();
  countNames([old, now], vocabulary);
  const routes = matchRoutes(old, now, vocabulary);
  const matcher = new ObjectMatcher(vocabulary);
  const payloadOf = ({ payload }: ApiRoute) => payload.object;
  for (const pair of routes) {
    const [one, other] = [payloadOf(pair.old), payloadOf(pair.now)];
    if (one && other) matcher.add(one, other);
  }
  return { routes, objects: matcher.pairs, vocabulary };
}
