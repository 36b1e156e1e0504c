import { Scopes } from "../credentials/scopes.ts";
import { splitPath } from "../paths/router.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { AcceptedDifference } from "../schema/accepted-definition.ts";
import type { ApiSurface, CoverageGaps } from "../routes/api-surface.ts";
import type { Steps, StepsResult } from "../steps.ts";
import { compilePart, type BodyContext, type Part } from "../bodies/body-members.ts";
import { compileCatalog, type Catalog, type CatalogContext } from "../calls/compile-catalog.ts";
import { compileLossNames, compileSentNames } from "../routes/sent-names.ts";
import { compileRoutes } from "../routes/compile-routes.ts";
import { reportInvalidFilterRules } from "../filters/default-filters.ts";
import { compileDialects } from "./dialects.ts";
import { compileCatalogPaging } from "../lists/envelopes.ts";
import { compileEndpoint } from "../calls/endpoint.ts";
import { errorIndexesOf } from "../errors/error-shapes.ts";
import { reportInvalidCondition } from "../filters/filter-rules.ts";
import { compileHeaders, hasAbsoluteHeader } from "../headers/headers.ts";
import { createLocationTranslator } from "../routes/locations.ts";
import { compilePathParameters } from "../paths/path-parameters.ts";
import { addUnknownLosses, argumentsOf, inheritFields, type LocatedFile } from "./resource-files.ts";
import { compileResource, objectLosses, type Resource } from "../routes/resource.ts";
import type { Route } from "../routes/route.ts";
import { checkClientKeys } from "../keys/route-keys.ts";
import { compileDialectQuery } from "../parameters/route-query.ts";
import { compileV4Access } from "../routes/upstream-access.ts";
import type { ValueKind } from "../values/value-kind.ts";
import { compileValueKind } from "../fields/value-kinds.ts";

/** A mapping pack: loaded, validated, renamed to the service's words and compiled. Requests only run its functions. */
export interface Pack extends Readonly<StepsResult<typeof compilePack>> {
  /** Identifies the pack: 16 hex digits, which only depend on the files and the product words. */
  readonly hash: string;
  /** Everything that the alpha API contains; undefined if the pack does not declare it. */
  readonly surface: ApiSurface | undefined;
  /** Differences from the old service that the author has accepted. */
  readonly acceptedDifferences: readonly AcceptedDifference[];
  /** Finds the parts of the surface that the pack does not map. */
  gaps(): CoverageGaps;
}

type ResourceFiles = readonly LocatedFile<ResourceDefinition>[];

/** Compiles the value kinds. */
function* compileValueKinds(
  { definition, location }: LocatedFile<DialectDefinition>,
  files: ResourceFiles,
  scopes: Scopes,
): Steps<ReadonlyMap<string, ValueKind>> {
  const values = new Map<string, ValueKind>();
  for (const [name, kind] of Object.entries(definition.values)) {
    values.set(name, compileValueKind(kind, argumentsOf(name, files), scopes, location.at("values", name)));
    yield;
  }
  return values;
}

/** Compiles the catalogs of the resources that have one. */
function* compileCatalogs(
  files: ResourceFiles,
  dialect: DialectDefinition,
  context: Omit<CatalogContext, "pagingOf">,
): Steps<ReadonlyMap<string, Catalog>> {
  const catalogs = new Map<string, Catalog>();
  for (const { definition, location } of files) {
    if (!definition.catalog) continue;
    for (const [index, { filter }] of definition.catalog.upstream.entries())
      if (filter)
        reportInvalidCondition(filter, dialect, location.at("catalog", "upstream", index, "filter"));
    const at = location.at("catalog");
    const { list, upstream_list: upstreamList = list, envelope } = definition;
    const pagingOf: CatalogContext["pagingOf"] = (own, place) =>
      compileCatalogPaging({ list, upstreamList, envelope }, dialect, own, place);
    catalogs.set(
      definition.object,
      compileCatalog(definition.object, definition.catalog, { ...context, pagingOf }, at),
    );
    yield;
  }
  return catalogs;
}

