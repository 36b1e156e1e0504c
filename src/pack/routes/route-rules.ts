/** Rules about a route: keys that exclude each other, and keys without an effect. */
import type { EnvelopeDefinition } from "../errors/responses-definition.ts";
import type { PassedHeaders } from "../headers/headers.ts";
import type { SourceLocation } from "../../base/index.ts";
import type { RouteDefinition } from "./route-definition.ts";
import type { BodyRules } from "../bodies/body.ts";
import type { RouteLists } from "../lists/envelopes.ts";
import type { Route, RouteKind } from "./route.ts";

/** What the keys of a route became. */
export interface CompiledParts {
  /** The client's method. */
  readonly method: string;
  /** Names of the path parameters. */
  readonly parameters: readonly string[];
  readonly kind: RouteKind;
  readonly source: Route["source"];
  readonly body: BodyRules | undefined;
  readonly lists: RouteLists;
}

/** Kinds of routes that fetch nothing before their response. */
const WITHOUT_PREREQUISITES: ReadonlySet<RouteKind> = new Set(["aggregated", "catalog", "file", "rejected"]);

/** Keys that need a body with one object. */
const OBJECT_KEYS = ["prerequisites", "read_route", "only_changes", "merge", "retry"] as const;

/** A rule about one key of a route. */
type Rule = readonly [isBroken: boolean, key: keyof RouteDefinition, message: string];

/** The rules about what a route responds with. */
function responseRules(
  { response, file, status, without_scopes, one_of }: RouteDefinition,
  { lists }: CompiledParts,
): readonly Rule[] {
  return [
    [
      response === "list" && lists.lacksName,
      "response",
      'the shape of this list has its name, $list: add the key "list" to the resource',
    ],
    [
      (response === "file") !== (file !== undefined),
      "response",
      '"file" has the media type of a route that responds with a file, and of no other route',
    ],
    [
      status === 204 && response !== "none",
      "status",
      'a response with status 204 has no body: add "response: none"',
    ],
    [
      without_scopes !== undefined && (response !== "object" || one_of !== undefined),
      "without_scopes",
      '"without_scopes" needs a route that responds with an object, without "one_of"',
    ],
  ];
}

/** The rules about lists. @param call Method of the upstream call. */
function listRules(
  definition: RouteDefinition,
  { method, kind }: CompiledParts,
  call: string,
): readonly Rule[] {
  const { search, body, aggregate } = definition;
  const isList = definition.response === "list";
  return [
    [
      search !== undefined && (!isList || call !== "POST" || body !== undefined),
      "search",
      '"search" needs a route that responds with a list by a POST, without "body"',
    ],
    [
      search === undefined && isList && method === "GET" && call !== "GET",
      "upstream",
      'a list that the upstream reads by another method than GET needs "search"',
    ],
    [
      definition.pagination !== undefined && !isList,
      "pagination",
      '"pagination" needs a route that responds with a list',
    ],
    [
      aggregate !== undefined && (!isList || call !== "GET"),
      "aggregate",
      '"aggregate" needs a route that responds with a list by a GET',
    ],
    ...(["where", "where_values"] as const).map((key): Rule => [
      definition[key] !== undefined && kind !== "list" && kind !== "paged",
      key,
      `"${key}" needs a route whose list the upstream filters`,
    ]),
  ];
}

/** The rules about what a route sends and reads before its call. @param call Method of the upstream call. */
function requestRules(
  definition: RouteDefinition,
  { method, kind, body }: CompiledParts,
  call: string,
): readonly Rule[] {
  const { upload, prerequisites, read_route, only_changes, safe, poll } = definition;
  return [
    [
      poll !== undefined && kind !== "object" && kind !== "list" && kind !== "bulk",
      "poll",
      '"poll" needs a route that responds with what one upstream call gives',
    ],
    [poll !== undefined && definition.search !== undefined, "poll", '"poll" and "search" exclude each other'],
    [
      safe !== undefined &&
        (upload !== undefined || !(method === "POST" || (method === "GET" && call === "POST"))),
      "safe",
      '"safe" is for a POST on one of both sides, without a file: a GET on both always is, and no other method can be',
    ],
    [
      upload !== undefined && (definition.body !== undefined || prerequisites !== undefined),
      "upload",
      '"upload" excludes "body" and "prerequisites": the gateway does not read the file',
    ],
    [
      only_changes !== undefined && read_route === undefined,
      "only_changes",
      '"only_changes" needs "read_route": the route that reads the current object',
    ],
    [
      prerequisites !== undefined && WITHOUT_PREREQUISITES.has(kind),
      "prerequisites",
      '"prerequisites" has no effect on this route: nothing is fetched before its response',
    ],
    [
      read_route !== undefined && body?.members.length === 0 && body.added.length === 0,
      "read_route",
      "the route would always respond with the current object: its body has no members",
    ],
    ...OBJECT_KEYS.map((key): Rule => [
      body?.isList === true && definition[key] !== undefined,
      key,
      `"${key}" needs a body that is an object: this one is a list`,
    ]),
    [
      body?.toPath.size === 0 && call === "GET",
      "body",
      '"body" has no effect: the route sends a GET, which has no body',
    ],
  ];
}

