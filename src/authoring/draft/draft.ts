/** What a draft of a pack has: the resources with what is known, and the open points. */
import { plural } from "../../base/index.ts";
import {
  isParameter,
  type ApiDescription,
  type ApiObject,
  type ApiRoute,
  type Field,
} from "./api-description.ts";
import type { ApiMatch } from "./match-apis.ts";
import { matchFields, type FieldPair } from "./match-fields.ts";
import type { RoutePair } from "./match-routes.ts";
import type { Vocabulary } from "./words.ts";

/** A request body of a draft: the members that are known, and the new names of those that no response has. */
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

/** What the draft does not know: the name of a route, an object, a field or something else, and how much it is used. */
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

const isPossible = (pair: RoutePair): boolean =>
  upstreamPath(pair) !== undefined &&
  !pair.old.payload.isFile &&
  new Set(pair.old.segments.filter(isParameter)).size === pair.old.segments.filter(isParameter).length;

/** Names all old objects: those that responses have, and those in them. */
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

/** The object of the route whose path begins like that of a route without an object; undefined if no path does. */
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

/** Objects in an object, each counted as often as it is there, that a draft maps. A few objects can stand for more than any memory holds. */
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

/** Makes a draft of what was found. @param countUses How often routes are used; undefined: unknown */
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

interface Found {
  readonly old: ApiDescription;
  readonly routes: readonly RoutePair[];
  readonly named: ReadonlyMap<ApiObject, string>;
  readonly resources: readonly DraftResource[];
  readonly countUses: CountUses;
}

/** Lists what is not known, most-used first. */
function findOpenPoints({ old, routes, named, resources, countUses }: Found): OpenPoint[] {
  const points: OpenPoint[] = [];
  const usesOf = (route: ApiRoute): number => (countUses ? countUses(route) : 1);
  const known = new Set(routes.map((pair) => pair.old));
  const uses = new Map<ApiObject, number>();
  const addUses = (object: ApiObject, count: number): void => {
    // Each object counts once for a route. The set grows while it is read.
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

/** How much a point is used, as text. */
export const usesText = ({ uses, note }: OpenPoint, isCounted: boolean): string => {
  const unit = isCounted ? "call" : "route";
  return `${note === undefined ? "" : `${note}, `}${plural(uses, unit)}`;
};
