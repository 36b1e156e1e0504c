/** A call of a route in addition to its main call: its data, its condition, and the use of its response. */
import type { SourceLocation } from "../../base/index.ts";
import { compileUpstreamFormat } from "../bodies/body-format.ts";
import type { KeyContext } from "../keys/key-context.ts";
import type { CallDefinition } from "./call-definition.ts";
import { CallExpressions } from "./call-expressions.ts";
import { describeCall } from "./call-texts.ts";
import { compileChecks } from "../expressions/checks.ts";
import {
  compileBodyCondition,
  compileNamedValues,
  compileScopedCondition,
  type ScopedCondition,
} from "../expressions/conditions.ts";
import { compileEndpoint, type Endpoint, reportAmbiguousNames, RESPONSE } from "./endpoint.ts";
import { compileRepetition, compileUnfinished } from "./repetition.ts";
import { type EarlierCall, reportInvalidCall } from "./report-call.ts";
import type { ReceivedResponse, Scope } from "../translation-context.ts";

/** A call of a route, in addition to its main call. */
export type RouteCall = Readonly<ReturnType<typeof compileCall>>;

/** Compiles the client's object for a call that has failed. */
function compileFallback({ fallback }: CallDefinition, expressions: CallExpressions) {
  if (fallback === undefined) return undefined;
  const { evaluate } = expressions.compile(fallback, ["fallback"], "response", ["failure"]);
  return (scope: Scope, failure: ReceivedResponse | undefined) =>
    evaluate(scope.response?.json, scope, {
      failure: failure && { status: failure.status, body: failure.json },
    });
}

/** Compiles the condition of a call. If it fails on a client's body, the body is invalid. */
function compileWhen({ when, at }: CallDefinition, location: SourceLocation): ScopedCondition {
  const holds =
    at === "before"
      ? compileBodyCondition(when, location, "request")
      : compileScopedCondition(when, location, "response");
  return holds ?? (() => true);
}

const EITHER = "one of them needs another name";

/** Compiles the operation, and reports ambiguous names in braces. */
function compileOperation(
  { upstream, at, each, values = {} }: CallDefinition,
  earlier: readonly string[],
  { names: { all: names, ofHead }, resource, dialect, location }: KeyContext,
): Endpoint {
  const place = location.at("upstream");
  const own = [...Object.keys(values), ...(each === undefined ? [] : ["each"])];
  const ofRequest = at === "before" ? [...ofHead, ...resource.inputNames] : names;
  const known = [...ofRequest, ...earlier, ...own, ...(at === "before" ? [] : [RESPONSE])];
  const endpoint = compileEndpoint(upstream, dialect.upstream.base_path, known, place);
  if (at === "before") {
    const both = earlier.filter((name) => ofRequest.includes(name));
    const kinds = ["an earlier call", "a path parameter or a member of the body"] as const;
    reportAmbiguousNames(endpoint, both, kinds, place);
  } else {
    const both = [...names, ...earlier, ...own].filter((name) => name === RESPONSE);
    reportAmbiguousNames(endpoint, both, ["the response of the call", "another name of the route"], place);
  }
  const twice = Object.keys(values).filter((name) => [...ofRequest, ...earlier].includes(name));
  for (const name of twice) location.at("values", name).report(`{${name}} has a value already: ${EITHER}`);
  return endpoint;
}

/** Compiles how a part of an object is read if no part of it is written. */
function compilePart(
  { part, upstream }: CallDefinition,
  { names, dialect }: KeyContext,
  location: SourceLocation,
) {
  if (part === undefined) return undefined;
  const path = upstream.replace(/^\S+/, "GET");
  return { name: part, read: compileEndpoint(path, dialect.upstream.base_path, names.all, location) };
}

/** Whether a call can be sent concurrently with other calls, because no call waits for its effect. */
const canBeParallel = (
  { at, answer, repeat, part }: CallDefinition,
  { method }: Endpoint,
  { readsCalls }: CallExpressions,
): boolean =>
  at === "after" && method === "GET" && !readsCalls && answer === undefined && !repeat && part === undefined;

/** Compiles the body of a call that writes. The body has no wrapper: its expression returns the whole body. */
function compileBody(
  { body }: CallDefinition,
  expressions: CallExpressions,
  { dialect, resource, location }: KeyContext,
) {
  if (body === undefined) return undefined;
  const format = { ...dialect.upstream.bodies, object: undefined };
  return {
    of: expressions.compile(body, ["body"]).evaluate,
    format: compileUpstreamFormat(format, resource.name, false, location.at("body")),
  };
}

/** Compiles the list of values. One call is sent for each value. */
function compileEach({ each, at }: CallDefinition, expressions: CallExpressions) {
  if (each === undefined) return { eachValue: undefined, knowsEach: false, eachMember: undefined };
  const { evaluate, variables, readsInput } = expressions.compile(each, ["each"]);
  const readsResponse = ["response", "response_headers", "status", "calls"].some((name) =>
    variables.has(name),
  );
  return {
    /** Returns the values, one for each call. Undefined if only one call is sent. */
    eachValue: evaluate,
    /** Whether the values are known before the main call. */
    knowsEach: at === "after" && !readsInput && !readsResponse,
    /** The member of the upstream's body that contains the values; undefined if the expression does not start with a member. */
    eachMember: /^\$request\.(\w+)/.exec(each)?.[1],
  };
}