/** Reports keys of a route that exclude each other, or that have no effect. */
export function reportInvalidRoute(
  definition: RouteDefinition,
  compiled: CompiledParts,
  location: SourceLocation,
): void {
  const { source, body, parameters } = compiled;
  const call = "call" in source ? source.call.method : "GET";
  const rules = [
    ...responseRules(definition, compiled),
    ...listRules(definition, compiled, call),
    ...requestRules(definition, compiled, call),
  ];
  for (const [isBroken, key, message] of rules) if (isBroken) location.at(key).report(message);
  reportInvalidIfMatch(definition, call, location.at("if_match"));
  if (body) reportMissingParts(definition, body, parameters, location);
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

/** Reports what a body is built from, and its route does not have. */
function reportMissingParts(
  { prerequisites }: RouteDefinition,
  { mergeSources, pathParameters }: BodyRules,
  parameters: readonly string[],
  location: SourceLocation,
): void {
  for (const source of mergeSources) {
    const [prerequisite = ""] = source.split(".");
    if (!prerequisites?.includes(prerequisite))
      location.report({
        message: `the body is merged with "${source}", and the route has no prerequisite "${prerequisite}"`,
        hint: `prerequisites: [${prerequisite}]`,
      });
  }
  for (const parameter of pathParameters)
    if (!parameters.includes(parameter))
      location.at("body").report(`the body uses :${parameter}, and the path has no such parameter`);
}

/** Reports a route that would ignore the version that a client sends. @param call Method of the upstream call */
export function reportUncheckedVersion(
  { if_match: name, prerequisites = [] }: RouteDefinition,
  headers: PassedHeaders | undefined,
  call: string,
  location: SourceLocation,
): void {
  const names = Object.keys(headers?.definition.request ?? {}).map((name) => name.toLowerCase());
  const maySend = names.includes("if-match");
  if (call === "GET") return;
  // One without its prerequisite is reported already.
  if (name !== undefined && prerequisites.includes(name) && !maySend)
    location.at("if_match").report({
      message: 'the If-Match of clients is ignored: add it to "headers.request" of the route, or of "client"',
      hint: "headers: { request: { If-Match: If-Match } }",
    });
  if (name === undefined && maySend && headers?.entityTag)
    location.report({
      message: "clients may send If-Match, and nothing compares it with the ETag that the pack makes",
      hint: "add a prerequisite that reads the object, and name it in if_match",
    });
}

/** Reports what a route served from a catalog says of the upstream's list: the catalog has been read before. */
export function reportUnusedCatalogKeys(
  { catalog, envelope, pagination }: RouteDefinition,
  location: SourceLocation,
): void {
  if (!catalog) return;
  if (typeof pagination === "object" && pagination.upstream !== undefined)
    location.at("pagination", "upstream").report({
      message: '"upstream" has no effect: the response comes from the catalog',
      hint: 'the lists of "catalog" have a "pagination" of their own',
    });
  if (envelope?.upstream)
    location.at("envelope", "upstream").report({
      message: '"upstream" has no effect: the response comes from the catalog',
      hint: 'write it in "envelope" of the resource',
    });
}

/** Reports shapes of a route that its responses do not have. */
export function reportUnusedShapes(
  envelope: EnvelopeDefinition,
  response: RouteDefinition["response"],
  location: SourceLocation,
): void {
  for (const side of ["client", "upstream"] as const)
    for (const key of ["list", "item", "object"] as const) {
      const isUsed = key === "object" ? response === "object" : response === "list";
      if (envelope[side]?.[key] !== undefined && !isUsed)
        location.at(side, key).report(`"${key}" has no effect: the route has "response: ${response}"`);
    }
}
