import type { Access } from "../credentials/scopes.ts";
import { objectPath } from "../bodies/object-wrapper.ts";
import { thenMaybe } from "../../jsonata/index.ts";
import type { DialectDefinition, SharedCallDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "./route-definition.ts";
import { tokenHeadersOf } from "../headers/client-head.ts";
import { compileHeaders, headerPathNames, type PassedHeaders } from "../headers/headers.ts";
import { compileEndpoint, compilePattern } from "../calls/endpoint.ts";
import type { Dialects } from "../load/dialects.ts";
import { checkOwnErrors, compileOwnErrors } from "../errors/error-shapes.ts";
import { checkEnvelope, type ListsOf } from "../lists/envelopes.ts";
import { compileListSearch } from "../lists/list-search.ts";
import { compilePathValues, type PathParameterRules } from "./path-parameters.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import type { Grammar } from "../filters/grammar.ts";
import { compileFilterDefaults } from "../filters/default-filters.ts";
import { compileCondition } from "./route-condition.ts";
import { namesInBraces } from "./path-names.ts";
import { compileRouteQuery, type DialectQuery, queryPathNames } from "./route-query.ts";
import { objectLosses, type Resource } from "../load/resource.ts";
import { compileBodyCondition } from "../calls/conditions.ts";
import { definedCalls, namesBefore } from "../keys/calls/calls.ts";
import { checkKeys, compileKeys } from "../keys/route-keys.ts";
import type { RouteKind } from "../keys/rules.ts";
import { routeLosses } from "../fields/route-losses.ts";
import { compileAccess } from "../credentials/route-access.ts";
import { compileFailures } from "../errors/route-failures.ts";
import type { Pattern } from "./router.ts";
import type { Paging } from "../lists/paging.ts";
import type { Route } from "./route.ts";
import { compileReading, compileWrappers, namesOf } from "./route-response.ts";

/** The definitions that a route may refer to. */
export interface RouteCompileContext {
  readonly dialect: DialectDefinition;
  readonly listsOf: ListsOf;
  readonly access: (scope: string) => Access | undefined;
  readonly shared: ReadonlyMap<string, SharedCallDefinition>;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly query: DialectQuery;
  readonly errors: Pick<Dialects, "statuses" | "errorCodes">;
  readonly grammar: Grammar;
  /** The path parameters of the pack and of the resource. */
  readonly pathParameters: PathParameterRules;
}

/** The locations of a route and of `pack.yaml`. */
interface RouteLocations {
  readonly route: SourceLocation;
  readonly pack: SourceLocation;
}

/** Compiles where the response of a route comes from: a v4 call, a catalog, or a fixed error. */
function compileSource(
  definition: RouteDefinition,
  resource: Resource,
  names: readonly string[],
  { upstream: { base_path: prefix }, messages }: DialectDefinition,
  location: SourceLocation,
): Route["source"] {
  const { reject } = definition;
  if (reject !== undefined) {
    const [name, status, at] =
      typeof reject === "string"
        ? [reject, 400, location.at("reject")]
        : [reject.message, reject.status, location.at("reject", "message")];
    return {
      error: {
        status,
        reason: resolveReference(at, "message", name, new Map(Object.entries(messages))) ?? "",
      },
    };
  }
  if (definition.catalog && definition.upstream)
    location.report("a route is served from the catalog or by an upstream call, not both");
  if (typeof definition.catalog === "string" && definition.catalog !== resource.name)
    location.at("catalog").report({
      message: `a route has the catalog of its own file, "${resource.name}"`,
      hint: "catalog: true",
    });
  if (definition.catalog && resource.catalog) return { catalog: resource.catalog };
  if (definition.catalog) location.at("catalog").report("this resource has no catalog");
  else if (!definition.upstream)
    location.report('a route needs "upstream: METHOD /path", "catalog: true", or "reject"');
  const path = definition.upstream ?? "GET /";
  return {
    call: compileEndpoint(path, prefix, names, definition.upstream ? location.at("upstream") : location),
  };
}

function kindOf(
  {
    source,
    response,
    upload,
    file,
    bulk,
    aggregate,
    search,
  }: Pick<Route, "source" | "response" | "upload" | "file" | "bulk" | "aggregate" | "search">,
  { isDirect }: Paging,
): RouteKind {
  if ("error" in source) return "rejected";
  if ("catalog" in source) return "catalog";
  if (upload || file) return "file";
  if (bulk) return "bulk";
  if (aggregate) return "aggregated";
  if (response !== "list") return "object";
  const isRead = source.call.method === "GET" || search !== undefined;
  return isRead && !isDirect ? "paged" : "list";
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

/** What the headers of a route say about the versions of objects. */
const versionHeaders = (headers: PassedHeaders | undefined) => ({
  maySendVersion: Object.keys(headers?.definition.request ?? {}).some(
    (name) => name.toLowerCase() === "if-match",
  ),
  makesVersion: headers?.entityTag !== undefined,
});

/** Whether requests of a route only read, on both sides. @param call Method of the upstream call. */
const isSafe = ({ safe, search }: RouteDefinition, method: string, call: string): boolean =>
  safe === true || (method === "GET" && (call === "GET" || search !== undefined));

/** Compiles one route of a resource. */
export function compileRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: RouteLocations,
): { route: Route; method: string; pattern: Pattern } {
  const location = locations.route;
  const { dialect, resources } = context;
  const tokenHeaders = tokenHeadersOf(dialect.client.credentials);
  const { method, pattern, parameters } = compilePattern(
    definition.client,
    context.pathParameters,
    location.at("client"),
  );
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
  const sharedCalls = definedCalls(definition, context.shared);
  const usedNames = namesInBraces(definition, sharedCalls);
  const headNames = [
    ...parameters,
    ...queryPathNames(definition, context.query, usedNames),
    ...headerPathNames(definition.headers, dialect, usedNames),
    ...Object.keys(definition.values ?? {}),
  ];
  const ofBulk = definition.bulk ? [definition.bulk.parameter] : [];
  const upstreamNames = [...headNames, ...ofBulk, ...(body?.toPath.keys() ?? [])];
  for (const name of upstreamNames.filter((each, index) => upstreamNames.indexOf(each) < index))
    if (!ofBulk.includes(name))
      location.report(`{${name}} of the upstream's path has two values: one of them needs another name`);
  const callsBefore = namesBefore(definition, context.shared);
  const names = [...upstreamNames, ...callsBefore];
  const source = compileSource(definition, resource, names, dialect, location);
  const call = "call" in source ? source.call.method : "GET";
  const lists = context.listsOf(definition, location);
  const keys = compileKeys({
    route: location,
    pack: locations.pack,
    keys: definition,
    dialect,
    parameters,
    pathParameters: context.pathParameters,
    headNames,
    usedNames,
    pathNames: upstreamNames,
    names,
    call: "call" in source ? source.call : undefined,
    method: call,
    shared: context.shared,
    resource,
    resources,
    clientShapes: lists.envelope.client,
    tokenHeaders,
  });
  const { query, queryFilter } = compileRouteQuery(
    definition,
    resource,
    source,
    keys.keyParameters,
    { query: context.query, dialect, paging: lists.paging, usedNames },
    location,
  );
  const responseObjects = definition.one_of?.map(({ object }) => object) ?? [shown.name];
  const { values } = context.query.context;
  const { envelope } = definition;
  if (envelope) {
    checkEnvelope(envelope, (side) => location.at("envelope", side));
    checkOwnErrors(envelope, resource.envelope, dialect, [definition], location.at("envelope"));
  }
  const headers = compileHeaders(definition.headers, dialect, locations, usedNames);
  const available = { names, rules: context.pathParameters };
  const condition = compileCondition(definition, values, dialect, context.grammar, available, location);
  const route: Omit<Route, "kind"> = {
    ...keys,
    name: definition.client,
    response: definition.response,
    status: definition.status ?? 200,
    isSafe: isSafe(definition, method, call),
    object: resource.name,
    responseObjects,
    matchesBody: compileBodyCondition(definition.when, {
      phase: "selection",
      tokenHeaders,
      location: location.at("when"),
    }),
    namesObject: parameters.length + ofBulk.length > 0,
    pathParameters: context.pathParameters,
    writeParameters: compilePathValues(parameters, context.pathParameters),
    access,
    withoutScopes: undefined,
    source,
    headers,
    versionPath: objectPath(lists.envelope.upstream.object ?? "$object", resource.upstreamName),
    list: shown.list ?? resource.list ?? "",
    lists,
    search: compileListSearch(
      definition,
      resource,
      source,
      query,
      { dialect, paging: lists.paging, values },
      location.at("search"),
    ),
    errors: compileOwnErrors([resource.envelope, envelope], dialect, context.errors),
    body,
    query,
    queryFilter,
    ...compileFilterDefaults(definition, resource, dialect, context.grammar, condition.where, location),
    ...compileFailures(definition, body, sharedCalls, location.at("failures")),
    ...condition,
    resource,
    ...compileReading(definition, shown, resources, tokenHeaders, location),
    errorField: (field) => resource.errorField(body ? body.format.unwrapField(field) : field),
    filterFields: resource.filterFields,
    selectFields: resource.selectFields,
    translateCursor: compileCursorTranslation(resource, lists.paging),
    ...compileWrappers(definition, namesOf(shown, resource), lists.envelope, location),
    losses: routeLosses(definition, responseObjects, body, resource, resources),
  };
  const reduced = refer("without_scopes", "object", resources);
  const kind = kindOf(route, lists.paging);
  const facts = { keys: definition, kind, method, call, parameters, callsBefore, body };
  const { lacksName: lacksListName } = lists;
  checkKeys({ ...facts, lacksListName, headers: versionHeaders(headers) }, location);
  const withoutScopes = reduced && {
    ...route,
    kind,
    read: reduced.read,
    losses: objectLosses(reduced.name, resources),
  };
  return { route: { ...route, kind, withoutScopes }, method, pattern };
}