/** Compiles the shared parts of bodies and all resources. Resources refer to each other by functions of the context. */
function* compileResources(
  { definition: dialect, location }: LocatedFile<DialectDefinition>,
  files: ResourceFiles,
  scopes: Scopes,
  { values, catalogs, lookup }: Pick<BodyContext, "values" | "catalogs" | "lookup">,
): Steps<ReadonlyMap<string, Resource>> {
  const parts = new Map<string, Part>();
  const resources = new Map<string, Resource>();
  const lossyObjects = new Set<string>();
  const context: BodyContext = {
    values,
    catalogs,
    objects: resources,
    errorIndexes: errorIndexesOf(dialect, files),
    resources: new Map(files.map((file) => [file.definition.object, file])),
    mayLose: (object) => lossyObjects.has(object),
    lookup,
    scopesOf: (v4, asked) =>
      typeof v4 === "string" ? scopes.toAlpha(v4, typeof asked === "string" ? asked : undefined) : undefined,
    scopesFor: (alpha) => (typeof alpha === "string" ? scopes.toV4(alpha).join(" ") || undefined : undefined),
    parts,
    id: dialect.client.id,
    dialect,
    pathParameters: dialect.client.path_parameters,
  };
  for (const [name, part] of Object.entries(dialect.parts))
    parts.set(name, yield* compilePart(part, context, location.at("parts", name)));
  for (const { definition, location: at } of files) {
    reportInvalidFilterRules(definition, values, dialect, at);
    resources.set(definition.object, yield* compileResource(definition, context, at));
  }
  for (const name of resources.keys()) if (objectLosses(name, resources).length > 0) lossyObjects.add(name);
  return resources;
}

/** Compiles the token check. A pack without a check is invalid if a route accepts a file. */
function compileTokenCheck(
  { definition: { upstream }, location }: LocatedFile<DialectDefinition>,
  takesFiles: boolean,
) {
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

/**
 * Compiles a validated pack: value kinds, catalogs, resources, and routes, in this order. References are resolved here.
 * An unknown reference is reported, and compilation continues, so that the author gets all problems in one run. Yields
 * after each of them.
 *
 * @param dialect The file `pack.yaml`.
 * @param resourceFiles The resource files.
 */
export function* compilePack(dialect: LocatedFile<DialectDefinition>, resourceFiles: ResourceFiles) {
  const { definition, location } = dialect;
  const files = inheritFields(resourceFiles).map((file) => addUnknownLosses(file, definition.values));
  const scopes = new Scopes(definition.scopes);
  const values = yield* compileValueKinds(dialect, files, scopes);
  const lookup = (kind: string, value: unknown): unknown => values.get(kind)?.lookup?.(value);
  const catalogs = yield* compileCatalogs(files, definition, { values, lookup, id: definition.upstream.id });
  const resources = yield* compileResources(dialect, files, scopes, { values, catalogs, lookup });

  const dialects = compileDialects(definition, files, location);
  checkClientKeys(definition, resources, location.at("client"));
  const messages = new Map(Object.entries(definition.messages));
  const routeContext = {
    dialect: definition,
    paging: dialects.paging,
    errors: dialects,
    access: (scope: string) => scopes.access(scope),
    shared: new Map(Object.entries(definition.calls)),
    resources,
    query: compileDialectQuery(dialect, { values, messages }, dialects),
    grammar: dialects.grammar,
    pathParameters: compilePathParameters(
      definition.client.path_parameters,
      values,
      location.at("client", "path_parameters"),
    ),
  };
  const { router, routes } = yield* compileRoutes(files, routeContext, values, location);

  const all = [...routes.values()].flat();
  const takesFiles = new Set(all.flatMap(({ upload, name }) => (upload ? [name.split(" ")[0] ?? ""] : [])));
  return {
    ...dialects,
    dialect: definition,
    /** The methods of routes that accept a file. */
    takesFiles: takesFiles as ReadonlySet<string>,
    /** Finds alpha's access rules for a v4 call. */
    v4Access: compileV4Access(all, catalogs.values(), definition.upstream.base_path),
    /** A v4 GET that checks whether v4 accepts a token. Only routes that accept a file need it. */
    tokenCheck: compileTokenCheck(dialect, takesFiles.size > 0),
    /** Segments of the prefix of all alpha paths. */
    prefix: splitPath(definition.client.base_path) ?? [],
    scopes,
    resources,
    routes: all as readonly Route[],
    /** The names that clients may send to a route, by the name of the route. */
    sentNames: compileSentNames(all),
    /** The possible losses of the requests and responses of a route, by the name of the route. */
    lossNames: compileLossNames(all),
    /**
     * Finds the routes of a path: one, or several from which the body selects one. @param segments the decoded segments
     * after the prefix
     */
    match(method: string, segments: readonly string[]) {
      const found = router.match(method, segments);
      return found && { routes: found.route as readonly Route[], parameters: found.parameters };
    },
    /** The headers of all routes; undefined if no header is passed on. */
    commonHeaders: compileHeaders(undefined, definition, { route: location, pack: location }, new Set()),
    /** Whether a header contains links with a host. */
    hasAbsoluteHeaders: hasAbsoluteHeader(
      definition,
      all.map(({ headers }) => headers),
    ),
    /** Translates addresses of the upstream in `Location`. */
    locate: createLocationTranslator(all, definition.client.base_path, definition.upstream.base_path),
    /** Returns a route by its name, `GET /vm/instances/:id`. */
    route: (name: string): Route | undefined => routes.get(name)?.at(-1),
  };
}
