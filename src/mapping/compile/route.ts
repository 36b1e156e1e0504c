import type { SelectFields } from "../../dialect/filter/select.ts";
import { cursorAt, readRaw } from "../../dialect/json/scan.ts";
import { fromJsonText } from "../../dialect/json/text.ts";
import { HttpError } from "../../dialect/http-error.ts";
import type { FilterField } from "../../dialect/filter/translate.ts";
import type { Access } from "../../dialect/scopes.ts";
import { thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import type { BodyRules } from "./body.ts";
import type { Catalog } from "./catalog.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { compileEndpoint, compilePattern, type Endpoint } from "./endpoint.ts";
import { suggestionFor } from "../load/suggest.ts";
import { resolveReference, type SourceLocation } from "../load/source-location.ts";
import type {
  AppendFunction,
  CatalogCopy,
  CatalogEntry,
  JsonObject,
  ReadFunction,
} from "../translation-context.ts";
import type { Resource } from "./resource.ts";
import {
  compileAggregation,
  compileRelatedRequests,
  compileReadAfterWrite,
  compileMergeParts,
  compilePrerequisite,
  compileTokens,
  compileWait,
  compileCondition,
  type Aggregation,
  type RelatedRequest,
  type ReadAfterWrite,
  type MergePart,
  type Prerequisite,
  type TokensStep,
  type Wait,
} from "./route-steps.ts";
import type { Pattern } from "../router.ts";

/** A file that a client sends: its media type, and how many bytes it may have. */
export interface FileRule {
  readonly type: string;
  readonly most: number;
}

/** What a route is answered with that v4 has no call for. */
interface FixedError {
  readonly status: number;
  readonly reason: string;
}

/** How the response of a route is built: of one v4 object or list, of several, from the catalog cache, or as a file. */
export type RouteKind = "object" | "list" | "merged" | "aggregated" | "catalog" | "file" | "rejected";

/** One alpha route: what it asks for, which v4 call it becomes, and what it answers. All functions, no names left to look up. */
export interface Route {
  /** As the pack writes it, `GET /vm/instances/:id`. */
  readonly name: string;
  /** The object of the file that it stands in. */
  readonly object: string;
  /** Objects that it may answer with. */
  readonly responseObjects: readonly string[];
  /** Whether the path names an object. Where it does not, one that v4 misses was named in the body. */
  readonly namesObject: boolean;
  readonly access: Access;
  readonly limit: "create" | undefined;
  /** Whether this is the route that a body asks for, where several share a path. */
  readonly matchesBody: ((body: JsonObject) => MaybePromise<boolean>) | undefined;
  /** The objects of the answer are tokens, whose levels are alpha's. */
  readonly tokenLevels: TokensStep | undefined;
  /** The same route as a token without any scope gets it; undefined where such a token is refused. */
  readonly withoutScopes: Route | undefined;
  /** A v4 call, the gateway's own copy of a catalog, or nothing any more. */
  readonly source:
    | { readonly call: Endpoint }
    | { readonly catalog: Catalog }
    | { readonly error: FixedError };
  readonly response: RouteDefinition["gives"];
  readonly kind: RouteKind;
  /** In place of a JSON body: a file. */
  readonly upload: FileRule | undefined;
  /** In place of a JSON answer: a file. */
  readonly file: { readonly type: string } | undefined;
  readonly list: string;
  readonly body: BodyRules | undefined;
  readonly prerequisites: readonly Prerequisite[];
  readonly wait: Wait | undefined;
  readonly readAfterWrite: ReadAfterWrite | undefined;
  readonly related: readonly RelatedRequest[];
  /** v4's list is read whole, and paged here. */
  readonly aggregation: Aggregation | undefined;
  /** More places of v4 that the object is spread over. */
  readonly mergeParts: readonly MergePart[];
  /** A v4 condition that is ANDed to the client's filter. */
  readonly where: Readonly<Record<string, unknown>> | undefined;
  /** Sent once more without this v4 member, when the gateway had added it and v4 refused just that. */
  readonly retryWithout: string | undefined;
  /** The member to blame when v4 does not find something, and does not say what. */
  readonly notFoundField: string | undefined;
  /** The route that shows what this one edits. */
  readonly readRoute: string | undefined;
  /** Whether only what differs from what that route shows is sent. */
  readonly sendsOnlyChanges: boolean;
  /** Why an answer of v4 without a body is refused. */
  readonly emptyError: string | undefined;
  /** The resource whose members a body may have. */
  readonly resource: Resource;
  /** The resource that a v4 object is shown as. */
  readonly resourceFor: (v4: unknown) => MaybePromise<Resource>;
  readonly read: ReadFunction;
  /** The same for the rows of a list; undefined where a row can't be written before more is known of it. */
  readonly append: AppendFunction | undefined;
  /** The alpha name of an error's v4 field. */
  readonly errorField: (v4: string) => string | undefined;
  readonly filterFields: (copy: CatalogCopy) => ReadonlyMap<string, FilterField>;
  /** For lists that the gateway filters itself. */
  readonly selectFields: SelectFields<CatalogEntry>;
  /** What an answer of this route can't keep, `field: reason`. */
  readonly losses: readonly string[];
}

export interface RouteCompileContext {
  readonly dialect: DialectDefinition;
  readonly access: (scope: string) => Access | undefined;
  readonly prerequisites: ReadonlyMap<string, PrerequisiteDefinition>;
  readonly resources: ReadonlyMap<string, Resource>;
}

const scopeNames = ({ scopes: { resources, levels } }: DialectDefinition): string[] =>
  Object.keys(resources).flatMap((resource) => levels.map((level) => `${resource}:${level}`));

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
  const known = [...parameters, ...(definition.first ?? [])];
  return { call: compileEndpoint(path, prefix, known, definition.v4 ? location.at("v4") : location) };
}

