/** Compiles a call of a route: its data, its condition, and the use of its response. */
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { compileUpstreamFormat } from "../bodies/body-format.ts";
import { GATEWAY_TIMEOUT } from "../errors/statuses.ts";
import type { KeyContext } from "../keys/key.ts";
import type { CallDefinition } from "./call-definition.ts";
import type { OperationState, Repetition, RouteCall, Unfinished } from "./call.ts";
import { describeCall } from "./call-texts.ts";
import { compileChecks } from "../expressions/checks.ts";
import {
  compileBodyCondition,
  compileScopedCondition,
  compileNamedValues,
} from "../expressions/conditions.ts";
import { compileEndpoint, type Endpoint, reportAmbiguousNames, RESPONSE } from "./endpoint.ts";
import { reportInvalidCall } from "./report-call.ts";
import { compileScoped, type Phase } from "../expressions/scope.ts";
import type { ReceivedResponse, Scope } from "../translation-context.ts";

/** Compiles the expressions of a call. */
class CallExpressions {
  readonly #location: SourceLocation;
  readonly #phase: Phase;
  /** Whether one of them reads headers of responses. */
  readsHeaders = false;
  /** Whether one of them reads values of other calls. */
  readsCalls = false;

  /** @param phase when the call is sent */
  constructor(location: SourceLocation, phase: Phase) {
    this.#location = location;
    this.#phase = phase;
  }

