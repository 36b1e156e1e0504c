/** The key `bulk` of a route: one client request contains many ids, and one call is sent for each id. */
import { z } from "zod";
import { findPath } from "../values/shape.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { onlyPath } from "../codegen/emit-input.ts";
import { about, type SourceLocation } from "../../base/index.ts";
import { compileScoped } from "../expressions/scope.ts";
import { parseParameter, type Parameters } from "../paths/router.ts";
import { compilePathValues } from "../paths/path-parameters.ts";
import type { Endpoint } from "../calls/endpoint.ts";
import type { RouteCall } from "../calls/call.ts";
import { routeKey } from "./key.ts";
import type { KeyContext } from "./key-context.ts";
import { excludesAll } from "../key-rules.ts";
import { chunkProblems, chunkSchema, compileChunk, MOST_CALLS } from "../calls/bulk-chunk.ts";
import { describeResults, reportInvalidShapes } from "../calls/bulk-shapes.ts";

const json = z.json();
const name = z.string().min(1);

/** Maximum number of ids in one client request. */
const MOST_IDS = 1000;
/** Maximum number of concurrent calls. */
const MOST_CONCURRENT = 8;
/** Maximum duration in milliseconds. */
const LONGEST = 300_000;

const definitionSchema = z.strictObject({
  parameter: about(
    name,
    "The name of an id in `upstream`, or of the ids of a `chunk`. `path_parameters` gives its type and value kind.",
    "id",
  ),
  chunk: about(
    chunkSchema.optional(),
    "The upstream accepts several ids in one call, and returns a list. An id that the list lacks gets status 404. Default: a call for each id.",
    { size: 20, member: "ids" },
  ),
  ids: about(name, "JSONata over the client's body: the ids.", "ids"),
  most: about(
    z.int().positive().max(MOST_IDS),
    "The most ids in a request. They can take at most 100 calls.",
    50,
  ),
  concurrency: about(
    z.int().positive().max(MOST_CONCURRENT).default(4),
    "Calls at the same time. Default: 4.",
    2,
  ),
  timeout_ms: about(
    z.int().positive().max(LONGEST).default(30_000),
    "Time after which no further call is sent. Default: 30 000.",
    10_000,
  ),
  whole_errors: about(
    z.array(z.int().min(400).max(599)).min(1).optional(),
    "Statuses of the upstream. If all calls fail with the same status, the whole response is this error.",
    [403],
  ),
  success: about(
    json.optional(),
    "A result as JSON, with `$id`, `$status` and `$object`. Default: the object; with `response: none`, `{ id: $id, status: $status }`.",
    { id: "$id", status: "$status", book: "$object" },
  ),
  failure: about(
    json.default({ id: "$id", status: "$status", error: "$error" }),
    "The result of a failed call as JSON. `$error` is the client's body of the error. Texts may contain `{id}`. Default: `{ id: $id, status: $status, error: $error }`.",
    { id: "$id", failed: true, error: "$error" },
  ),
  list: about(
    json.default("$items"),
    "The response as JSON: `$items` are all results, `$successes` and `$failures` those of one kind, `$succeeded` and `$failed` their numbers. Default: the array.",
    { results: "$items", failed: "$failed" },
  ),
});

type BulkDefinition = z.infer<typeof definitionSchema>;

/** The calls of a route that processes many ids. */
export type Bulk = NonNullable<ReturnType<typeof compileBulk>>;

/** Keys that require a single call or a single response. */
const EXCLUDED = [
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
] as const;

/** Reports a chunk whose ids have no location, or that results in too many calls. */
function reportInvalidChunk(
  { chunk, most, parameter }: BulkDefinition,
  { names }: Endpoint,
  { keys, route }: KeyContext,
): void {
  const at = route.at("bulk");
  const calls = Math.ceil(most / (chunk?.size ?? 1));
  if (calls > MOST_CALLS)
    at.at("most").report({
      message: `one request may make ${calls} calls: ${MOST_CALLS} are allowed`,
      hint: 'a smaller "most", or "chunk" with a larger "size"',
    });
  if (chunk?.member === undefined) return;
  if (names.has(parameter))
    at.at("chunk", "member").report(`the ids are in "upstream" already: {${parameter}}`);
  if (keys["body"] === undefined)
    at.at("chunk", "member").report('the calls have no body that could have this member: "body" is missing');
}

