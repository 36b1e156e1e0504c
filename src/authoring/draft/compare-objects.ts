/** Computes the similarity of objects, and of the requests and responses of routes. */
import type { ApiDescription, ApiObject, ApiRoute } from "./api-description.ts";
import { wordsOf } from "./words.ts";

/** A body with fewer fields proves nothing. */
const MIN_FIELDS = 3;

/** Compares objects by the names of their fields. Each pair is compared once. */
export class ObjectComparison {
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<ApiObject, ReadonlySet<string>>();
  readonly #known = new Map<ApiObject, Map<ApiObject, number>>();

  constructor(apis: readonly ApiDescription[]) {
    for (const { routes } of apis) {
      const counts = new Map<string, number>();
      for (const object of new Set(routes.flatMap(objectsOf)))
        for (const name of this.#namesOf(object)) counts.set(name, (counts.get(name) ?? 0) + 1);
      for (const [name, count] of counts)
        this.#counts.set(name, Math.max(count, this.#counts.get(name) ?? 0));
    }
  }

  #namesOf(object: ApiObject): ReadonlySet<string> {
    const names =
      this.#names.get(object) ??
      new Set([...object.fields.keys()].map((name) => wordsOf(name).toSorted().join(" ")));
    this.#names.set(object, names);
    return names;
  }

  #weigh(names: ReadonlySet<string>): number {
    return [...names].reduce((sum, name) => sum + 1 / (1 + Math.log2(this.#counts.get(name) ?? 1)), 0);
  }

  /** From 0 to 1; fields that many objects have count less, and few common fields prove little. */
  compare(old: ApiObject, now: ApiObject): number {
    const known = this.#known.get(old)?.get(now);
    if (known !== undefined) return known;
    const [one, other] = [this.#namesOf(old), this.#namesOf(now)];
    const common = this.#weigh(one.intersection(other));
    // A new object may have more members, so the share of the old object's members counts most.
    const [ofOld, ofNow] = [this.#weigh(one), this.#weigh(other)];
    const all = 0.85 * ofOld + 0.15 * Math.min(ofNow, 3 * ofOld);
    const likeness = all === 0 ? 0 : (common / all) * (common / (common + 0.15));
    this.#known.set(old, (this.#known.get(old) ?? new Map<ApiObject, number>()).set(now, likeness));
    return likeness;
  }
}

const objectsOf = ({ payload, body }: ApiRoute): ApiObject[] =>
  [payload.object, body].filter((object) => object !== undefined);

/** The similarity of the responses and requests of two routes. Undefined if nothing can be compared. */
export function contentLikeness(old: ApiRoute, now: ApiRoute, objects: ObjectComparison): number | undefined {
  const isLarge = (old.body?.fields.size ?? 0) >= MIN_FIELDS;
  const pairs = [[old.payload.object, now.payload.object], isLarge ? [old.body, now.body] : []] as const;
  const values = pairs.flatMap(([one, other]) => (one && other ? [objects.compare(one, other)] : []));
  return values.length === 0 ? undefined : Math.max(...values);
}