  /**
   * @param phase when the expression runs, if not when the call is sent
   * @param own more variables, which this expression alone has
   */
  compile(source: string, keys: readonly string[], phase = this.#phase, own: readonly string[] = []) {
    const expression = compileScoped(source, this.#location.at(...keys), phase, own);
    this.readsHeaders ||= expression.variables.has("response_headers");
    this.readsCalls ||= expression.variables.has("calls");
    return expression;
  }

  /** Compiles an expression over the response of the call itself. */
  ofResponse(source: string, keys: readonly string[]) {
    const { evaluate } = this.compile(
      source,
      keys,
      this.#phase === "request" ? "early response" : "response",
    );
    return (response: ReceivedResponse, scope: Scope): MaybePromise<unknown> =>
      evaluate(response.json, { ...scope, response });
  }
}

function compileRepetition({ repeat }: CallDefinition, expressions: CallExpressions): Repetition | undefined {
  if (!repeat) return undefined;
  const { until, failed, interval_ms: intervalMs, timeout_ms: timeoutMs } = repeat;
  const isDone = expressions.ofResponse(until, ["repeat", "until"]);
  const hasFailed = failed && expressions.ofResponse(failed.when, ["repeat", "failed", "when"]);
  const errorOf =
    failed?.error === undefined
      ? ({ json }: ReceivedResponse) => json
      : expressions.ofResponse(failed.error, ["repeat", "failed", "error"]);
  return {
    intervalMs,
    timeoutMs,
    stateOf: (response, scope) =>
      thenMaybe(isDone(response, scope), (done): MaybePromise<OperationState> => {
        if (done) return "done";
        return thenMaybe(hasFailed?.(response, scope), (hasFailedNow) =>
          hasFailedNow ? "failed" : "in progress",
        );
      }),
    errorOf,
    errorStatus: failed?.status ?? 422,
  };
}

/** Compiles the client's object of a call that has failed. */
function compileFallback({ fallback }: CallDefinition, expressions: CallExpressions): RouteCall["fallback"] {
  if (fallback === undefined) return undefined;
  const { evaluate } = expressions.compile(fallback, ["fallback"], "response", ["failure"]);
  return (scope, failure) =>
    evaluate(scope.response?.json, scope, {
      failure: failure && { status: failure.status, body: failure.json },
    });
}

function compileUnfinished(
  { unfinished }: CallDefinition,
  expressions: CallExpressions,
  { dialect, location }: KeyContext,
): Unfinished | undefined {
  if (!unfinished) return undefined;
  const { message, status, body = "" } = unfinished;
  if (message !== undefined) {
    const known = new Map(Object.entries(dialect.messages));
    const reason = resolveReference(location.at("unfinished", "message"), "message", message, known) ?? "";
    return { error: { status: status ?? GATEWAY_TIMEOUT, reason } };
  }
  const { evaluate } = expressions.compile(body, ["unfinished", "body"]);
  return { body: (scope) => evaluate(scope.response?.json, scope), status };
}

/** Compiles the condition of a call. A client's body on which it fails is invalid. */
function compileWhen({ when, at }: CallDefinition, location: SourceLocation): RouteCall["isNeeded"] {
  const holds =
    at === "before"
      ? compileBodyCondition(when, location, "request")
      : compileScopedCondition(when, location, "response");
  return holds ?? (() => true);
}

const EITHER = "one of them needs another name";

/** Compiles the operation, and reports names in braces that could be two things. */
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

/** Compiles how a part of an object is read where nothing of it is written. */
function compilePart(
  { part, upstream }: CallDefinition,
  { names, dialect }: KeyContext,
  location: SourceLocation,
): RouteCall["part"] {
  if (part === undefined) return undefined;
  const path = upstream.replace(/^\S+/, "GET");
  return { name: part, read: compileEndpoint(path, dialect.upstream.base_path, names.all, location) };
}

/** Whether a call can be sent together with others, because nothing waits for its effect. */
const canBeParallel = (
  { at, answer, repeat, part }: CallDefinition,
  { method }: Endpoint,
  { readsCalls }: CallExpressions,
): boolean =>
  at === "after" && method === "GET" && !readsCalls && answer === undefined && !repeat && part === undefined;

/** Compiles the body of a call that writes. It has no wrapper: its expression gives all of it. */
function compileBody(
  { body }: CallDefinition,
  expressions: CallExpressions,
  { dialect, resource, location }: KeyContext,
): RouteCall["body"] {
  if (body === undefined) return undefined;
  const format = { ...dialect.upstream.bodies, object: undefined };
  return {
    of: expressions.compile(body, ["body"]).evaluate,
    format: compileUpstreamFormat(format, resource.name, false, location.at("body")),
  };
}

/** Compiles the values for each of which a call is sent. */
function compileEach({ each, at }: CallDefinition, expressions: CallExpressions) {
  if (each === undefined) return { eachValue: undefined, knowsEach: false, eachMember: undefined };
  const { evaluate, variables, readsInput } = expressions.compile(each, ["each"]);
  const readsResponse = ["response", "response_headers", "status", "calls"].some((name) =>
    variables.has(name),
  );
  return {
    eachValue: evaluate,
    knowsEach: at === "after" && !readsInput && !readsResponse,
    eachMember: /^\$request\.(\w+)/.exec(each)?.[1],
  };
}

/** Whether the request goes on if a call fails, where the pack does not say so. An operation that has failed is an error. */
const isOptionalByDefault = ({ at, part, repeat }: CallDefinition, { method }: Endpoint): boolean =>
  at === "after" && method === "GET" && part === undefined && repeat?.failed === undefined;

/** Compiles a call. @param before the calls of the route that come before it */
export function compileCall(
  definition: CallDefinition,
  before: readonly RouteCall[],
  context: KeyContext,
  at: RouteCall["at"],
): RouteCall {
  const { location } = context;
  const { name, answer, part: isPart } = definition;
  const isBefore = definition.at === "before";
  const earlier = before.flatMap(({ member }) => member ?? []);
  const endpoint = compileOperation(definition, earlier, context);
  const expressions = new CallExpressions(location, isBefore ? "request" : "response");
  const repeats = compileRepetition(definition, expressions);
  reportInvalidCall({ keys: definition, endpoint, earlier: before }, location);
  const parts = {
    isNeeded: compileWhen(definition, location.at("when")),
    valuesOf: compileNamedValues(definition.values ?? {}, (source, each) =>
      expressions.compile(source, ["values", each]),
    ),
    ...compileEach(definition, expressions),
    body: compileBody(definition, expressions, context),
    answerOf: typeof answer === "string" ? expressions.ofResponse(answer, ["answer"]) : answer && "whole",
    checks: compileChecks(definition.checks ?? [], location.at("checks"), "response", [
      ...earlier,
      ...(name === undefined ? [] : [name]),
    ]),
    fallback: compileFallback(definition, expressions),
    unfinished: compileUnfinished(definition, expressions, context),
  } as const;
  return {
    ...parts,
    ...describeCall(definition, endpoint, context),
    at,
    name: name ?? isPart ?? `${endpoint.method} ${endpoint.template}`,
    member: name,
    endpoint,
    place: isPart !== undefined ? "beside" : definition.at,
    use: isBefore ? "rules" : isPart !== undefined || answer !== undefined ? "answer" : "fields",
    repeats,
    isOptional: definition.optional ?? isOptionalByDefault(definition, endpoint),
    cacheSeconds: definition.cache_seconds ?? 0,
    allPages: definition.all_pages === true,
    status: definition.status,
    readsHeaders: expressions.readsHeaders,
    needs: earlier.filter((each) => endpoint.names.has(each)),
    isIndependent:
      canBeParallel(definition, endpoint, expressions) &&
      before.every(({ member, place }) => place !== "after" || !endpoint.names.has(member ?? "")),
    part: compilePart(definition, context, location.at("upstream")),
    notFoundField: definition.not_found_field,
    failure: definition.failure,
  };
}
