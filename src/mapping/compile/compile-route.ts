import { cursorAt, readRaw } from "../../dialect/json/scan.ts";
import { fromJsonText } from "../../dialect/json/text.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { createListWriter } from "../../dialect/envelope.ts";
import { createObjectReader, objectPath, wrapperTexts } from "../../dialect/object-wrapper.ts";
import type { Access } from "../../dialect/scopes.ts";
import { thenMaybe } from "../../jsonata/index.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { compileHeaders } from "./headers.ts";
import { compileEndpoint, compilePattern } from "./endpoint.ts";
import { compileUpstreamFormat } from "./body-format.ts";
import { compileSearch } from "./search.ts";
import { compilePathValues, type PathParameterRules } from "./path-parameters.ts";
import { suggestionFor } from "../load/suggest.ts";
import { resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { ReadFunction } from "../translation-context.ts";
import type { BodyRules } from "./body.ts";
import type { Grammar } from "../../dialect/filter/grammar.ts";
import { compileFilterDefaults } from "./default-filters.ts";
import { compileRouteQuery, type DialectQuery } from "./route-query.ts";
import { lossText } from "./field/loss.ts";
import { objectLosses, type Resource } from "./resource.ts";
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
import type { Paging } from "./paging.ts";
import type { Route, RouteKind } from "./route.ts";

/** The definitions that a route may refer to. */
export interface RouteCompileContext {
  readonly dialect: DialectDefinition;
  readonly paging: Paging;
  readonly access: (scope: string) => Access | undefined;
  readonly prerequisites: ReadonlyMap<string, PrerequisiteDefinition>;
  readonly resources: ReadonlyMap<string, Resource>;
  readonly query: DialectQuery;
  readonly grammar: Grammar;
  /** The path parameters of the pack and of the resource. */
  readonly pathParameters: PathParameterRules;
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

/** What members may lose that only bodies have. */
const inputLosses = (body: BodyRules | undefined, { fields }: Resource): string[] =>
  (body?.members ?? []).flatMap(({ name, rule }) => (fields.has(name) ? [] : (lossText(name, rule) ?? [])));

function kindOf(
  {
    source,
    response,
    upload,
    file,
    aggregation,
    mergeParts,
    search,
  }: Pick<Route, "source" | "response" | "upload" | "file" | "aggregation" | "mergeParts" | "search">,
  { isDirect }: Paging,
): RouteKind {
  if ("error" in source) return "rejected";
  if ("catalog" in source) return "catalog";
  if (upload || file) return "file";
  if (aggregation) return "aggregated";
  if (mergeParts.length > 0) return "merged";
  if (response !== "list") return "object";
  const isRead = source.call.method === "GET" || search !== undefined;
  return isRead && !isDirect ? "paged" : "list";
}

/** Reports keys of a route that exclude each other, or that have no effect. */
function reportInvalidRoute(definition: RouteDefinition, resource: Resource, location: SourceLocation): void {
  if (definition.response === "list" && resource.list === undefined)
    location.at("response").report('the resource has no "list" name');
  if ((definition.response === "file") !== (definition.file !== undefined))
    location
      .at("response")
      .report('"file" has the media type of a route that responds with a file, and of no other route');
  if (definition.status === 204 && definition.response !== "none")
    location.at("status").report('a response with status 204 has no body: add "response: none"');
  if (definition.upload && (definition.body !== undefined || definition.prerequisites !== undefined))
    location
      .at("upload")
      .report('"upload" excludes "body" and "prerequisites": the gateway does not read the file');
  if (definition.only_changes && definition.read_route === undefined)
    location
      .at("only_changes")
      .report('"only_changes" needs "read_route": the route that reads the current object');
}

/** An object without a wrapper. */
const OBJECT = "$object";

/** Compiles the wrappers around the object of a response, or around the items of a list. */
function compileWrappers(
  { response, merge }: RouteDefinition,
  { name, upstreamName, list = "" }: Resource,
  { client, upstream }: DialectDefinition,
  location: SourceLocation,
): Pick<Route, "upstreamPath" | "readWrapped" | "clientPath" | "wrapObject" | "listWriter"> {
  const isList = response === "list";
  const key = isList ? "item" : "object";
  const hasObject = isList || response === "object";
  const [clientShape = OBJECT, upstreamShape = OBJECT] = hasObject
    ? [client.responses[key], upstream.responses[key]]
    : [];
  const upstreamPath = objectPath(upstreamShape, upstreamName);
  const [open, close] = wrapperTexts(clientShape, name);
  if (merge && upstreamPath.length > 0)
    location.at("merge").report(`"merge" does not read the wrapper of ${upstream.name} ("responses.object")`);
  return {
    upstreamPath,
    readWrapped: createObjectReader(upstreamPath),
    clientPath: objectPath(clientShape, name),
    wrapObject: isList || clientShape === OBJECT ? undefined : (object) => open + object + close,
    listWriter: createListWriter(client.responses.list ?? "$items", list, [open, close]),
  };
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

/** Reports an `if_match` that has no effect, or no prerequisite. @param call Method of the upstream call. */
function reportInvalidIfMatch(
  { if_match: name, prerequisites = [], merge }: RouteDefinition,
  call: string,
  location: SourceLocation,
): void {
  if (name === undefined) return;
  if (!prerequisites.includes(name))
    location.report({
      message: `the route has no prerequisite "${name}"`,
      hint: `prerequisites: [${[...prerequisites, name].join(", ")}]`,
    });
  if (call === "GET") location.report('"if_match" needs a call that changes something: this one is a GET');
  if (merge)
    location.report('"if_match" and "merge" exclude each other: one ETag is not that of several resources');
}

/** Compiles one route of a resource. */
export function compileRoute(
  definition: RouteDefinition,
  resource: Resource,
  context: RouteCompileContext,
  locations: {
    readonly route: SourceLocation;
    readonly pack: SourceLocation;
  },
): { route: Route; method: string; pattern: Pattern } {
  const location = locations.route;
  const { dialect } = context;
  const { method, pattern, parameters } = compilePattern(
    definition.client,
    context.pathParameters,
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
  for (const source of body?.mergeSources ?? []) {
    const [prerequisite = ""] = source.split(".");
    if (!definition.prerequisites?.includes(prerequisite))
      location.report({
        message: `the body is merged with "${source}", and the route has no prerequisite "${prerequisite}"`,
        hint: `prerequisites: [${prerequisite}]`,
      });
  }
  for (const parameter of body?.pathParameters ?? []) {
    if (!parameters.includes(parameter))
      location.at("body").report(`the body uses :${parameter}, and the path has no such parameter`);
  }
  const { base_path: prefix } = dialect.upstream;
  const fromQuery = Object.values(definition.query?.parameters ?? {}).flatMap(({ path }) => path ?? []);
  const upstreamNames = [...parameters, ...fromQuery, ...(body?.toPath.keys() ?? [])];
  const source = compileSource(definition, resource, upstreamNames, dialect, location);
  const call = "call" in source ? source.call.method : "GET";
  if (
    definition.search &&
    (definition.response !== "list" || call !== "POST" || definition.body !== undefined)
  )
    location
      .at("search")
      .report('"search" needs a route that responds with a list by a POST, without "body"');
  if (!definition.search && definition.response === "list" && method === "GET" && call !== "GET")
    location
      .at("upstream")
      .report('a list that the upstream reads by another method than GET needs "search"');
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
  const { query, queryFilter } = compileRouteQuery(definition, resource, source, context, location);
  const responseObjects = definition.one_of?.map(({ object }) => object) ?? [resource.name];
  const route: Omit<Route, "kind"> = {
    name: definition.client,
    object: resource.name,
    responseObjects,
    matchesBody: compileBodyCondition(definition.when, location.at("when")),
    namesObject: parameters.length > 0,
    pathParameters: context.pathParameters,
    writeParameters: compilePathValues(parameters, context.pathParameters),
    access: access ?? "token",
    withoutScopes: undefined,
    tokenLevels: compileTokens(definition, resource, dialect.client.responses, location.at("tokens")),
    limit: definition.rate_limit,
    source,
    response: definition.response,
    status: definition.status ?? 200,
    headers: compileHeaders(definition.headers, dialect, locations),
    upload: definition.upload,
    file: definition.file,
    list: resource.list ?? "",
    search: definition.search && {
      move: compileSearch(definition.search, context.query.paging.upstreamNumbers, location.at("search")),
      format: compileUpstreamFormat(
        { ...dialect.upstream.bodies, object: undefined },
        resource.name,
        false,
        location.at("search"),
      ),
    },
    body,
    query,
    queryFilter,
    ...compileFilterDefaults(definition, resource, dialect, context.grammar, location),
    prerequisites,
    ifMatch: definition.if_match,
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
    onlyChanges: definition.only_changes,
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
    errorField: (field) => resource.errorField(body ? body.format.unwrapField(field) : field),
    filterFields: resource.filterFields,
    selectFields: resource.selectFields,
    translateCursor: compileCursorTranslation(resource, context.paging),
    ...compileWrappers(definition, resource, dialect, location),
    losses: [
      ...(definition.response === "none"
        ? []
        : responseObjects.flatMap((name) => objectLosses(name, context.resources))),
      ...inputLosses(body, resource),
    ],
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
  const kind = kindOf(route, context.paging);
  if (definition.prerequisites && ["aggregated", "catalog", "file", "rejected"].includes(kind))
    location
      .at("prerequisites")
      .report('"prerequisites" has no effect on this route: nothing is fetched before its response');
  if (definition.read_route !== undefined && body?.members.length === 0)
    location
      .at("read_route")
      .report(
        "the route would always respond with the current object: its body has no members of the client",
      );
  reportInvalidIfMatch(definition, call, location.at("if_match"));
  const objectKeys = ["prerequisites", "read_route", "only_changes", "merge", "retry"] as const;
  for (const key of objectKeys)
    if (body?.isList && definition[key] !== undefined)
      location.at(key).report(`"${key}" needs a body that is an object: this one is a list`);
  if (body?.toPath.size === 0 && call === "GET")
    location.at("body").report('"body" has no effect: the route sends a GET, which has no body');
  const withoutScopes = reduced && {
    ...route,
    kind,
    read: reduced.read,
    losses: objectLosses(reduced.name, context.resources),
  };
  return { route: { ...route, kind, withoutScopes }, method, pattern };
}
