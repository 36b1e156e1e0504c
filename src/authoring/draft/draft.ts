/** Makes the draft of a pack: the resources as far as they are known, and the open points. */
import { isParameter, type ApiDescription, type ApiObject, type ApiRoute } from "./api-description.ts";
import {
  isPlainName,
  upstreamPath,
  type CountUses,
  type Draft,
  type DraftBody,
  type DraftResource,
  type DraftRoute,
} from "./draft-model.ts";
import type { ApiMatch } from "./match-apis.ts";
import { matchFields, type FieldPair } from "./match-fields.ts";
import type { RoutePair } from "./match-routes.ts";
import { findOpenPoints } from "./open-points.ts";
import type { Vocabulary } from "./words.ts";

/** Files of a pack that are no objects. */
const RESERVED = ["pack", "surface", "accepted_differences"];

/** Names of resources, and of their files: unique, lower-case. */
class ResourceNames {
  readonly #used = new Set(RESERVED);

  take(name: string): string {
    const plain = name
      .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1_$2")
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, "_")
      .replace(/^[^a-z]+/, "")
      .replace(/(?<!_)_+$/, "")
      .slice(0, 50);
    const stem = plain === "" ? "object" : plain;
    let unique = stem;
    for (let number = 2; this.#used.has(unique); number += 1) unique = `${stem}_${number}`;
    this.#used.add(unique);
    return unique;
  }
}

const isPossible = (pair: RoutePair): boolean =>
  upstreamPath(pair) !== undefined &&
  !pair.old.payload.isFile &&
  new Set(pair.old.segments.filter(isParameter)).size === pair.old.segments.filter(isParameter).length;

/** Names all old objects: objects of responses, and nested ones. */
function nameObjects(old: ApiDescription, names: ResourceNames): ReadonlyMap<ApiObject, string> {
  const named = new Map<ApiObject, string>();
  // Objects of responses first: they get the names that others have as well.
  const all = new Set(old.routes.flatMap(({ payload }) => payload.object ?? []));
  for (const object of all) named.set(object, names.take(object.name));
  // The set grows while it is read.
  for (const object of all)
    for (const { object: inner } of object.fields.values())
      if (inner) {
        all.add(inner);
        if (!named.has(inner)) named.set(inner, names.take(inner.name));
      }
  return named;
}

const overlaps = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);

/** Makes the bodies of a resource. An input has one meaning in all of them. */
class BodyDrafter {
  readonly #fields: ReadonlySet<string>;
  readonly #inputs = new Map<string, string>();
  readonly #vocabulary: Vocabulary;

  constructor(fields: readonly FieldPair[], vocabulary: Vocabulary) {
    this.#fields = new Set(fields.map((pair) => pair.old.name));
    this.#vocabulary = vocabulary;
  }