/** Answers with the first resource whose condition holds over the v4 object; the last one needs none. */
function compileShownAs(
  choices: RouteDefinition["of"],
  own: Resource,
  resources: RouteCompileContext["resources"],
  location: SourceLocation,
): Route["resourceFor"] {
  const compiled = (choices ?? []).map(({ object, when }, index) => ({
    holds: compileCondition(when, location.at(index, "when")),
    resource: resolveReference(location.at(index, "object"), "object", object, resources) ?? own,
  }));
  return compiled.reduceRight<Route["resourceFor"]>(
    (otherwise, { holds, resource }) =>
      (v4) =>
        thenMaybe(holds?.(v4) ?? true, (taken) => (taken ? resource : otherwise(v4))),
    () => own,
  );
}

/** What v4 has and alpha does not know is not there. @throws {HttpError} 404, when the object is read. */
function onlyExisting(
  read: ReadFunction,
  exists: string | undefined,
  location: SourceLocation,
): ReadFunction {
  const holds = compileCondition(exists, location);
  if (!holds) return read;
  return (from, reading) =>
    thenMaybe(read(from, reading), (text) =>
      thenMaybe(holds(fromJsonText(text)), (known) => {
        if (!known) throw new HttpError(404, "Not found");
        return text;
      }),
    );
}

/** Whether reading an object may give a promise: its own fields may, or those of an object inside it. */
function mayBeLate(
  { mayBeAsync, nestedObjects }: Resource,
  resources: ReadonlyMap<string, Resource>,
  above: ReadonlySet<string> = new Set(),
): boolean {
  return (
    mayBeAsync ||
    nestedObjects.some((name) => {
      const resource = above.has(name) ? undefined : resources.get(name);
      return resource !== undefined && mayBeLate(resource, resources, new Set([...above, name]));
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
  if (definition.gives === "list" && resource.list === undefined)
    location.at("gives").report('the resource has no "list" name');
  if ((definition.gives === "file") !== (definition.file !== undefined))
    location.at("gives").report('a route that gives a file says its type under "file", and no other does');
  if (definition.takes && (definition.body !== undefined || definition.first !== undefined))
    location.at("takes").report('a file is not looked into: "body" and "first" can\'t stand beside it');
  const body =
    definition.body === undefined
      ? undefined
      : resolveReference(location.at("body"), "body", definition.body, resource.bodies);
  const prerequisites = (definition.first ?? []).flatMap((name, index) => {
    const found = resolveReference(location.at("first", index), "first read", name, context.prerequisites);
    const members = [...parameters, ...resource.inputNames];
    return found
      ? [compilePrerequisite(name, found, members, dialect.v4.prefix, locations.pack.at("first", name))]
      : [];
  });
  for (const parameter of body?.pathParameters ?? []) {
    if (!parameters.includes(parameter))
      location.at("body").report(`the body needs :${parameter} of the path`);
  }
  if (definition.changes && definition.shows === undefined)
    location.at("changes").report('"changes" needs "shows": the route that shows what there is now');
  const { prefix } = dialect.v4;
  const source = compileSource(definition, resource, parameters, dialect, location);
  const call = "call" in source ? source.call.method : "GET";
  if (definition.collect && (definition.gives !== "list" || call !== "GET"))
    location.at("collect").report("only a list that a GET gives can be collected");
  const resourceFor = compileShownAs(definition.of, resource, context.resources, location.at("of"));
  const chosen: ReadFunction = (from, reading) => {
    const text = readRaw(from);
    return thenMaybe(resourceFor(fromJsonText(text)), ({ read }) => read(cursorAt(text), reading));
  };
  const route: Omit<Route, "kind"> = {
    name: definition.alpha,
    object: resource.name,
    responseObjects: definition.of?.map(({ object }) => object) ?? [resource.name],
    matchesBody: compileCondition(definition.when, location.at("when")),
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
    read: onlyExisting(definition.of ? chosen : resource.read, definition.exists, location.at("exists")),
    append:
      definition.of || definition.exists !== undefined || mayBeLate(resource, context.resources)
        ? undefined
        : resource.append,
    errorField: resource.errorField,
    filterFields: resource.filterFields,
    selectFields: resource.selectFields,
    losses: definition.gives === "nothing" ? [] : resource.losses,
  };
  const bare =
    definition.without_scopes === undefined
      ? undefined
      : resolveReference(
          location.at("without_scopes"),
          "object",
          definition.without_scopes,
          context.resources,
        );
  if (bare && (definition.gives !== "object" || definition.of))
    location.at("without_scopes").report("only a route that gives an object of its own can give less of it");
  const kind = kindOf(route);
  const withoutScopes = bare && { ...route, kind, read: bare.read, losses: bare.losses };
  return { route: { ...route, kind, withoutScopes }, method, pattern };
}
