import { cursorAt, readRaw } from "../../dialect/json/scan.ts";
import { fromJsonText } from "../../dialect/json/text.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { Access } from "../../dialect/scopes.ts";
import { thenMaybe } from "../../jsonata/index.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/pack-definition.ts";
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

const scopeNames = ({ scopes }: DialectDefinition): string[] =>
  Object.keys(scopes?.resources ?? {}).flatMap((resource) =>
    (scopes?.levels ?? []).map((level) => `${resource}:${level}`),
  );

/** Compiles where the response of a route comes from: a v4 call, a catalog, or a fixed error. */
function compileSource(
  definition: RouteDefinition,
  resource: Resource,
  parameters: readonly string[],
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
  if (definition.catalog && resource.catalog) return { catalog: resource.catalog };
  if (definition.catalog) location.at("catalog").report("this resource has no catalog");
  else if (!definition.upstream)
    location.report('a route needs "upstream: METHOD /path", "catalog: true", or "reject"');
  const path = definition.upstream ?? "GET /";
  const names = [...parameters, ...(definition.prerequisites ?? [])];
  return {
    call: compileEndpoint(path, prefix, names, definition.upstream ? location.at("upstream") : location),
  };
}

/** Compiles the choice of a resource: the first whose condition holds for the v4 object; the last needs no condition. */
function compileResourceChoice(
  choices: RouteDefinition["one_of"],
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
  if (definition.response === "list" && resource.list === undefined)
    location.at("response").report('the resource has no "list" name');
  if ((definition.response === "file") !== (definition.file !== undefined))
    location
      .at("response")
      .report('"file" has the media type of a route that responds with a file, and of no other route');
  if (definition.upload && (definition.body !== undefined || definition.prerequisites !== undefined))
    location
      .at("upload")
      .report('"upload" excludes "body" and "prerequisites": the gateway does not read the file');
  if (definition.only_changes && definition.read_route === undefined)
    location
      .at("only_changes")
      .report('"only_changes" needs "read_route": the route that reads the current object');
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
    definition.client,
    dialect.client.path_parameters,
    location.at("client"),
  );
  const { scope = dialect.client.credentials ? "token" : "public" } = definition;
  const access = context.access(scope);
  if (!access)
    location.at("scope").report({
      message: `"${scope}" is not public, token, or resource:level of pack.yaml`,
      hint: suggestionFor(scope, ["public", "token", ...scopeNames(dialect)]),
    });
  reportInvalidRoute(definition, resource, location);
  const body =
    definition.body === undefined
      ? undefined
      : resolveReference(location.at("body"), "body", definition.body, resource.bodies);
  const prerequisites = (definition.prerequisites ?? []).flatMap((name, index) => {
    const found = resolveReference(
      location.at("prerequisites", index),
      "prerequisite",
      name,
      context.prerequisites,
    );
    const members = [...parameters, ...resource.inputNames];
    return found
      ? [
          compilePrerequisite(
            name,
            found,
            members,
            dialect.upstream.base_path,
            locations.pack.at("prerequisites", name),
          ),
        ]
      : [];
  });
  for (const parameter of body?.pathParameters ?? []) {
    if (!parameters.includes(parameter))
      location.at("body").report(`the body uses :${parameter}, and the path has no such parameter`);
  }
  const { base_path: prefix } = dialect.upstream;
  const source = compileSource(definition, resource, parameters, dialect, location);
  const call = "call" in source ? source.call.method : "GET";
  if (definition.aggregate && (definition.response !== "list" || call !== "GET"))
    location.at("aggregate").report('"aggregate" needs a route that responds with a list by a GET');
  const resourceFor = compileResourceChoice(
    definition.one_of,
    resource,
    context.resources,
    location.at("one_of"),
  );
  const readChosen: ReadFunction = (from, reading) => {
    const text = readRaw(from);
    return thenMaybe(resourceFor(fromJsonText(text)), ({ read }) => read(cursorAt(text), reading));
  };
  const route: Omit<Route, "kind"> = {
    name: definition.client,
    object: resource.name,
    responseObjects: definition.one_of?.map(({ object }) => object) ?? [resource.name],
    matchesBody: compileBodyCondition(definition.when, location.at("when")),
    namesObject: parameters.length > 0,
    access: access ?? "token",
    withoutScopes: undefined,
    tokenLevels: compileTokens(definition, resource.fields, location.at("tokens")),
    limit: definition.rate_limit,
    source,
    response: definition.response,
    upload: definition.upload,
    file: definition.file,
    list: resource.list ?? "",
    body,
    prerequisites,
    wait: compileWait(definition.wait, parameters, prefix, location.at("wait")),
    readAfterWrite: compileReadAfterWrite(
      definition.read_after,
      parameters,
      prefix,
      location.at("read_after"),
    ),
    related: compileRelatedRequests(definition, parameters, prefix, location),
    aggregation: compileAggregation(definition.aggregate, location.at("aggregate")),
    mergeParts: compileMergeParts(definition, call, parameters, prefix, location),
    where: definition.where,
    retryWithout: definition.retry?.without,
    notFoundField: definition.not_found_field,
    readRoute: definition.read_route,
    sendsOnlyChanges: definition.only_changes ?? false,
    emptyError:
      definition.empty === undefined
        ? undefined
        : resolveReference(
            location.at("empty"),
            "message",
            definition.empty,
            new Map(Object.entries(dialect.messages)),
          ),
    resource,
    resourceFor,
    read: rejectMissing(
      definition.one_of ? readChosen : resource.read,
      definition.exists,
      location.at("exists"),
    ),
    append:
      definition.one_of || definition.exists !== undefined || mayReturnPromise(resource, context.resources)
        ? undefined
        : resource.append,
    errorField: resource.errorField,
    filterFields: resource.filterFields,
    selectFields: resource.selectFields,
    losses: definition.response === "none" ? [] : resource.losses,
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
  if (reduced && (definition.response !== "object" || definition.one_of))
    location
      .at("without_scopes")
      .report('"without_scopes" needs a route that responds with an object, without "one_of"');
  const kind = kindOf(route);
  if (definition.prerequisites && ["aggregated", "catalog", "file", "rejected"].includes(kind))
    location
      .at("prerequisites")
      .report('"prerequisites" has no effect on this route: nothing is fetched before its response');
  if (definition.body !== undefined && call === "GET")
    location.at("body").report('"body" has no effect: the route sends a GET, which has no body');
  const withoutScopes = reduced && { ...route, kind, read: reduced.read, losses: reduced.losses };
  return { route: { ...route, kind, withoutScopes }, method, pattern };
}
