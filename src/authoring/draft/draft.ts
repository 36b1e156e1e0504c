/** Creates the draft of a pack: the known resources, and the open points. */
import { isParameter, type ApiDescription, type ApiObject, type ApiRoute } from "./api-description.ts";
import {
  isPlainName,
  upstreamPath,
  type CountUses,
  type Draft,
  type DraftResource,
  type DraftRoute,
} from "./draft-model.ts";
import { matchApis } from "./match-apis.ts";
import { matchFields, type FieldPair } from "./match-fields.ts";
import type { RoutePair } from "./match-routes.ts";
import { findOpenPoints } from "./open-points.ts";
import type { Vocabulary } from "./words.ts";

/** Names of files of a pack that do not contain an object. */
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

/** Names all old objects: objects in responses, and nested objects. */
function nameObjects(old: ApiDescription, names: ResourceNames): ReadonlyMap<ApiObject, string> {
  const named = new Map<ApiObject, string>();
  // Objects of responses come first: they get the names that several objects want.
  const all = new Set(old.routes.flatMap(({ payload }) => payload.object ?? []));
  for (const object of all) named.set(object, names.take(object.name));
  // The set grows during the loop.
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

/** Creates the routes of a resource with their bodies. An input means the same in all of them. */
function draftRoutes(
  pairs: readonly RoutePair[],
  fields: readonly FieldPair[],
  vocabulary: Vocabulary,
): DraftRoute[] {
  const names = fields.map((pair) => pair.old.name);
  const meanings = new Map<string, string>();
  const isInput = (pair: FieldPair): boolean => {
    const { name } = pair.old;
    if (pair.old.object !== undefined || !isPlainPair(pair)) return false;
    if (meanings.has(name)) return meanings.get(name) === pair.now.name;
    if ([...names, ...meanings.keys()].some((other) => overlaps(other, name))) return false;
    meanings.set(name, pair.now.name);
    return true;
  };
  return pairs.map((pair) => {
    const { body: old } = pair.old;
    if (!old) return { pair, body: undefined };
    const { body: now } = pair.now;
    const inputs = now ? matchFields(old, now, vocabulary).filter(isInput) : [];
    const known = new Set([...names, ...inputs.map((input) => input.old.name)]);
    const members = [...old.fields.values()].filter(
      ({ name, object }) => known.has(name) && object === undefined,
    );
    return { pair, body: { members, inputs } };
  });
}

const isPlainPair = ({ old, now }: FieldPair): boolean => isPlainName(old.name) && isPlainName(now.name);

/** Returns the object of the route whose path shares the longest prefix with this route. Undefined if not found. */
function objectOf({ segments }: ApiRoute, routes: readonly RoutePair[]): ApiObject | undefined {
  const commonStart = (other: readonly string[]): number => {
    const end = segments.findIndex((segment, index) => segment !== other[index]);
    return end < 0 ? segments.length : end;
  };
  let [best, most]: [ApiObject | undefined, number] = [undefined, 0];
  for (const { old } of routes) {
    const common = old.payload.object ? commonStart(old.segments) : 0;
    if (common > most) [best, most] = [old.payload.object, common];
  }
  return best;
}

/**
 * Maximum number of an object's nested objects that a draft maps, counting every occurrence. A few objects can expand
 * to more than fits into memory.
 */
const MAX_INNER_OBJECTS = 100;

/** Omits fields whose objects contain too many objects. */
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

/** Creates the draft of a pack for two APIs. @param countUses Returns how often a route is used. Undefined: unknown */
export function makeDraft(old: ApiDescription, now: ApiDescription, countUses: CountUses): Draft {
  const match = matchApis(old, now);
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
  const byObject = Map.groupBy(routes, (pair) => pair.old.payload.object ?? objectOf(pair.old, routes));
  // Objects of routes, and the objects in their fields. The set grows during the loop.
  const usedObjects = new Set([...byObject.keys()].filter((object) => object !== undefined));
  for (const object of usedObjects)
    for (const { old: field } of fieldsOf.get(object) ?? [])
      if (field.object && fieldsOf.has(field.object)) usedObjects.add(field.object);
  const resources: DraftResource[] = [...named].flatMap(([object, name]) => {
    const fields = fieldsOf.get(object);
    const own = byObject.get(object) ?? [];
    return usedObjects.has(object)
      ? [
          {
            name,
            old: object,
            fields: fields ?? [],
            routes: draftRoutes(own, fields ?? [], match.vocabulary),
          },
        ]
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
      routes: draftRoutes(pairs, [], match.vocabulary),
    });
  const openPoints = findOpenPoints({ old, routes, named, resources, countUses });
  return { old, now, resources, openPoints, names: named };
}
