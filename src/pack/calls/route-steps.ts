import { ValidationError, type ErrorDetail, type Failure } from "../errors/http-error.ts";
import { ExpressionError, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { tokenHeadersOf } from "../headers/client-head.ts";
import { compileChecks } from "./checks.ts";
import type { DialectDefinition, PrerequisiteDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import { compileWait } from "./wait.ts";
import { compilePoll } from "./poll.ts";
import { compileEndpoint, type Endpoint } from "./endpoint.ts";
import type { SourceLocation } from "../../base/index.ts";
import { compileExpressionAt, failureAsValue } from "../load/compile-expression.ts";
import type { JsonObject } from "../translation-context.ts";

/** A request before the call, for checks and values that need data of v4. */
export interface Prerequisite {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** The earlier prerequisites whose responses its path has values of. */
  readonly needs: readonly string[];
  readonly isNeeded: (body: JsonObject) => MaybePromise<boolean>;
  /** The alpha field of the error if v4 does not find the object; undefined: v4's error is translated. */
  readonly notFoundField: string | undefined;
  /** What the route says about the error if v4 does not find the object. */
  readonly failure: Failure | undefined;
  /** Checks the alpha body against the response (`read`) and the translated body (`v4`). */
  readonly check: (body: JsonObject, read: unknown, v4: JsonObject) => MaybePromise<ErrorDetail[]>;
}

/** A request after the call. Its response becomes the response of the route. */
export interface ReadAfterWrite {
  readonly endpoint: Endpoint;
  /** Returns alpha's response body if the request fails: the call itself has succeeded. */
  readonly fallbackBody: (call: unknown, path: Readonly<Record<string, string>>) => MaybePromise<unknown>;
}

/** An additional request whose response some fields need. */
export interface RelatedRequest {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly isNeeded: (response: unknown) => MaybePromise<boolean>;
  /** The source of `isNeeded`; undefined if the request is always sent. */
  readonly condition: string | undefined;
  /** Seconds for which the response is cached; 0: not cached. */
  readonly cacheSeconds: number;
  /** Whether all pages of a list are fetched. */
  readonly allPages: boolean;
  /** Returns the values, from the v4 body that was sent, for each of which a request is sent. */
  readonly eachValue: ((body: unknown) => MaybePromise<unknown>) | undefined;
  /** The member of that body that has the values; undefined if the expression does not start with one. */
  readonly eachMember: string | undefined;
}

/** A v4 list of which all pages are fetched. The gateway filters, orders and pages the rows. */
export interface Aggregation {
  readonly maxRows: number;
  /** Whether alpha's list has this v4 row. */
  readonly includesRow: (row: unknown) => MaybePromise<boolean>;
}

/** One of the v4 paths that have a part of an object. */
export interface MergePart {
  /** Name of its member in the merged v4 object. */
  readonly name: string;
  readonly read: Endpoint;
  readonly write: Endpoint;
}

const always = () => true;

const INVALID_BODY = "The body has a value that is not valid.";

/** Compiles a condition on a value; returns undefined if there is no source. */
export function compileCondition(
  source: string | undefined,
  location: SourceLocation,
): ((value: unknown) => MaybePromise<boolean>) | undefined {
  if (source === undefined) return undefined;
  const expression = compileExpressionAt(location, source, []);
  return (value) => thenMaybe(expression.evaluate(value, {}), Boolean);
}

/** Compiles a condition on an alpha body. The function throws {HttpError} 400 for a body on which it fails. */
export function compileBodyCondition(
  source: string | undefined,
  location: SourceLocation,
): ReturnType<typeof compileCondition> {
  const holds = compileCondition(source, location);
  return (
    holds &&
    ((body) =>
      thenMaybe(
        failureAsValue(() => holds(body)),
        (result) => {
          if (result instanceof ExpressionError)
            throw new ValidationError([{ reason: INVALID_BODY, cause: result }]);
          return result;
        },
      ))
  );
}

/** The name in braces of the upstream's response to the call of a route. */
export const RESPONSE = "response";

/** Compiles a request after the call of a route. Its path may have values of the response. */
function compileLaterEndpoint(
  text: string,
  prefix: string,
  names: readonly string[],
  location: SourceLocation,
): Endpoint {
  const endpoint = compileEndpoint(text, prefix, [...names, RESPONSE], location);
  const both = names.filter((name) => name === RESPONSE);
  reportAmbiguousNames(endpoint, both, ["the response of the call", "another name of the route"], location);
  return endpoint;
}

/** Compiles the key `read_after` of a route. */
function compileReadAfterWrite(
  definition: RouteDefinition["read_after"],
  names: readonly string[],
  prefix: string,
  location: SourceLocation,
): ReadAfterWrite | undefined {
  if (!definition) return undefined;
  const fallback = compileExpressionAt(location.at("fallback"), definition.fallback, ["path"]);
  const at = location.at("upstream");
  const endpoint = compileLaterEndpoint(definition.upstream, prefix, names, at);
  if (endpoint.method !== "GET") at.report("an object is read by a GET");
  return {
    endpoint,
    fallbackBody: (call, path) => fallback.evaluate(call, { path }),
  };
}

/** Reports a name in braces that could be either of two things. */
function reportAmbiguousNames(
  { names }: Endpoint,
  others: readonly string[],
  [one, other]: readonly [string, string],
  location: SourceLocation,
): void {
  for (const name of others)
    if (names.has(name))
      location.report(`{${name}} could be ${one} or ${other}: one of them needs another name`);
}

/**
 * Compiles a request of the key `prerequisites`.
 *
 * @param names What its path may use: path parameters and members of the body, and earlier prerequisites of the route.
 * @param failure What the route says about its error.
 */
export function compilePrerequisite(
  name: string,
  definition: PrerequisiteDefinition,
  { members, earlier }: { readonly members: readonly string[]; readonly earlier: readonly string[] },
  prefix: string,
  failure: Failure | undefined,
  location: SourceLocation,
): Prerequisite {
  const runChecks = compileChecks(definition.checks ?? [], ["response", "upstream"], location.at("checks"));
  const at = location.at("upstream");
  const endpoint = compileEndpoint(definition.upstream, prefix, [...members, ...earlier], at);
  if (endpoint.method !== "GET") at.report("a prerequisite must be a GET");
  const both = earlier.filter((each) => members.includes(each));
  reportAmbiguousNames(endpoint, both, ["a prerequisite", "a path parameter or a member of the body"], at);
  return {
    name,
    endpoint,
    needs: earlier.filter((each) => endpoint.names.has(each)),
    isNeeded: compileBodyCondition(definition.when, location.at("when")) ?? always,
    notFoundField: definition.not_found_field,
    failure,
    check: (alphaBody, read, v4) => runChecks(alphaBody, { response: read, upstream: v4 }),
  };
}

/** Compiles the key `related` of a route. */
function compileRelatedRequests(
  definition: RouteDefinition,
  available: readonly string[],
  prefix: string,
  location: SourceLocation,
): RelatedRequest[] {
  return Object.entries(definition.related ?? {}).map(([name, entry]) => {
    const { upstream, when, cache_seconds: keep = 0, all_pages: all = false, each } = entry;
    const at = location.at("related", name);
    const names = each === undefined ? available : [...available, "each"];
    const endpoint = compileLaterEndpoint(upstream, prefix, names, at.at("upstream"));
    if (endpoint.method !== "GET") at.at("upstream").report("a related request must be a GET");
    if (keep > 0 && (all || each !== undefined))
      at.at("cache_seconds").report(
        '"cache_seconds" excludes "all_pages" and "each": only a single response can be cached',
      );
    if (all && each !== undefined) at.report('"all_pages" and "each" exclude each other');
    const values = each === undefined ? undefined : compileExpressionAt(at.at("each"), each, []);
    return {
      name,
      endpoint,
      isNeeded: compileCondition(when, at.at("when")) ?? always,
      condition: when,
      cacheSeconds: keep,
      allPages: all,
      eachValue: values && ((body) => values.evaluate(body, {})),
      eachMember: /^\w+/.exec(each ?? "")?.[0],
    };
  });
}

/** Compiles the key `aggregate` of a route. */
function compileAggregation(
  definition: RouteDefinition["aggregate"],
  location: SourceLocation,
): Aggregation | undefined {
  if (!definition) return undefined;
  return {
    maxRows: definition.max_items,
    includesRow: compileCondition(definition.include, location.at("include")) ?? always,
  };
}

/** Compiles the key `merge` of a route. @param method Method of the upstream call of the route. */
function compileMergeParts(
  { merge = {} }: RouteDefinition,
  method: string,
  names: readonly string[],
  prefix: string,
  location: SourceLocation,
): MergePart[] {
  return Object.entries(merge).map(([name, path]) => {
    const at = location.at("merge", name);
    return {
      name,
      read: compileEndpoint(`GET ${path}`, prefix, names, at),
      write: compileEndpoint(`${method} ${path}`, prefix, names, at),
    };
  });
}

/**
 * Compiles the calls that a route makes besides its main one and its prerequisites.
 *
 * @param names What their paths may use: path parameters, prerequisites, and for later calls the response.
 */
export const compileSteps = (
  definition: RouteDefinition,
  call: string,
  names: readonly string[],
  {
    client,
    upstream: { base_path: prefix },
    messages,
  }: Pick<DialectDefinition, "client" | "upstream" | "messages">,
  location: SourceLocation,
) => ({
  wait: compileWait(definition.wait, names, prefix, tokenHeadersOf(client.credentials), location.at("wait")),
  poll: compilePoll(
    definition.poll,
    {
      messages,
      endpointOf: (text, more, at) => compileLaterEndpoint(text, prefix, [...names, ...more], at),
    },
    location.at("poll"),
  ),
  readAfterWrite: compileReadAfterWrite(definition.read_after, names, prefix, location.at("read_after")),
  related: compileRelatedRequests(definition, names, prefix, location),
  aggregation: compileAggregation(definition.aggregate, location.at("aggregate")),
  mergeParts: compileMergeParts(definition, call, names, prefix, location),
});