/** Whether the request continues after a failed call, if the pack does not define it. A failed operation is an error. */
const isOptionalByDefault = ({ at, part, repeat }: CallDefinition, { method }: Endpoint): boolean =>
  at === "after" && method === "GET" && part === undefined && repeat?.failed === undefined;

/** Compiles the expressions of a call that run before it is sent, and after its response. */
function compileSteps(
  definition: CallDefinition,
  earlier: readonly string[],
  expressions: CallExpressions,
  context: KeyContext,
) {
  const { location } = context;
  const { name, answer } = definition;
  return {
    isNeeded: compileWhen(definition, location.at("when")),
    /** Returns additional values for the path. */
    valuesOf: compileNamedValues(definition.values ?? {}, (source, each) =>
      expressions.compile(source, ["values", each]),
    ),
    ...compileEach(definition, expressions),
    /** Returns the body, and its format; undefined if the call has no body. */
    body: compileBody(definition, expressions, context),
    /** Returns the response that replaces the main call's response. `whole` means the whole response. */
    answerOf:
      typeof answer === "string" ? expressions.ofResponse(answer, ["answer"]) : answer && ("whole" as const),
    /** Checks the response. `scope` contains it. */
    checks: compileChecks(definition.checks ?? [], location.at("checks"), "response", [
      ...earlier,
      ...(name === undefined ? [] : [name]),
    ]),
    /** Returns the client's object if the call fails. The argument is the upstream's error, if there is one. */
    fallback: compileFallback(definition, expressions),
    /** Undefined selects the gateway's default. */
    unfinished: compileUnfinished(definition, expressions, context),
  };
}

/** Compiles a call. @param before the earlier calls of the route @param at the keys that lead to the call */
export function compileCall(
  definition: CallDefinition,
  before: readonly EarlierCall[],
  context: KeyContext,
  at: readonly (string | number)[],
) {
  const { location } = context;
  const { name, answer, part: isPart } = definition;
  const isBefore = definition.at === "before";
  const earlier = before.flatMap(({ member }) => member ?? []);
  const endpoint = compileOperation(definition, earlier, context);
  const expressions = new CallExpressions(location, isBefore ? "request" : "response");
  const repeats = compileRepetition(definition, expressions);
  reportInvalidCall({ keys: definition, endpoint, earlier: before }, location);
  const steps = compileSteps(definition, earlier, expressions, context);
  const place: EarlierCall["place"] = isPart !== undefined ? "beside" : definition.at;
  const use: "answer" | "fields" | "rules" = isBefore
    ? "rules"
    : (isPart ?? answer) !== undefined
      ? "answer"
      : "fields";
  return {
    ...steps,
    ...describeCall(definition, endpoint, context),
    /** The keys that lead to the call in its route. */
    at,
    /** The name of the call in the pack; if there is none, its operation. */
    name: name ?? isPart ?? `${endpoint.method} ${endpoint.template}`,
    /** The name of the call in `$calls` and in paths; undefined if it has none. */
    member: name,
    endpoint,
    /** When the call is sent. `beside`: the main call and this call contain parts of the same object. */
    place,
    /** The purpose of the call's response: the response of the route, its fields, or rules and values of the request. */
    use,
    /** Set if the call is repeated until its response meets a condition. The number of attempts does not depend on the pack. */
    repeats,
    /** Whether the request continues without the call's response if the call fails. */
    isOptional: definition.optional ?? isOptionalByDefault(definition, endpoint),
    /** Seconds for which the response is cached; 0: not cached. */
    cacheSeconds: definition.cache_seconds ?? 0,
    /** Whether all pages of a list are read. */
    allPages: definition.all_pages === true,
    /** The status of the main call that is required for this call; undefined: any 2xx status. */
    status: definition.status,
    /** Whether expressions of the call read headers of responses. */
    readsHeaders: expressions.readsHeaders,
    /** The earlier calls whose values the path contains. */
    needs: earlier.filter((each) => endpoint.names.has(each)),
    /** Whether the call can be sent concurrently with the previous call. */
    isIndependent:
      canBeParallel(definition, endpoint, expressions) &&
      before.every((call) => call.place !== "after" || !endpoint.names.has(call.member ?? "")),
    /**
     * The member of the upstream's object that the call reads or writes, and how it is read; undefined if the call has
     * no part.
     */
    part: compilePart(definition, context, location.at("upstream")),
    /**
     * The client's field in the error if the upstream does not find the object; undefined: the upstream's error is
     * translated.
     */
    notFoundField: definition.not_found_field,
    /** Status and code of the client's error if the upstream refuses the call. */
    failure: definition.failure,
  };
}

/** Groups the calls of a route by the time when they are sent. */
export function orderCalls(calls: readonly RouteCall[]) {
  const at = (place: RouteCall["place"]): readonly RouteCall[] =>
    calls.filter((call) => call.place === place);
  const after: RouteCall[][] = [];
  for (const call of at("after")) {
    const group = after.at(-1);
    if (call.isIndependent && group?.[0]?.isIndependent) group.push(call);
    else after.push([call]);
  }
  return {
    /** Calls that are sent before the main call, sequentially. */
    before: at("before"),
    /** Calls for parts of the main call's object. */
    parts: at("beside"),
    /** Calls that are sent after the main call. Groups are sent sequentially, and the calls of a group concurrently. */
    after: after as readonly (readonly RouteCall[])[],
  };
}
