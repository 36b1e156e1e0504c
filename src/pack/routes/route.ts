/** One compiled route of the client: its access rule, its upstream call, and its response. All references are resolved. */
import type { Access } from "../credentials/scopes.ts";
import { objectPath } from "../bodies/object-wrapper.ts";
import type { BodyRules } from "../bodies/body.ts";
import { type CallDefinition, definedCalls, type SharedCallDefinition } from "../calls/call-definition.ts";
import { compilePattern } from "../calls/endpoint.ts";
import { checkOwnErrors, compileOwnErrors, type ErrorTranslation } from "../errors/error-shapes.ts";
import type { Failure } from "../errors/http-error.ts";
import { compileBodyCondition } from "../expressions/conditions.ts";
import { compileFilterDefaults } from "../filters/default-filters.ts";
import type { Grammar } from "../filters/grammar.ts";
import { compileHeaders, type PassedHeaders } from "../headers/headers.ts";
import { CONDITIONAL } from "../headers/request-headers.ts";
import { checkKeys, compileKeys, joinKeys, type RouteDefinition } from "../keys/route-keys.ts";
import { checkEnvelope, type ListsOf } from "../lists/envelopes.ts";
import type { Paging } from "../lists/paging.ts";
import { compileListSearch } from "../parameters/list-search.ts";
import { compileRouteQuery, type DialectQuery } from "../parameters/route-query.ts";
import { compilePathValues, type PathParameterRules } from "../paths/path-parameters.ts";
import { namesInPaths } from "../paths/router.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { WriteContext } from "../translation-context.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import { thenMaybe } from "../../jsonata/index.ts";
import { objectLosses, type Resource, routeLosses } from "./resource.ts";
import { compileCondition } from "./route-condition.ts";
import { compileReading, compileWrappers, responseNames } from "./route-response.ts";
import { compileAccess, compileSource, kindOf, readsOf } from "./route-source.ts";
import { collectNames } from "./upstream-names.ts";

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

/** A compiled route: the values of its keys, and values that are derived from several keys. */
export interface Route extends Readonly<Omit<ReturnType<typeof assembleRoute>, "withoutScopes">> {
  /** The variant of this route for tokens without scopes; undefined if such tokens are rejected. */
  readonly withoutScopes: Route | undefined;
}

/**
 * Compiles the translation of a client's cursor, which is a member of an item, to the upstream's cursor; undefined if
 * the upstream's cursor is not the same member.
 */
function compileCursorTranslation(
  { fields, writeObject }: Resource,
  { style, upstream, upstreamCursor }: Paging,
) {
  if (style?.kind !== "cursor" || upstream.style?.kind !== "cursor") return undefined;
  const { item } = style;
  const rule = item === undefined ? undefined : fields.get(item);
  if (item === undefined || !rule || rule.upstream !== upstream.style.item) return undefined;
  if (rule.catalog !== undefined || (rule.read !== undefined && rule.write === undefined)) return undefined;
  return (cursor: string, writing: WriteContext) =>
    thenMaybe(writeObject({ [item]: cursor }, writing), upstreamCursor);
}

/** Keys that are replaced in the compiled route by a member of the same name, because it also depends on other definitions. */
type ReplacedKey = "body" | "headers" | "object" | "query" | "response" | "search" | "status" | "where";

/** The headers of a route about versions of objects. */
const versionHeaders = (headers: PassedHeaders | undefined) => ({
  maySendVersion: Object.keys(headers?.definition.request ?? {}).some(
    (name) => name.toLowerCase() === "if-match",
  ),
  makesVersion: headers?.entityTag !== undefined,
});

/** Compiles the route's rules for failed checks and calls. */
function compileFailures(
  { failures = {} }: RouteDefinition,
  body: BodyRules | undefined,
  calls: readonly CallDefinition[],
  location: SourceLocation,
) {
  const checks: readonly Failure[] = [...(body?.checks ?? []), ...calls.flatMap((call) => call.checks ?? [])];
  if (failures.checks && checks.length === 0)
    location.at("checks").report({
      message: '"checks" has no effect: the route has no check',
      hint: "checks are keys of a body and of a call",
    });
  const all = [...checks, failures.checks, ...calls.map(({ failure }) => failure)];
  return {
    /** The status and the code of checks that define none. */
    checkFailure: failures.checks,
    /** Statuses of the route's errors that only some routes use. */
    ownStatuses: [...new Set(all.flatMap((each) => each?.status ?? []))],
  };
}

/** Compiles the definitions that a route references, and its keys, before the route itself. */
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
  const lists = context.listsOf(definition, location);
  const keys = compileKeys({
    ...context,
    ...locations,
    keys: definition,
    parameters,
    names,
    call: "call" in source ? source.call : undefined,
    resource,
    clientShapes: lists.envelope.client,
  });
  const kind = kindOf(definition, source, lists.paging);
  return { client, access, body, shown, reduced, calls, names, source, lists, keys, kind };
}

