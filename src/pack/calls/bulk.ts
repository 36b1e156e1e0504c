/** The key `bulk` of a route: one request of the client for many ids, each of which is a call. */
import { findPath, namesIn, type Shape } from "../fields/shape.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { onlyPath } from "../codegen/emit-input.ts";
import { type SourceLocation, suggestionFor } from "../../base/index.ts";
import { compileExpressionAt } from "../load/compile-expression.ts";
import { parseParameter, type Parameters } from "../routes/router.ts";
import type { BulkDefinition } from "./bulk-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import { compilePathValues, type PathParameterRules } from "../routes/path-parameters.ts";
import type { Endpoint } from "./endpoint.ts";

/** The calls of a route for many ids. */
export interface Bulk {
  readonly endpoint: Endpoint;
  /** The name of an id in the path. */
  readonly parameter: string;
  /** Returns the ids of a request. */
  readonly idsOf: (body: unknown, query: Readonly<Record<string, unknown>>) => MaybePromise<unknown>;
  /** The member or the parameter that has the ids, for errors; undefined if the expression does not start with one. */
  readonly field: string | undefined;
  readonly readsBody: boolean;
  readonly most: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** Returns the value of the path parameter; undefined for what is no id. @throws {HttpError} 404 */
  readonly write: (id: string) => MaybePromise<Parameters> | undefined;
  readonly success: Shape;
  readonly failure: Shape;
  readonly list: Shape;
  /** The keys that lead to the results of a response, and then to the object in each. */
  readonly objectsPath: readonly string[];
}

/** The names of each shape, and the one that it needs. */
const SHAPES = {
  success: { names: ["id", "status", "object"], required: undefined },
  failure: { names: ["id", "status", "error"], required: undefined },
  list: { names: ["items", "succeeded", "failed"], required: "items" },
} as const;

/** Keys that need one call, or one answer. */
const EXCLUDED = [
  "prerequisites",
  "wait",
  "if_match",
  "merge",
  "aggregate",
  "search",
  "read_route",
  "only_changes",
  "retry",
  "tokens",
  "without_scopes",
  "catalog",
  "reject",
  "upload",
  "file",
] as const satisfies readonly (keyof RouteDefinition)[];

function reportInvalidShapes(definition: BulkDefinition, location: SourceLocation): void {
  for (const key of ["success", "failure", "list"] as const) {
    const { names, required } = SHAPES[key];
    const known = names.map((name) => `$${name}`);
    const used = namesIn(definition[key] ?? {});
    for (const { name, path } of used) {
      if (!known.includes(`$${name}`))
        location
          .at(key)
          .report({ message: `unknown name "$${name}"`, hint: suggestionFor(`$${name}`, known) });
      else if (path.includes("[]"))
        location.at(key).report({ message: `"$${name}" is inside of an array`, hint: "remove the brackets" });
    }
    if (required !== undefined && !used.some(({ name }) => name === required))
      location.at(key).report(`"$${required}" is missing: nothing shows the results`);
  }
}

function reportInvalidRoute(
  route: RouteDefinition,
  { parameter }: BulkDefinition,
  { names }: Endpoint,
  parameters: readonly string[],
  location: SourceLocation,
): void {
  for (const key of EXCLUDED)
    if (route[key] !== undefined) location.at(key).report(`"${key}" and "bulk" exclude each other`);
  if (route.response !== "object" && route.response !== "none")
    location.at("response").report('a route with "bulk" has the response of each call: "object" or "none"');
  const at = location.at("bulk", "parameter");
  if (parameters.includes(parameter))
    at.report(`the client's path has :${parameter} as well: use another name`);
  else if (!names.has(parameter))
    at.report({
      message: `all calls would be the same: "upstream" does not have {${parameter}}`,
      hint: `${route.upstream}/{${parameter}}`,
    });
}

/** Requests that the operations of one client request are polled with. */
const MOST_POLLS = 1000;

function reportManyPolls(
  { most, concurrency, timeout_ms: time }: BulkDefinition,
  { poll }: RouteDefinition,
  location: SourceLocation,
): void {
  if (!poll) return;
  const { interval_ms: interval, timeout_ms: timeout } = poll;
  // Of each operation, and of as many operations at a time as there is time for.
  const polls = Math.min((most * timeout) / interval, (concurrency * time) / interval);
  if (polls > MOST_POLLS)
    location.at("poll", "interval_ms").report({
      message: `one request may send ${Math.floor(polls)} requests to poll: ${MOST_POLLS} are allowed`,
      hint: 'a longer "interval_ms", or a smaller "most", "concurrency" or "timeout_ms" of "bulk"',
    });
}

/** Compiles the key `bulk` of a route. @param parameters Names of the path parameters of the client. */
export function compileBulk(
  route: RouteDefinition,
  endpoint: Endpoint | undefined,
  parameters: readonly string[],
  rules: PathParameterRules,
  location: SourceLocation,
): Bulk | undefined {
  const { bulk: definition } = route;
  if (!definition || !endpoint) return undefined;
  const { parameter, ids, failure, list } = definition;
  const hasObject = route.response !== "none";
  const { success = hasObject ? "$object" : { id: "$id", status: "$status" } } = definition;
  const at = location.at("bulk");
  reportInvalidRoute(route, definition, endpoint, parameters, location);
  reportInvalidShapes(definition, at);
  reportManyPolls(definition, route, location);
  const expression = compileExpressionAt(at.at("ids"), ids, ["query"]);
  const { inputNames, variables } = expression;
  const type = rules[parameter]?.type ?? "text";
  const translate = compilePathValues([parameter], rules);
  if (!hasObject && findPath(success, "object"))
    at.at("success").report('"$object" has no value: the route has "response: none"');
  const [listPath = [], objectPath = []] = [findPath(list, "items"), findPath(success, "object")];
  return {
    endpoint,
    parameter,
    idsOf: (body, query) => expression.evaluate(body, { query }),
    field: variables.has("query") ? /\$query\.(\w+)/.exec(ids)?.[1] : onlyPath(inputNames)?.[0],
    readsBody: inputNames === "all" || inputNames.size > 0,
    most: definition.most,
    concurrency: definition.concurrency,
    timeoutMs: definition.timeout_ms,
    write(id) {
      const value = parseParameter(type, id);
      if (value === undefined) return undefined;
      const written = { [parameter]: value };
      return thenMaybe(translate?.(written), (translated) => translated ?? written);
    },
    success,
    failure,
    list,
    objectsPath: [...listPath, ...objectPath],
  };
}
