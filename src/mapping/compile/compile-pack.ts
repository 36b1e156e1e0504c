import { createScopes } from "../../dialect/scopes.ts";
import { compilePart, type BodyContext, type Part } from "./body-members.ts";
import { compileCatalog, type Catalog } from "./compile-catalog.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { FieldRule } from "../schema/field-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import { createLocationTranslator } from "./locations.ts";
import { compileDialects } from "./dialects.ts";
import { reportInvalidFilterRules } from "./default-filters.ts";
import { reportInvalidCondition } from "./filters.ts";
import { compileDialectQuery } from "./route-query.ts";
import { compileEndpoint } from "./endpoint.ts";
import { suggestionFor } from "../load/suggest.ts";
import type { Pack } from "../pack.ts";
import { silent, resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { ReadFunction } from "../translation-context.ts";
import { compileResource, objectLosses, type Resource } from "./resource.ts";
import { compilePathParameters } from "./path-parameters.ts";
import { compileRoute } from "./compile-route.ts";
import type { Route } from "./route.ts";
import { createRouter, splitPath, type Router } from "../router.ts";
import { compileValueKind, type ValueKind } from "./value-kinds.ts";
import type { Steps } from "../steps.ts";
import { compileV4Access } from "./upstream-access.ts";

/** A validated file of a pack, and the location for its diagnostics. */
export interface LocatedFile<T> {
  readonly definition: T;
  readonly location: SourceLocation;
}

/** The location of a file. Fields of these names are in another file, which reports their diagnostics. */
const withFieldsOf = (
  names: readonly string[],
  base: SourceLocation,
  location: SourceLocation,
): SourceLocation =>
  Object.assign(Object.create(location) as SourceLocation, {
    at: (...keys: PropertyKey[]) =>
      keys[0] === "fields" && names.includes(String(keys[1]))
        ? silent(base.at(...keys))
        : location.at(...keys),
  });

/** Adds the fields of the base object to files that extend it. They come before their own fields. */
function inheritFields(files: readonly LocatedFile<ResourceDefinition>[]): LocatedFile<ResourceDefinition>[] {
  const objects = new Map(files.map((file) => [file.definition.object, file]));
  return files.map(({ definition, location }) => {
    if (definition.extends === undefined) return { definition, location };
    const at = location.at("extends");
    const baseFile = resolveReference(at, "object", definition.extends, objects);
    const base = baseFile?.definition;
    if (base?.extends !== undefined) at.report(`"${base.object}" extends another object itself`);
    const inherited = Object.keys(base?.fields ?? {}).filter(
      (name) => !Object.hasOwn(definition.fields, name),
    );
    return {
      definition: { ...definition, fields: { ...base?.fields, ...definition.fields } },
      location: baseFile ? withFieldsOf(inherited, baseFile.location, location) : location,
    };
  });
}

/** What a field loses if its value kind rejects the values that its table does not have. */
const UNKNOWN_VALUE = "a value that the table does not have";

/** Adds the loss of unknown values to fields that state no other one. */
function addUnknownLosses(
  { definition, location }: LocatedFile<ResourceDefinition>,
  kinds: DialectDefinition["values"],
): LocatedFile<ResourceDefinition> {
  const fields = Object.entries(definition.fields).map(([name, rule]) => {
    const { unknown, read } = kinds[rule.values ?? ""] ?? {};
    const isLossy = unknown === "reject" && typeof read !== "string" && rule.read === undefined;
    return [name, isLossy ? { loss: UNKNOWN_VALUE, ...rule } : rule];
  });
  return { definition: { ...definition, fields: Object.fromEntries(fields) }, location };
}

/** Returns the names of all arguments that fields of the pack pass to a value kind. */
function argumentsOf(kind: string, resources: readonly LocatedFile<ResourceDefinition>[]): string[] {
  const rules = resources.flatMap(({ definition: { fields, inputs = {} } }): FieldRule[] => [
    ...Object.values(fields),
    ...Object.values(inputs),
  ]);
  return [
    ...new Set(
      rules.filter(({ values }) => values === kind).flatMap((rule) => Object.keys(rule.arguments ?? {})),
    ),
  ];
}

/** Compiles the token check. A pack without one is invalid if a route takes a file. */
function compileTokenCheck(
  { definition: { upstream }, location }: LocatedFile<DialectDefinition>,
  takesFiles: boolean,
): Pack["tokenCheck"] {
  const at = location.at("upstream", "token_check");
  if (upstream.token_check === undefined) {
    if (takesFiles)
      location
        .at("upstream")
        .report('a pack whose routes take files needs "token_check": a GET that any token may send');
    return undefined;
  }
  const endpoint = compileEndpoint(upstream.token_check, upstream.base_path, [], at);
  if (endpoint.method !== "GET") at.report("a token check must be a GET");
  return endpoint;
}

/** Adds a route. Several routes may share a path if all but the last have a condition on the body. */
function addRoute(
  { route, method, pattern }: ReturnType<typeof compileRoute>,
  { router, routes }: { readonly router: Router<Route[]>; readonly routes: Map<string, Route[]> },
  location: SourceLocation,
): void {
  const same = routes.get(route.name);
  if (same?.every(({ matchesBody }) => matchesBody)) {
    if (same.some(({ limit }) => limit !== route.limit))
      location.report(
        'routes of one path must have the same "rate_limit": it applies before the body is read',
      );
    return void same.push(route);
  }
  const one = [route];
  if (router.add(method, pattern, one)) routes.set(route.name, one);
  else
    location.at("client").report({
      message: `another route serves ${method} requests for the same paths`,
      hint: 'add a condition on the body to all but the last of them: when: "password != null"',
    });
}

/**
 * Compiles a validated pack: value kinds, catalogs, resources, and routes, in this order. References are resolved here. An
 * unknown reference is reported, and compilation continues, so that the author sees all problems at once. Yields after each
 * of them.
 *
 * @param dialect The file `pack.yaml`.
 * @param resourceFiles The resource files.
 */
export function* compilePack(
  dialect: LocatedFile<DialectDefinition>,
  resourceFiles: readonly LocatedFile<ResourceDefinition>[],
): Steps<Omit<Pack, "hash">> {
  const { definition, location } = dialect;
  const files = inheritFields(resourceFiles).map((file) => addUnknownLosses(file, definition.values));
  const scopes = createScopes(definition.scopes);
  const values = new Map<string, ValueKind>();
  const lookup = (kind: string, value: unknown): unknown => values.get(kind)?.lookup(value);
  for (const [name, kind] of Object.entries(definition.values)) {
    values.set(name, compileValueKind(kind, argumentsOf(name, files), scopes, location.at("values", name)));
    yield;
  }

  const catalogs = new Map<string, Catalog>();
  for (const { definition: file, location: at } of files) {
    if (!file.catalog) continue;
    for (const [index, { filter }] of file.catalog.upstream.entries())
      if (filter) reportInvalidCondition(filter, definition, at.at("catalog", "upstream", index, "filter"));
    catalogs.set(
      file.object,
      compileCatalog(file.object, file.catalog, { values, lookup }, at.at("catalog")),
    );
    yield;
  }

  const readers = new Map<string, ReadFunction>();
  const objectWrites = new Map<string, Resource["writeObject"]>();
  const errorFields = new Map<string, Resource["errorField"]>();
  const parts = new Map<string, Part>();
  const resources = new Map<string, Resource>();
  const lossyObjects = new Set<string>();
  const context: BodyContext = {
    values,
    catalogs,
    readers,
    objectWrites,
    errorFields,
    resources: new Map(files.map((file) => [file.definition.object, file])),
    mayLose: (object) => lossyObjects.has(object),
    lookup,
    scopesOf: (v4, asked) =>
      typeof v4 === "string" ? scopes.toAlpha(v4, typeof asked === "string" ? asked : undefined) : undefined,
    scopesFor: (alpha) => (typeof alpha === "string" ? scopes.toV4(alpha).join(" ") || undefined : undefined),
    bodies: { client: definition.client.bodies, upstream: definition.upstream.bodies },
    parts,
    id: definition.client.id,
    omitsNull: definition.client.responses.omit_null,
    unknownRecord: definition.messages.unknown_record,
  };
  for (const [name, part] of Object.entries(definition.parts))
    parts.set(name, yield* compilePart(part, context, location.at("parts", name)));
  for (const { definition: file, location: at } of files) {
    reportInvalidFilterRules(file, values, definition, at);
    const resource = yield* compileResource(file, context, at);
    resources.set(file.object, resource);
    readers.set(file.object, resource.read);
    objectWrites.set(file.object, resource.writeObject);
    errorFields.set(file.object, resource.errorField);
  }
  for (const name of resources.keys()) if (objectLosses(name, resources).length > 0) lossyObjects.add(name);

  const router = createRouter<Route[]>();
  const routes = new Map<string, Route[]>();
  const prerequisites = new Map(Object.entries(definition.prerequisites));
  const dialects = compileDialects(definition, location);
  const { paging, grammar } = dialects;
  const messages = new Map(Object.entries(definition.messages));
  const query = compileDialectQuery(dialect, { values, messages, lookup }, dialects);
  const pathParameters = compilePathParameters(
    definition.client.path_parameters,
    values,
    location.at("client", "path_parameters"),
  );
  const access = (scope: string) => scopes.access(scope);
  const routeContext = { dialect: definition, paging, access, prerequisites, resources, query, grammar };
  for (const { definition: file, location: at } of files) {
    const resource = resources.get(file.object);
    const ofFile = compilePathParameters(file.path_parameters ?? {}, values, at.at("path_parameters"));
    for (const [index, entry] of (file.routes ?? []).entries()) {
      if (!resource) continue;
      const here = at.at("routes", index);
      const compiled = compileRoute(
        entry,
        resource,
        { ...routeContext, pathParameters: { ...pathParameters, ...ofFile } },
        { route: here, pack: location },
      );
      addRoute(compiled, { router, routes }, here);
      yield;
    }
  }
  for (const { definition: file, location: at } of files) {
    (file.routes ?? []).forEach(({ read_route: shows }, index) => {
      if (shows === undefined || routes.has(shows)) return;
      at.at("routes", index, "read_route").report({
        message: `there is no route "${shows}"`,
        hint: suggestionFor(shows, [...routes.keys()]),
      });
    });
  }

  const takesFiles = new Set(
    [...routes.values()].flat().flatMap(({ upload, name }) => (upload ? [name.split(" ")[0] ?? ""] : [])),
  );
  const all = [...routes.values()].flat();
  return {
    dialect: definition,
    takesFiles,
    v4Access: compileV4Access(all, catalogs.values(), definition.upstream.base_path),
    tokenCheck: compileTokenCheck(dialect, takesFiles.size > 0),
    prefix: splitPath(definition.client.base_path) ?? [],
    scopes,
    ...dialects,
    resources,
    routes: all,
    surface: undefined,
    gaps: () => ({ unmappedFields: [], unmappedRoutes: [], unused: [] }),
    match(method, segments) {
      const found = router.match(method, segments);
      return found && { routes: found.route, parameters: found.parameters };
    },
    locate: createLocationTranslator(all, definition.client.base_path, definition.upstream.base_path),
    route: (name) => routes.get(name)?.at(-1),
  };
}
