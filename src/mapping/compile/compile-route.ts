import { cursorAt, readRaw } from "../../dialect/json/scan.ts";
import { fromJsonText } from "../../dialect/json/text.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { Access } from "../../dialect/scopes.ts";
import { thenMaybe } from "../../jsonata/index.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { compileEndpoint, compilePattern } from "./endpoint.ts";
import { suggestionFor } from "../load/suggest.ts";
import { resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { ReadFunction } from "../translation-context.ts";
import type { Resource } from "./resource.ts";
import {
  compileAggregation,
  compileRelatedRequests,
  compileReadAfterWrite,
  compileMergeParts,
  compilePrerequisite,
  compileTokens,
  compileWait,
  compileBodyCondition,
  compileCondition,
} from "./route-steps.ts";
import type { Pattern } from "../router.ts";
import type { Route, RouteKind } from "./route.ts";

/** The definitions that a route may refer to. */
export interface RouteCompileContext {
  readonly dialect: DialectDefinition;
  readonly access: (scope: string) => Access | undefined;
  readonly prerequisites: ReadonlyMap<string, PrerequisiteDefinition>;
  readonly resources: ReadonlyMap<string, Resource>;
}

const scopeNames = ({ scopes: { resources, levels } }: DialectDefinition): string[] =>
  Object.keys(resources).flatMap((resource) => levels.map((level) => `${resource}:${level}`));

/** Compiles where the response of a route comes from: a v4 call, a catalog, or a fixed error. */
function compileSource(
  definition: RouteDefinition,
  resource: Resource,
  parameters: readonly string[],
  { v4: { prefix }, reasons }: DialectDefinition,
  location: SourceLocation,
): Route["source"] {
  const { refuse } = definition;
  if (refuse !== undefined) {
    const [name, status, at] =
      typeof refuse === "string"
        ? [refuse, 400, location.at("refuse")]
        : [refuse.reason, refuse.status, location.at("refuse", "reason")];
    return {
      error: {
        status,
        reason: resolveReference(at, "reason", name, new Map(Object.entries(reasons))) ?? "",
      },
    };
  }
  if (definition.catalog && definition.v4)
    location.report("a route is served from the catalog or by a v4 call, not both");
  if (definition.catalog && resource.catalog) return { catalog: resource.catalog };
  if (definition.catalog) location.at("catalog").report("this resource has no catalog");
  else if (!definition.v4) location.report('a route needs "v4: METHOD /path", "catalog: true", or "refuse"');
  const path = definition.v4 ?? "GET /";
  const names = [...parameters, ...(definition.first ?? [])];
  return { call: compileEndpoint(path, prefix, names, definition.v4 ? location.at("v4") : location) };
}

/** Compiles the choice of a resource: the first whose condition holds for the v4 object; the last needs no condition. */
function compileResourceChoice(
  choices: RouteDefinition["of"],
  defaultResource: Resource,
  resources: RouteCompileContext["resources"],
  location: SourceLocation,
): Route["resourceFor"] {
  const compiled = (choices ?? []).map(({ object, when }, index) => ({
    holds: compileCondition(when, location.at(index, "when")),
    resource: resolveReference(location.at(index, "object"), "object", object, resources) ?? defaultResource,
  }));
  return compiled.reduceRight<Route["resourceFor"]>(
    (otherwise, { holds, resource }) =>
      (v4) =>
        thenMaybe(holds?.(v4) ?? true, (isChosen) => (isChosen ? resource : otherwise(v4))),
    () => defaultResource,
  );
}

/** Rejects objects that exist in v4 only. The returned function throws {HttpError} 404 for such an object. */
function rejectMissing(
  read: ReadFunction,
  exists: string | undefined,
  location: SourceLocation,
): ReadFunction {
  const holds = compileCondition(exists, location);
  if (!holds) return read;
  return (from, reading) =>
    thenMaybe(read(from, reading), (text) =>
      thenMaybe(holds(fromJsonText(text)), (exists) => {
        if (!exists) throw new HttpError(404, "Not found");
        return text;
      }),
    );
}

/** Whether reading an object may return a promise, because of its own fields or those of a nested object. */
function mayReturnPromise(
  { mayBeAsync, nestedObjects }: Resource,
  resources: ReadonlyMap<string, Resource>,
  parents: ReadonlySet<string> = new Set(),
): boolean {
  return (
    mayBeAsync ||
    nestedObjects.some((name) => {
      const resource = parents.has(name) ? undefined : resources.get(name);
      return resource !== undefined && mayReturnPromise(resource, resources, new Set([...parents, name]));
    })
  );
}

function kindOf({
  source,
  response,
  upload,
  file,
  aggregation,
  mergeParts,
}: Pick<Route, "source" | "response" | "upload" | "file" | "aggregation" | "mergeParts">): RouteKind {
  if ("error" in source) return "rejected";
  if ("catalog" in source) return "catalog";
  if (upload || file) return "file";
  if (aggregation) return "aggregated";
  if (mergeParts.length > 0) return "merged";
  return response === "list" ? "list" : "object";
}

/** Reports keys of a route that exclude each other, or that have no effect. */
function reportInvalidRoute(definition: RouteDefinition, resource: Resource, location: SourceLocation): void {
  if (definition.gives === "list" && resource.list === undefined)
    location.at("gives").report('the resource has no "list" name');
  if ((definition.gives === "file") !== (definition.file !== undefined))
    location
      .at("gives")
      .report('"file" has the media type of a route that gives a file, and of no other route');
  if (definition.takes && (definition.body !== undefined || definition.first !== undefined))
    location.at("takes").report('"takes" excludes "body" and "first": the gateway does not read the file');
  if (definition.changes && definition.shows === undefined)
    location.at("changes").report('"changes" needs "shows": the route that reads the current object');
}

/** Compiles one route of a resource. */
export function compileRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: { readonly route: SourceLocation; readonly pack: SourceLocation },
): { route: Route; method: string; pattern: Pattern } {
  const location = locations.route;
  const { dialect } = context;
  const { method, pattern, parameters } = compilePattern(
    definition.alpha,
    dialect.alpha.parameters,
    location.at("alpha"),
  );
  const access = context.access(definition.scope);
  if (!access)
    location.at("scope").report({
      message: `"${definition.scope}" is not public, token, or resource:level of pack.yaml`,
      hint: suggestionFor(definition.scope, ["public", "token", ...scopeNames(dialect)]),
    });
  reportInvalidRoute(definition, resource, location);
  const body =
    definition.body === undefined
      ? undefined
      : resolveReference(location.at("body"), "body", definition.body, resource.bodies);
  const prerequisites = (definition.first ?? []).flatMap((name, index) => {
    const found = resolveReference(location.at("first", index), "prerequisite", name, context.prerequisites);
    const members = [...parameters, ...resource.inputNames];
    return found
      ? [compilePrerequisite(name, found, members, dialect.v4.prefix, locations.pack.at("first", name))]
      : [];
  });
  for (const parameter of body?.pathParameters ?? []) {
    if (!parameters.includes(parameter))
      location.at("body").report(`the body uses :${parameter}, and the path has no such parameter`);
  }
  const { prefix } = dialect.v4;
  const source = compileSource(definition, resource, parameters, dialect, location);
  const call = "call" in source ? source.call.method : "GET";
  if (definition.collect && (definition.gives !== "list" || call !== "GET"))
    location.at("collect").report('"collect" needs a route that gives a list by a GET');
  const resourceFor = compileResourceChoice(definition.of, resource, context.resources, location.at("of"));
  const readChosen: ReadFunction = (from, reading) => {
    const text = readRaw(from);
    return thenMaybe(resourceFor(fromJsonText(text)), ({ read }) => read(cursorAt(text), reading));
  };
  const route: Omit<Route, "kind"> = {
    name: definition.alpha,
    object: resource.name,
    responseObjects: definition.of?.map(({ object }) => object) ?? [resource.name],
    matchesBody: compileBodyCondition(definition.when, location.at("when")),
    namesObject: parameters.length > 0,
    access: access ?? "token",
    withoutScopes: undefined,
    tokenLevels: compileTokens(definition, resource.fields, location.at("token_levels")),
    limit: definition.limit,
    source,
    response: definition.gives,
    upload: definition.takes,
    file: definition.file,
    list: resource.list ?? "",
    body,
    prerequisites,
    wait: compileWait(definition.wait, parameters, prefix, location.at("wait")),
    readAfterWrite: compileReadAfterWrite(definition.after, parameters, prefix, location.at("after")),
    related: compileRelatedRequests(definition, parameters, prefix, location),
    aggregation: compileAggregation(definition.collect, location.at("collect")),
    mergeParts: compileMergeParts(definition, call, parameters, prefix, location),
    where: definition.where,
    retryWithout: definition.again?.without,
    notFoundField: definition.blames,
    readRoute: definition.shows,
    sendsOnlyChanges: definition.changes ?? false,
    emptyError:
      definition.empty === undefined
        ? undefined
        : resolveReference(
            location.at("empty"),
            "reason",
            definition.empty,
            new Map(Object.entries(dialect.reasons)),
          ),
    resource,
    resourceFor,
    read: rejectMissing(definition.of ? readChosen : resource.read, definition.exists, location.at("exists")),
    append:
      definition.of || definition.exists !== undefined || mayReturnPromise(resource, context.resources)
        ? undefined
        : resource.append,
    errorField: resource.errorField,
    filterFields: resource.filterFields,
    selectFields: resource.selectFields,
    losses: definition.gives === "nothing" ? [] : resource.losses,
  };
  const reduced =
    definition.without_scopes === undefined
      ? undefined
      : resolveReference(
          location.at("without_scopes"),
          "object",
          definition.without_scopes,
          context.resources,
        );
  if (reduced && (definition.gives !== "object" || definition.of))
    location.at("without_scopes").report('"without_scopes" needs a route that gives an object, without "of"');
  const kind = kindOf(route);
  if (definition.first && ["aggregated", "catalog", "file", "rejected"].includes(kind))
    location
      .at("first")
      .report('"first" has no effect on this route: nothing is fetched before its response');
  if (definition.body !== undefined && call === "GET")
    location.at("body").report('"body" has no effect: the route sends a GET to v4, which has no body');
  const withoutScopes = reduced && { ...route, kind, read: reduced.read, losses: reduced.losses };
  return { route: { ...route, kind, withoutScopes }, method, pattern };
}