function reportInvalidRoute(
  { parameter, chunk }: BulkDefinition,
  { names }: Endpoint,
  { keys, parameters, route }: KeyContext,
): void {
  if (keys.response !== "object" && keys.response !== "none")
    route.at("response").report('a route with "bulk" has the response of each call: "object" or "none"');
  const at = route.at("bulk", "parameter");
  if (parameters.includes(parameter))
    at.report(`the client's path has :${parameter} as well: use another name`);
  else if (!names.has(parameter) && chunk?.member === undefined)
    at.report({
      message: `all calls would be the same: "upstream" does not have {${parameter}}`,
      hint: `${keys.upstream}/{${parameter}}`,
    });
}

/** Maximum number of polling requests for all operations of one client request. */
const MOST_POLLS = 1000;

/** Reports a call for each id that would be repeated too often for one request. */
function reportManyPolls(
  { most, chunk, concurrency, timeoutMs: time }: Bulk,
  call: RouteCall,
  route: SourceLocation,
): void {
  if (!call.repeats) return;
  const { intervalMs: interval, timeoutMs: timeout } = call.repeats;
  const calls = Math.ceil(most / (chunk?.size ?? 1));
  // The polls of each operation, for the number of parallel operations that the time allows.
  const polls = Math.min((calls * timeout) / interval, (concurrency * time) / interval);
  if (polls > MOST_POLLS)
    route.at(...call.at, "repeat", "interval_ms").report({
      message: `one request may send ${Math.floor(polls)} requests to poll: ${MOST_POLLS} are allowed`,
      hint: 'a longer "interval_ms", or a smaller "most", "concurrency" or "timeout_ms" of "bulk"',
    });
}

/** Compiles the key; undefined if the route has no call, which is reported elsewhere. */
function compileBulk(definition: BulkDefinition, context: KeyContext) {
  const { call: endpoint, keys, location, pathParameters: rules } = context;
  if (!endpoint) return undefined;
  const { parameter, ids, failure, list } = definition;
  const hasObject = keys.response !== "none";
  const { success = hasObject ? "$object" : { id: "$id", status: "$status" } } = definition;
  reportInvalidRoute(definition, endpoint, context);
  reportInvalidShapes(definition, location);
  reportInvalidChunk(definition, endpoint, context);
  const { evaluate, inputNames, variables, readsInput } = compileScoped(ids, location.at("ids"), "selection");
  const type = rules[parameter]?.type ?? "text";
  const translate = compilePathValues([parameter], rules);
  if (!hasObject && findPath(success, "object"))
    location.at("success").report('"$object" has no value: the route has "response: none"');
  const listPath = findPath(list, "items") ?? findPath(list, "successes") ?? [];
  const objectPath = findPath(success, "object") ?? [];
  return {
    endpoint,
    /** The path parameter for the id. */
    parameter,
    /** Returns the ids of a request. */
    idsOf: evaluate,
    /** The member or the parameter that contains the ids, for errors; undefined if the expression does not start with one. */
    field: /\$(?:query|body)\.(\w+)/.exec(ids)?.[1] ?? onlyPath(inputNames)?.[0],
    readsBody: readsInput || variables.has("body"),
    most: definition.most,
    concurrency: definition.concurrency,
    timeoutMs: definition.timeout_ms,
    /** Statuses of the upstream. If all calls failed with one of them, the whole response is one error. */
    wholeErrors: new Set(definition.whole_errors) as ReadonlySet<number>,
    /** Several ids in one call; undefined: one call for each id. */
    chunk: definition.chunk && compileChunk(definition.chunk),
    /** Returns the value of the path parameter. Undefined for an invalid id. @throws {HttpError} 404 */
    write(id: string): MaybePromise<Parameters> | undefined {
      const value = parseParameter(type, id);
      if (value === undefined) return undefined;
      const written = { [parameter]: value };
      return thenMaybe(translate?.(written), (translated) => translated ?? written);
    },
    success,
    failure,
    list,
    /** The keys that lead to the results in a response, and then to the object in each result. */
    objectsPath: [...listPath, ...objectPath],
  };
}

export const bulk = routeKey({
  schema: about(
    definitionSchema.optional(),
    "The client sends many ids, and each id is a call. The response lists all successes and failures.",
    { parameter: "id", ids: "ids", most: 50, list: { results: "$items" } },
  ),
  rules: [excludesAll(EXCLUDED), chunkProblems],
  compile: compileBulk,
  checkCalls: (compiled, calls, route) => calls.forEach((call) => reportManyPolls(compiled, call, route)),
  openapi: (compiled) => ({ describeResponse: (object) => describeResults(compiled, object) }),
  guide: ({ chunk }, { upstream }) => [
    chunk
      ? `The gateway called ${upstream} once for each ${chunk.size} ids of a request. Send as many in a call.`
      : `The gateway called ${upstream} once for each id of a request. Send a call for each.`,
  ],
});
