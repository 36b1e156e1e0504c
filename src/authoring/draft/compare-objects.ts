/** How alike objects are, and what routes take and return. */
import type { ApiObject, ApiRoute } from "./api-description.ts";
import { wordsOf } from "./words.ts";

/** A body with fewer fields proves nothing. */
const MIN_FIELDS = 3;

/** Compares objects by the names of their fields. Each pair is compared once. */
export class ObjectComparison {
  readonly #names = new Map<ApiObject, ReadonlySet<string>>();
  readonly #known = new Map<ApiObject, Map<ApiObject, number>>();

  #namesOf(object: ApiObject): ReadonlySet<string> {
    const names =
      this.#names.get(object) ??
      new Set([...object.fields.keys()].map((name) => wordsOf(name).toSorted().join(" ")));
    this.#names.set(object, names);
    return names;
  }

  /** From 0 to 1; few common fields prove little. */
  compare(old: ApiObject, now: ApiObject): number {
    const known = this.#known.get(old)?.get(now);
    if (known !== undefined) return known;
    const [one, other] = [this.#namesOf(old), this.#namesOf(now)];
    const common = one.intersection(other).size;
    // A new object may have more: what counts most is how much of the old one it has.
    const all = 0.85 * one.size + 0.15 * Math.min(other.size, 3 * one.size);
    const likeness = all === 0 ? 0 : (common / all) * (common / (common + 0.15));
    this.#known.set(old, (this.#known.get(old) ?? new Map<ApiObject, number>()).set(now, likeness));
    return likeness;
  }
}

/** How alike what two routes return and take is; undefined if nothing of it can be compared. */
export function contentLikeness(old: ApiRoute, now: ApiRoute, objects: ObjectComparison): number | undefined {
  const isLarge = (old.body?.fields.size ?? 0) >= MIN_FIELDS;
  const pairs = [[old.payload.object, now.payload.object], isLarge ? [old.body, now.body] : []] as const;
  const values = pairs.flatMap(([one, other]) => (one && other ? [objects.compare(one, other)] : []));
  return values.length === 0 ? undefined : Math.max(...values);
}
