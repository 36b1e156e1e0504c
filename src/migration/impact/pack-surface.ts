/** The parts of an API that the clients of a pack can send and receive. */
import { isObject, type Json } from "../../base/index.ts";
import { describePack, type Pack, type Route } from "../../pack/index.ts";
import { addPlaces, SchemaBudget } from "./flatten-schema.ts";
import { readOperation } from "./openapi-surface.ts";
import { OTHER_RULES } from "./compare-surfaces.ts";
import { operationKey, type Operation, type Place, type Surface } from "./surface.ts";

const jsonAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((found, key) => (isObject(found) ? found[key] : undefined), value);

/** Adds the words in the tables of a pack to the members of its objects: the description only contains types. */
function addWords(document: Json, { resources }: Pack): void {
  for (const { name, queryFields } of resources.values()) {
    const properties = jsonAt(document, "components", "schemas", name, "properties");
    if (!isObject(properties)) continue;
    for (const [field, { values }] of queryFields) {
      const member = properties[field];
      if (values && isObject(member)) properties[field] = { ...member, enum: [...values] };
    }
  }
}

const ANY: Place = { required: false, types: new Set(), items: new Set(), words: undefined, limits: {} };

/** Returns the names that clients send, as the summaries count them, with their words. */
function countedPlaces(names: readonly string[]): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const name of names) {
    const at = name.indexOf("=");
    const base = at < 0 ? name : name.slice(0, at);
    const place = places.get(base) ?? ANY;
    const words = at < 0 ? place.words : new Set([...(place.words ?? []), name.slice(at + 1)]);
    places.set(base, { ...place, words });
  }
  return places;
}

const isRequired = ({ required }: Json): boolean => Array.isArray(required) && required.length > 0;

/** Returns the rules of a body that are not about its members, as one limit of the body: they are compared as a whole. */
function otherRules({
  properties: _members,
  required: _required,
  type: _type,
  ...rules
}: Json): Record<string, string> {
  return Object.keys(rules).length === 0 ? {} : { [OTHER_RULES]: JSON.stringify(rules) };
}

/** Returns the members of a route's bodies, with their types and limits. */
function bodyPlaces(routes: readonly Route[], budget: SchemaBudget): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const { body } of routes) {
    if (!body) continue;
    const own = new Map<string, Place>();
    addPlaces("body", body.schema, isRequired(body.schema), { budget, skip: "readOnly", places: own });
    const whole = own.get("body");
    if (whole) own.set("body", { ...whole, limits: { ...whole.limits, ...otherRules(body.schema) } });
    for (const [name, place] of own) {
      const other = places.get(name);
      // If a path has several bodies, some may not require the member.
      places.set(name, other ? { ...other, required: other.required && place.required } : place);
    }
  }
  if (routes.some(({ body }) => !body))
    for (const [name, place] of places) places.set(name, { ...place, required: false });
  return places;
}

/** Returns the names that clients send to a route. Filters are counted by field, in any notation. */
function requestPlaces(described: Operation, routes: readonly Route[], pack: Pack, budget: SchemaBudget) {
  const counted = countedPlaces(pack.sentNames.get(routes[0]?.name ?? "")?.names ?? []);
  const filterHeader = `header.${pack.dialect.client.filters?.header}`;
  const others = [...described.request].filter(
    ([name]) => !/^body(?:\.|$)/.test(name) && name !== filterHeader,
  );
  const places = new Map<string, Place>([...others, ...bodyPlaces(routes, budget)]);
  for (const [name, place] of counted) {
    const known = places.get(name) ?? place;
    places.set(name, { ...known, words: place.words ?? known.words });
  }
  return places;
}

/** Returns a scope with the scopes that it includes: a higher level includes the lower ones. */
function scopesOf(routes: readonly Route[], { dialect: { scopes } }: Pack): ReadonlySet<string> | undefined {
  const [access] = routes.map((route) => route.access);
  if (access === undefined || access === "public") return undefined;
  if (access === "token") return new Set();
  const levels = (scopes?.levels ?? []).slice(0, access.level + 1);
  return new Set(levels.map((level) => `${access.resource}:${level}`));
}

/**
 * Returns all routes of a pack for its clients, without routes that only return an error.
 *
 * @param withWords Whether members contain the words of the pack's tables. Its description only contains types
 */
export function packSurface(
  pack: Pack,
  { withWords = true }: { readonly withWords?: boolean } = {},
): Surface {
  const budget = new SchemaBudget();
  const document = describePack(pack, "1");
  if (withWords) addWords(document, pack);
  const resolve = (reference: string): unknown => jsonAt(document, ...reference.split("/").slice(1));
  const surface = new Map<string, Operation>();
  for (const [name, all] of Map.groupBy(pack.routes, (route) => route.name)) {
    const routes = all.filter(({ source }) => !("error" in source));
    if (routes.length === 0) continue;
    const [method = "", path = ""] = name.split(" ");
    const described = jsonAt(document, "paths", path.replaceAll(/\/:(\w+)/g, "/{$1}"), method.toLowerCase());
    const operation = readOperation(name, isObject(described) ? described : {}, { budget, resolve });
    surface.set(operationKey(name), {
      ...operation,
      request: requestPlaces(operation, routes, pack, budget),
      scopes: scopesOf(routes, pack),
    });
  }
  return surface;
}