  /** The members of a body that are known: fields of its object, or of the new body. */
  draft({ old, now }: RoutePair): DraftBody | undefined {
    if (!old.body) return undefined;
    const pairs = now.body ? matchFields(old.body, now.body, this.#vocabulary) : [];
    const inputs = pairs.filter(
      (pair) => pair.old.object === undefined && isPlainPair(pair) && this.#take(pair),
    );
    const names = new Set([...this.#fields, ...inputs.map((pair) => pair.old.name)]);
    const members = [...old.body.fields.values()].filter(
      ({ name, object }) => names.has(name) && object === undefined,
    );
    return { members, inputs };
  }

  #take({ old: { name }, now }: FieldPair): boolean {
    if ([...this.#fields].some((field) => overlaps(field, name))) return false;
    if (this.#inputs.get(name) === now.name) return true;
    if ([...this.#inputs.keys()].some((input) => overlaps(input, name))) return false;
    this.#inputs.set(name, now.name);
    return true;
  }
}

const isPlainPair = ({ old, now }: FieldPair): boolean => isPlainName(old.name) && isPlainName(now.name);

/**
 * The object of the route whose path shares the longest start with the path of this route, which has no object.
 * Undefined without one.
 */
function objectOf({ segments }: ApiRoute, routes: readonly RoutePair[]): ApiObject | undefined {
  let [best, most]: [ApiObject | undefined, number] = [undefined, 0];
  for (const { old } of routes) {
    if (!old.payload.object) continue;
    const end = segments.findIndex((segment, index) => segment !== old.segments[index]);
    const common = end < 0 ? segments.length : end;
    if (common > most) [best, most] = [old.payload.object, common];
  }
  return best;
}

/**
 * Maximum number of nested objects of an object that a draft maps, each counted as often as it occurs. A few objects
 * can expand to more than fits into memory.
 */
const MAX_INNER_OBJECTS = 100;

/** Leaves out fields with objects that have too many objects in them. */
function limitInnerObjects(fieldsOf: Map<ApiObject, FieldPair[]>): void {
  const sizes = new Map<ApiObject, number>();
  const sizeOf = (object: ApiObject): number => {
    const known = sizes.get(object);
    if (known !== undefined) return known;
    sizes.set(object, 1);
    const inner = (fieldsOf.get(object) ?? []).flatMap(({ old }) => old.object ?? []);
    const size = inner.reduce((sum, each) => sum + sizeOf(each), 1);
    sizes.set(object, size);
    return size;
  };
  for (const object of fieldsOf.keys()) sizeOf(object);
  for (const [object, fields] of fieldsOf)
    fieldsOf.set(
      object,
      fields.filter(({ old }) => !old.object || (sizes.get(old.object) ?? 0) <= MAX_INNER_OBJECTS),
    );
}

/** Makes a draft of the matches. @param countUses How often routes are used. Undefined: unknown */
export function makeDraft(
  old: ApiDescription,
  now: ApiDescription,
  match: ApiMatch,
  countUses: CountUses,
): Draft {
  const names = new ResourceNames();
  const named = nameObjects(old, names);
  const fieldsOf = new Map(
    match.objects.map(({ old: object, fields }) => {
      const order = [...object.fields.values()];
      const place = ({ old: field }: FieldPair): number => order.indexOf(field);
      return [
        object,
        fields.filter(isPlainPair).toSorted((one, other) => place(one) - place(other)),
      ] as const;
    }),
  );
  limitInnerObjects(fieldsOf);
  const order = new Map(old.routes.map((route, index) => [route, index]));
  const place = ({ old: route }: RoutePair): number => order.get(route) ?? 0;
  const routes = match.routes.filter(isPossible).toSorted((one, other) => place(one) - place(other));
  const draftRoutes = (pairs: readonly RoutePair[], fields: readonly FieldPair[] = []): DraftRoute[] => {
    const bodies = new BodyDrafter(fields, match.vocabulary);
    return pairs.map((pair) => ({ pair, body: bodies.draft(pair) }));
  };
  const byObject = Map.groupBy(routes, (pair) => pair.old.payload.object ?? objectOf(pair.old, routes));
  // Objects of routes, and those in their fields. The set grows while it is read.
  const usedObjects = new Set([...byObject.keys()].filter((object) => object !== undefined));
  for (const object of usedObjects)
    for (const { old: field } of fieldsOf.get(object) ?? [])
      if (field.object && fieldsOf.has(field.object)) usedObjects.add(field.object);
  const resources: DraftResource[] = [...named].flatMap(([object, name]) => {
    const fields = fieldsOf.get(object);
    const own = byObject.get(object) ?? [];
    return usedObjects.has(object)
      ? [{ name, old: object, fields: fields ?? [], routes: draftRoutes(own, fields) }]
      : [];
  });
  const others = Map.groupBy(byObject.get(undefined) ?? [], ({ old: route }) =>
    route.segments.find((segment) => !isParameter(segment)),
  );
  for (const [segment = "root", pairs] of others)
    resources.push({
      name: names.take(`${segment}_calls`),
      old: undefined,
      fields: [],
      routes: draftRoutes(pairs),
    });
  const openPoints = findOpenPoints({ old, routes, named, resources, countUses });
  return { old, now, resources, openPoints, names: named };
}
