/** Responses with the members that a client asks for (`sparse_fields`). */
import { ValidationError } from "../errors/http-error.ts";
import { shortName, type Query } from "../routes/query.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { SparseFieldsDefinition } from "../routes/parameter-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { Resource } from "../load/resource.ts";

/** Members by name, each with those that are chosen of its value; undefined for all of them. */
export interface ChosenMembers {
  readonly [name: string]: ChosenMembers | undefined;
}

/** How clients of a route choose members. */
export interface SparseFields extends Pick<SparseFieldsDefinition, "always" | "multiple"> {
  readonly parameter: string;
  /** Returns the members that a request asks for; undefined for all. @throws {ValidationError} for unknown names */
  readonly choose: (query: Query) => ChosenMembers | undefined;
}

/** More names than any object has fields. */
const MAX_NAMES = 500;

/** More levels than any response has. */
const MAX_LEVELS = 32;

/** Adds a dotted name. A name that is chosen as a whole stays so. */
function addName(members: Map<string, unknown>, [key = "", ...rest]: readonly string[]): void {
  const inner = members.get(key);
  if (members.has(key) && inner === undefined) return;
  if (rest.length === 0) return void members.set(key, undefined);
  const below = inner instanceof Map ? (inner as Map<string, unknown>) : new Map<string, unknown>();
  members.set(key, below);
  addName(below, rest);
}

const toMembers = (members: ReadonlyMap<string, unknown>): ChosenMembers =>
  Object.fromEntries(
    [...members].map(([name, inner]) => [name, inner instanceof Map ? toMembers(inner) : undefined]),
  );

/** Reports what has no effect on a route. */
function reportOwn(
  own: NonNullable<RouteDefinition["sparse_fields"]>,
  common: SparseFieldsDefinition | undefined,
  hasObjects: boolean,
  location: SourceLocation,
): void {
  if (!hasObjects)
    location.report('"sparse_fields" has no effect: the route responds with no object and no list');
  else if (own === "none" && !common)
    location.report('"none" has no effect: clients choose no members ("client.sparse_fields")');
}

/** Whether an object has a member, as a field, above its fields, or inside a nested object. */
function hasMember(name: string, { fields }: Resource, resources: ReadonlyMap<string, Resource>): boolean {
  if (fields.has(name)) return true;
  return [...fields].some(([field, { object }]) => {
    if (field.startsWith(`${name}.`)) return true;
    if (!name.startsWith(`${field}.`)) return false;
    const nested = resources.get(object ?? "");
    // The members of other values are the upstream's.
    return nested ? hasMember(name.slice(field.length + 1), nested, resources) : true;
  });
}

/**
 * Compiles how clients of a route choose members; undefined if they can't, or if its response has no objects of the pack.
 *
 * @param common What the pack says of all routes.
 */
export function compileSparseFields(
  common: SparseFieldsDefinition | undefined,
  { response, reject, one_of: choices, sparse_fields: own }: RouteDefinition,
  resource: Resource,
  resources: ReadonlyMap<string, Resource>,
  location: SourceLocation,
): SparseFields | undefined {
  const hasObjects = reject === undefined && (response === "list" || response === "object");
  if (own !== undefined) reportOwn(own, common, hasObjects, location);
  const definition = own === "none" ? undefined : (own ?? common);
  if (!definition || !hasObjects) return undefined;
  const { multiple, always, unknown } = definition;
  const parameter = definition.parameter.replaceAll("{name}", resource.name);
  const field = shortName(parameter);
  const isMember = (name: string): boolean =>
    (choices?.map(({ object }) => object) ?? [resource.name]).some((object) => {
      const shown = object === resource.name ? resource : resources.get(object);
      return shown !== undefined && hasMember(name, shown, resources);
    });
  const isKnown = (name: string): boolean =>
    name.split(".", MAX_LEVELS + 1).length <= MAX_LEVELS && isMember(name);
  if (own !== undefined)
    for (const [index, name] of always.entries())
      if (!isMember(name))
        location.at("always", index).report(`objects of this route have no field "${name}"`);
  return {
    parameter,
    always,
    multiple,
    choose(query) {
      const texts = query.get(parameter);
      if (texts === undefined) return undefined;
      if (multiple === "comma" && texts.length > 1)
        throw new ValidationError([{ field, reason: "There is more than one." }]);
      const names = texts.flatMap((text) => (multiple === "comma" ? text.split(",") : [text]));
      const asked = names.map((name) => name.trim()).filter((name) => name !== "");
      if (asked.length === 0) return undefined;
      if (asked.length > MAX_NAMES)
        throw new ValidationError([
          { field, reason: `Must have at most ${MAX_NAMES} entries.`, rule: "maxItems" },
        ]);
      const wrong = unknown === "reject" ? asked.find((name) => !isKnown(name)) : undefined;
      if (wrong !== undefined)
        throw new ValidationError([
          { field, reason: `${shortName(wrong)} is not a field of ${resource.name}.`, rule: "enum" },
        ]);
      const members = new Map<string, unknown>();
      for (const name of [...asked, ...always]) {
        const keys = name.split(".", MAX_LEVELS + 1);
        if (keys.length <= MAX_LEVELS) addName(members, keys);
      }
      return toMembers(members);
    },
  };
}

/** Reports members that no object of the pack has, so that they are never there. */
export function reportUnknownAlways(
  definition: SparseFieldsDefinition | undefined,
  resources: ReadonlyMap<string, Resource>,
  location: SourceLocation,
): void {
  for (const [index, name] of (definition?.always ?? []).entries())
    if (![...resources.values()].some((resource) => hasMember(name, resource, resources)))
      location.at("always", index).report(`no object has the field "${name}"`);
}
