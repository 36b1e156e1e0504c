import type { Access } from "../credentials/scopes.ts";
import { objectPath } from "../bodies/object-wrapper.ts";
import { thenMaybe } from "../../jsonata/index.ts";
import type { DialectDefinition, SharedCallDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "./route-definition.ts";
import { compileHeaders, type PassedHeaders } from "../headers/headers.ts";
import { compilePattern } from "../calls/endpoint.ts";
import { checkOwnErrors, compileOwnErrors, type ErrorTranslation } from "../errors/error-shapes.ts";
import { checkEnvelope, type ListsOf } from "../lists/envelopes.ts";
import { compileListSearch } from "../parameters/list-search.ts";
import { compilePathValues, type PathParameterRules } from "../paths/path-parameters.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import type { Grammar } from "../filters/grammar.ts";
import { compileFilterDefaults } from "../filters/default-filters.ts";
import { compileCondition } from "./route-condition.ts";
import { compileRouteQuery, type DialectQuery } from "../parameters/route-query.ts";
import { objectLosses, type Resource, routeLosses } from "./resource.ts";
import { compileBodyCondition } from "../expressions/conditions.ts";
import { definedCalls } from "../keys/calls.ts";
import { checkKeys, compileKeys } from "../keys/route-keys.ts";
import { compileAccess, compileSource, kindOf } from "./route-source.ts";
import { compileFailures } from "./route-failures.ts";
import { namesInPaths, type Pattern } from "../paths/router.ts";
import type { Paging } from "../lists/paging.ts";
import type { Route } from "./route.ts";
import { collectNames } from "./upstream-names.ts";
import { compileReading, compileWrappers, namesOf } from "./route-response.ts";

/** The definitions that a route may refer to. */
export interface RouteCompileContext {
  readonly dialect: DialectDefinition;
  readonly listsOf: ListsOf;
  readonly access: (scope: string) => Access | undefined;
  readonly shared: ReadonlyMap<string, SharedCallDefinition>;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly query: DialectQuery;
  readonly errors: ErrorTranslation;
  readonly grammar: Grammar;
  /** The path parameters of the pack and of the resource. */
  readonly pathParameters: PathParameterRules;
}

/** The locations of a route and of `pack.yaml`. */
interface RouteLocations {
  readonly route: SourceLocation;
  readonly pack: SourceLocation;
}

/** Compiles the translation of cursors that are a member of an item, if that is the same member on both sides. */
function compileCursorTranslation(
  { fields, writeObject }: Resource,
  { style, upstream, upstreamCursor }: Paging,
): Route["translateCursor"] {
  if (style?.kind !== "cursor" || upstream.style?.kind !== "cursor") return undefined;
  const { item } = style;
  const rule = item === undefined ? undefined : fields.get(item);
  if (item === undefined || !rule || rule.upstream !== upstream.style.item) return undefined;
  if (rule.catalog !== undefined || (rule.read !== undefined && rule.write === undefined)) return undefined;
  return (cursor, writing) => thenMaybe(writeObject({ [item]: cursor }, writing), upstreamCursor);
}

/** The headers of a route about versions of objects. */
const versionHeaders = (headers: PassedHeaders | undefined) => ({
  maySendVersion: Object.keys(headers?.definition.request ?? {}).some(
    (name) => name.toLowerCase() === "if-match",
  ),
  makesVersion: headers?.entityTag !== undefined,
});

/** Whether requests of a route only read, on both sides. @param call Method of the upstream call. */
const isSafe = ({ safe, search }: RouteDefinition, method: string, call: string): boolean =>
  safe === true || (method === "GET" && (call === "GET" || search !== undefined));

/** The definitions that a route names, and its compiled keys. All of them are prepared before the route. */
function compileParts(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: RouteLocations,
) {
  const location = locations.route;
  const { dialect, resources } = context;
  const client = compilePattern(definition.client, context.pathParameters, location.at("client"));
  const { parameters } = client;
  const access = compileAccess(definition, context, location);
  const refer = <T>(
    key: "body" | "without_scopes" | "object",
    what: string,
    known: ReadonlyMap<string, T>,
  ) => {
    const { [key]: name } = definition;
    return name === undefined ? undefined : resolveReference(location.at(key), what, name, known);
  };
  const body = refer("body", "body", resource.bodies);
  const shown = refer("object", "object", resources) ?? resource;
  const reduced = refer("without_scopes", "object", resources);
  const calls = definedCalls(definition, context.shared);
  const names = collectNames(definition, { parameters, body, calls }, context, location);
  const source = compileSource(definition, resource, names.all, dialect, location);
  const method = "call" in source ? source.call.method : "GET";
  const lists = context.listsOf(definition, location);
  const keys = compileKeys({
    route: location,
    pack: locations.pack,
    keys: definition,
    dialect,
    parameters,
    pathParameters: context.pathParameters,
    names,
    call: "call" in source ? source.call : undefined,
    shared: context.shared,
    resource,
    resources,
    clientShapes: lists.envelope.client,
  });
  return { client, access, body, shown, reduced, calls, names, source, method, lists, keys };
}

/** Compiles the parts of a route that are not in its definitions. */
function assembleRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: RouteLocations,
  parts: ReturnType<typeof compileParts>,
): Omit<Route, "kind"> {
  const location = locations.route;
  const { dialect, resources, grammar, pathParameters } = context;
  const { access, body, shown, calls, names, source, method, lists, keys } = parts;
  const { paging, envelope: shapes } = lists;
  const { parameters } = parts.client;
  const query = compileRouteQuery(
    definition,
    resource,
    source,
    keys.keyParameters,
    { query: context.query, dialect, paging, usedNames: names.used },
    location,
  );
  const responseObjects = definition.one_of?.map(({ object }) => object) ?? [shown.name];
  const { values } = context.query.context;
  const { envelope } = definition;
  if (envelope) {
    checkEnvelope(envelope, (side) => location.at("envelope", side));
    checkOwnErrors(envelope, resource.envelope, dialect, namesInPaths([definition]), location.at("envelope"));
  }
  const headers = compileHeaders(definition.headers, dialect, locations, names.used);
  const available = { names: names.all, rules: pathParameters };
  const condition = compileCondition(definition, values, dialect, grammar, available, location);
  return {
    ...keys,
    ...query,
    ...condition,
    ...compileFilterDefaults(definition, resource, dialect, grammar, condition.where, location),
    ...compileFailures(definition, body, calls, location.at("failures")),
    ...compileReading(definition, shown, resources, location),
    ...compileWrappers(definition, namesOf(shown, resource), shapes, location),
    name: definition.client,
    response: definition.response,
    status: definition.status ?? 200,
    isSafe: isSafe(definition, parts.client.method, method),
    object: resource.name,
    responseObjects,
    matchesBody: compileBodyCondition(definition.when, location.at("when"), "selection"),
    namesObject: parameters.length > 0 || definition.bulk !== undefined,
    pathParameters,
    writeParameters: compilePathValues(parameters, pathParameters),
    access,
    withoutScopes: undefined,
    source,
    headers,
    versionPath: objectPath(shapes.upstream.object ?? "$object", resource.upstreamName),
    list: shown.list ?? resource.list ?? "",
    lists,
    search: compileListSearch(
      definition,
      resource,
      source,
      query.query,
      { dialect, paging, values },
      location.at("search"),
    ),
    errors: compileOwnErrors([resource.envelope, envelope], dialect, context.errors),
    body,
    resource,
    errorField: (field) => resource.errorField(body ? body.format.unwrapField(field) : field),
    filterFields: resource.filterFields,
    selectFields: resource.selectFields,
    translateCursor: compileCursorTranslation(resource, paging),
    losses: routeLosses(definition, responseObjects, body, resource, resources, keys.calls),
  };
}

/** Compiles one route of a resource. */
export function compileRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: RouteLocations,
): { route: Route; method: string; pattern: Pattern } {
  const parts = compileParts(definition, resource, context, locations);
  const { reduced, lists, body, names } = parts;
  const { method, pattern, parameters } = parts.client;
  const assembled = assembleRoute(definition, resource, context, locations, parts);
  const route = { ...assembled, kind: kindOf(assembled, lists.paging) };
  checkKeys(
    {
      keys: definition,
      kind: route.kind,
      method,
      call: parts.method,
      parameters,
      callsBefore: names.ofCallsBefore,
      body,
      lacksListName: lists.lacksName,
      headers: versionHeaders(route.headers),
    },
    locations.route,
  );
  const withoutScopes = reduced && {
    ...route,
    read: reduced.read,
    losses: objectLosses(reduced.name, context.resources),
  };
  return { route: { ...route, withoutScopes }, method, pattern };
}
