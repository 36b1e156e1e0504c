/** The coverage of the golden cases: routes, and fields in responses. */
import { isObject } from "../../base/index.ts";
import { compileGetter, type Pack, type Route } from "../../pack/index.ts";
import type { ExampleResult } from "./compare-example.ts";

/** Total numbers of routes and fields, and the names without a golden case: `GET /books`, `book.title`. */
interface ExampleCoverage {
  readonly routes: number;
  readonly fields: number;
  readonly missingRoutes: readonly string[];
  readonly missingFields: readonly string[];
}

/** Returns all objects in a JSON value, at any depth. */
function objectsIn(value: unknown): object[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn);
  return isObject(value) ? [value, ...Object.values(value).flatMap(objectsIn)] : [];
}

/** Returns the resources in the responses of a route, including nested ones. */
function resourcesOf({ responseObjects }: Route, pack: Pack): Set<string> {
  const found = new Set<string>(responseObjects);
  // The loop also visits entries that are added to the set during it.
  for (const name of found)
    for (const { object } of pack.resources.get(name)?.fields.values() ?? [])
      if (object !== undefined) found.add(object);
  return found;
}

/** Returns the coverage of golden cases. A field is covered if a response in a case for its routes contains it. */
export function coverageOf(pack: Pack, results: readonly ExampleResult[]): ExampleCoverage {
  const readers = new Map(
    [...pack.resources.values()].map(({ name, fields }) => [
      name,
      new Map([...fields.keys()].map((field) => [field, compileGetter(field)])),
    ]),
  );
  const all = [...readers].flatMap(([name, fields]) => [...fields.keys()].map((field) => `${name}.${field}`));
  const routes = new Set(pack.routes.map(({ name }) => name));
  const missingRoutes = new Set(routes);
  const missingFields = new Set(all);
  for (const { route, example } of results) {
    if (!route) continue;
    missingRoutes.delete(route.name);
    const objects = objectsIn(example.definition.response.body);
    for (const name of resourcesOf(route, pack))
      for (const [field, read] of readers.get(name) ?? [])
        if (missingFields.has(`${name}.${field}`) && objects.some((object) => read(object) !== undefined))
          missingFields.delete(`${name}.${field}`);
  }
  return {
    routes: routes.size,
    fields: all.length,
    missingRoutes: [...missingRoutes],
    missingFields: [...missingFields],
  };
}