/** Compiles the parts of a route that are derived from several definitions. */
function assembleRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: RouteLocations,
  parts: ReturnType<typeof compileParts>,
) {
  const location = locations.route;
  const { dialect, resources, grammar, pathParameters, query: dialectQuery } = context;
  const { access, body, shown, calls, names, source, lists, keys, kind } = parts;
  const { paging, envelope: shapes } = lists;
  const { parameters, method } = parts.client;
  const { values } = dialectQuery.context;
  const used = { query: dialectQuery, dialect, paging, usedNames: names.used };
  const query = compileRouteQuery(definition, resource, source, keys.keyParameters, used, location);
  const responseObjects = definition.one_of?.map(({ object }) => object) ?? [shown.name];
  const { envelope } = definition;
  if (envelope) {
    checkEnvelope(envelope, (side) => location.at("envelope", side));
    checkOwnErrors(envelope, resource.envelope, dialect, namesInPaths([definition]), location.at("envelope"));
  }
  const available = { names: names.all, rules: pathParameters };
  const condition = compileCondition(definition, values, dialect, grammar, available, location);
  const inSearch = { dialect, paging, values };
  const ownKeys: Omit<typeof keys, ReplacedKey> = keys;
  return joinKeys(ownKeys, {
    ...query,
    ...condition,
    ...compileFilterDefaults(definition, resource, dialect, grammar, condition.where, location),
    ...compileFailures(definition, body, calls, location.at("failures")),
    ...compileReading(definition, shown, resources, location),
    ...readsOf(definition, method, source, keys.calls),
    ...compileWrappers(definition, responseNames(shown, resource), shapes, location),
    /** The name as written in the pack, `GET /vm/instances/:id`. */
    name: definition.client,
    kind,
    response: definition.response,
    /** The status of successful responses. */
    status: definition.status ?? 200,
    /** The object of the resource file that declares the route. */
    object: resource.name,
    /** Objects that the route's response may contain. */
    responseObjects,
    /** If several routes share a path: whether this route accepts a body. */
    matchesBody: compileBodyCondition(definition.when, location.at("when"), "selection"),
    /** Whether the path identifies an object. If not, an object that v4 does not find was named in the body. */
    namesObject: parameters.length > 0 || definition.bulk !== undefined,
    pathParameters,
    /** Translates the path parameters to the upstream's values; undefined if they are the same. */
    writeParameters: compilePathValues(parameters, pathParameters),
    access,
    source,
    /** Headers that are passed between the sides; undefined if missing. */
    headers: compileHeaders(definition.headers, dialect, locations, names.used),
    /** The keys that lead to the object in the response of the call that contains its version. */
    versionPath: objectPath(shapes.upstream.object ?? "$object", resource.upstreamName),
    list: shown.list ?? resource.list ?? "",
    /** The route's envelopes on both sides, and how its lists are paged and read. */
    lists,
    /** Set if the upstream reads the list with a POST: moves the query into the body. */
    search: compileListSearch(definition, resource, source, query.query, inSearch, location.at("search")),
    /** The errors of both sides, if they differ from the pack's; see `errorsOf`. */
    errors: compileOwnErrors([resource.envelope, envelope], dialect, context.errors),
    body,
    /** The resource that declares the members of the body. */
    resource,
    /** Returns the client's name for the field of an upstream error. */
    errorField: (field: string) => resource.errorField(body ? body.format.unwrapField(field) : field),
    filterFields: resource.filterFields,
    /** Fields by which the gateway filters and orders a list itself. */
    selectFields: resource.selectFields,
    translateCursor: compileCursorTranslation(resource, paging),
    /** The possible losses of requests and responses, as `field: reason`. A record lists those that occurred. */
    losses: routeLosses(definition, responseObjects, body, resource, resources, keys.calls),
  });
}

/** The method of the upstream call; `GET` if there is none. */
const methodOf = (source: ReturnType<typeof compileSource>): string =>
  "call" in source ? source.call.method : "GET";

/** Compiles one route of a resource. */
export function compileRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: RouteLocations,
) {
  const parts = compileParts(definition, resource, context, locations);
  const { reduced, lists, body, names, kind, source, client } = parts;
  const { method, pattern, parameters } = client;
  const assembled = assembleRoute(definition, resource, context, locations, parts);
  checkKeys(
    {
      keys: definition,
      kind,
      method,
      call: methodOf(source),
      otherCalls: parts.keys.calls.map(({ endpoint }) => endpoint.method),
      parameters,
      callsBefore: names.ofCallsBefore,
      body,
      lacksListName: lists.lacksName,
      headers: versionHeaders(assembled.headers),
    },
    locations.route,
  );
  const withoutScopes: Route | undefined = reduced && {
    ...assembled,
    read: reduced.read,
    losses: objectLosses(reduced.name, context.resources),
    withoutScopes: undefined,
  };
  const route: Route = { ...assembled, withoutScopes };
  return { route, method, pattern };
}

/** Whether a route can respond with 304, because the client already has the object. */
export const mayBeNotModified = ({ name, source, headers }: Route): boolean =>
  !("error" in source) &&
  (Object.keys(headers?.definition.request ?? {}).some((header) => CONDITIONAL.has(header.toLowerCase())) ||
    ((headers?.entityTag !== undefined || headers?.makesDate === true) && name.startsWith("GET ")));
