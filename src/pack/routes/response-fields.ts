/** The fields that responses of a route may contain, by their paths without indexes. */
import { fillKey, findPath, namesIn, type Shape } from "../values/shape.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { Resource } from "./resource.ts";
import type { Route } from "./route.ts";

/** The rule of a field in a response. */
export interface ResponseField {
  /** The object that contains the field. */
  readonly object: string;
  readonly name: string;
  readonly rule: FieldRule;
}

/** The part of a pack that describes objects. */
interface ResponseSources {
  readonly resources: ReadonlyMap<string, Pick<Resource, "fields">>;
}

/** Maximum nesting. Objects may contain objects of their own kind. */
const MAX_NESTING = 6;

const join = (...names: readonly string[]): string => names.filter((name) => name !== "").join(".");

/** The location of the objects in a response of a route. */
type ObjectPlaces = Pick<Route, "response" | "list" | "lists" | "clientPath" | "bulk">;

/** Returns the keys that lead to the objects of a response, through the items of its arrays. */
export function objectKeys({ response, list, lists, clientPath, bulk }: ObjectPlaces): readonly string[] {
  if (bulk) return bulk.objectsPath;
  const items = response === "list" ? findPath(lists.envelope.client.list, "items", { list }) : undefined;
  return [...(items ?? []), ...clientPath];
}

/** Returns {@link objectKeys} as text: `books` in a list. */
export const objectsPath = (route: ObjectPlaces): string => join(...objectKeys(route));

/** Returns the object that is the value of a field. Undefined if not found. */
export const nestedObject = ({ object, catalog, id_only: isId }: FieldRule): string | undefined =>
  object ?? (isId ? undefined : catalog);

/** The locations of the objects of each name in responses of a route, including nested ones: the keys that lead to them. */
export function keysOfObjects(
  route: ObjectPlaces & Pick<Route, "responseObjects">,
  { resources }: ResponseSources,
): ReadonlyMap<string, readonly (readonly string[])[]> {
  const found = new Map<string, (readonly string[])[]>();
  function add(object: string, at: readonly string[], depth: number): void {
    found.set(object, [...(found.get(object) ?? []), at]);
    for (const [name, rule] of resources.get(object)?.fields ?? []) {
      const nested = nestedObject(rule);
      if (nested !== undefined && depth < MAX_NESTING) add(nested, [...at, ...name.split(".")], depth + 1);
    }
  }
  for (const object of objectsOf(route)) add(object, objectKeys(route), 0);
  return found;
}

/** Returns the objects in responses of a route at {@link objectKeys}. */
const objectsOf = ({ response, responseObjects }: Pick<Route, "response" | "responseObjects">) =>
  response === "none" ? [] : responseObjects;

/** Finds the fields of the objects in responses of a route. */
export function responseFields(
  route: ObjectPlaces & Pick<Route, "responseObjects">,
  { resources }: ResponseSources,
): ReadonlyMap<string, ResponseField> {
  const found = new Map<string, ResponseField>();
  function add(object: string, at: string, depth: number): void {
    for (const [name, rule] of resources.get(object)?.fields ?? []) {
      const path = join(at, name);
      if (!found.has(path)) found.set(path, { object, name, rule });
      if (rule.object !== undefined && depth < MAX_NESTING) add(rule.object, path, depth + 1);
    }
  }
  for (const object of objectsOf(route)) add(object, objectsPath(route), 0);
  return found;
}

/** Returns the paths of a shape's values, without indexes. */
export const shapePaths = (shape: Shape, list = ""): readonly string[] =>
  namesIn(shape).map(({ path }) =>
    path
      .filter((key) => key !== "[]")
      .map((key) => fillKey(key, { list }))
      .join("."),
  );
