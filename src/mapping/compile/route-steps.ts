import { ValidationError, type ErrorDetail } from "../../dialect/http-error.ts";
import { ExpressionError, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { objectPath } from "../../dialect/object-wrapper.ts";
import { findPath } from "../../dialect/shape.ts";
import type { Envelope } from "./envelopes.ts";
import { compileChecks } from "./checks.ts";
import type { Resource } from "./resource.ts";
import type { PrerequisiteDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { compileEndpoint, type Endpoint } from "./endpoint.ts";
import { suggestionFor } from "../load/suggest.ts";
import { compileExpressionAt, failureAsValue, type SourceLocation } from "../load/source-location.ts";
import type { JsonObject } from "../translation-context.ts";

/** A request before the call, for checks and values that need data of v4. */
export interface Prerequisite {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly isNeeded: (body: JsonObject) => MaybePromise<boolean>;
  /** The alpha field of the error if v4 does not find the object; undefined: v4's error is translated. */
  readonly notFoundField: string | undefined;
  /** Checks the alpha body against the response (`read`) and the translated body (`v4`). */
  readonly check: (body: JsonObject, read: unknown, v4: JsonObject) => MaybePromise<ErrorDetail[]>;
}

/** A request that is repeated until its response meets a condition, before the call is sent. */
export interface Wait {
  readonly endpoint: Endpoint;
  readonly until: (response: unknown) => MaybePromise<boolean>;
  /** The source of `until`. */
  readonly condition: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
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

/** Requests that one call waits for. */
const MOST_WAIT_REQUESTS = 100;

/** Compiles the key `wait` of a route. */
function compileWait(
  definition: RouteDefinition["wait"],
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): Wait | undefined {
  if (!definition) return undefined;
  if (definition.timeout_ms > MOST_WAIT_REQUESTS * definition.interval_ms)
    location
      .at("interval_ms")
      .report(
        `a call waits for at most ${MOST_WAIT_REQUESTS} requests: interval_ms is too short for timeout_ms`,
      );
  return {
    endpoint: compileEndpoint(definition.upstream, prefix, parameters, location.at("upstream")),
    until: compileCondition(definition.until, location.at("until")) ?? always,
    condition: definition.until,
    intervalMs: definition.interval_ms,
    timeoutMs: definition.timeout_ms,
  };
}

/** Compiles the key `read_after` of a route. */
function compileReadAfterWrite(
  definition: RouteDefinition["read_after"],
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): ReadAfterWrite | undefined {
  if (!definition) return undefined;
  const fallback = compileExpressionAt(location.at("fallback"), definition.fallback, ["path"]);
  return {
    endpoint: compileEndpoint(definition.upstream, prefix, parameters, location.at("upstream")),
    fallbackBody: (call, path) => fallback.evaluate(call, { path }),
  };
}

/** Names of the members of token objects in a response. */
export interface TokensStep {
  readonly token: string;
  readonly scopes: string;
  readonly expires?: string | undefined;
  /** Whether v4 has just created the token. Only then the response has the complete token. */
  readonly created?: true | undefined;
  /** Whether the call deletes the token. */
  readonly deleted?: true | undefined;
  /** The keys that lead to the rows in the client's list; undefined for a single object. */
  readonly rows: readonly string[] | undefined;
  /** The keys that lead to the object in a row. */
  readonly item: readonly string[];
}

/** Compiles the key `tokens` of a route. Its members must be fields of the object in the response. */
export function compileTokens(
  { tokens, response, aggregate, merge, catalog, read_route: readRoute }: RouteDefinition,
  { fields, name }: Pick<Resource, "fields" | "name">,
  { list: listShape, item }: Pick<Envelope, "list" | "item">,
  location: SourceLocation,
): TokensStep | undefined {
  if (!tokens) return undefined;
  const { created, deleted, ...members } = tokens;
  if (deleted && (created || response !== "none" || readRoute === undefined))
    location
      .at("deleted")
      .report('"deleted" needs "response: none" and "read_route", and tokens that existed before');
  else if (!deleted && (response === "none" || response === "file" || (created && response === "list")))
    location.report('"tokens" needs a route that responds with an object, or a list of existing tokens');
  if (aggregate ?? merge ?? catalog)
    location.report(
      '"tokens" excludes "aggregate", "merge" and "catalog": their responses would show upstream scopes',
    );
  for (const [key, member = ""] of Object.entries(members))
    if (!fields.has(member))
      location.at(key).report({
        message: `the object has no field "${member}"`,
        hint: suggestionFor(member, [...fields.keys()]),
      });
  const rows = response === "list" ? findPath(listShape, "items") : undefined;
  return { ...tokens, rows, item: rows ? objectPath(item, name) : [] };
}

/** Compiles a request of the key `prerequisites`. @param body Names that its path may use. */
export function compilePrerequisite(
  name: string,
  definition: PrerequisiteDefinition,
  body: readonly string[],
  prefix: string,
  location: SourceLocation,
): Prerequisite {
  const runChecks = compileChecks(definition.checks ?? [], ["response", "upstream"], location.at("checks"));
  return {
    name,
    endpoint: compileEndpoint(definition.upstream, prefix, body, location.at("upstream")),
    isNeeded: compileBodyCondition(definition.when, location.at("when")) ?? always,
    notFoundField: definition.not_found_field,
    check: (alphaBody, read, v4) => runChecks(alphaBody, { response: read, upstream: v4 }),
  };
}

/** Compiles the key `related` of a route. */
function compileRelatedRequests(
  definition: RouteDefinition,
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): RelatedRequest[] {
  return Object.entries(definition.related ?? {}).map(([name, entry]) => {
    const { upstream, when, cache_seconds: keep = 0, all_pages: all = false, each } = entry;
    const at = location.at("related", name);
    const names = each === undefined ? parameters : [...parameters, "each"];
    const endpoint = compileEndpoint(upstream, prefix, names, at.at("upstream"));
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
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): MergePart[] {
  return Object.entries(merge).map(([name, path]) => {
    const at = location.at("merge", name);
    return {
      name,
      read: compileEndpoint(`GET ${path}`, prefix, parameters, at),
      write: compileEndpoint(`${method} ${path}`, prefix, parameters, at),
    };
  });
}

/** Compiles the calls that a route makes besides its main one and its prerequisites. */
export const compileSteps = (
  definition: RouteDefinition,
  call: string,
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
) => ({
  wait: compileWait(definition.wait, parameters, prefix, location.at("wait")),
  readAfterWrite: compileReadAfterWrite(definition.read_after, parameters, prefix, location.at("read_after")),
  related: compileRelatedRequests(definition, parameters, prefix, location),
  aggregation: compileAggregation(definition.aggregate, location.at("aggregate")),
  mergeParts: compileMergeParts(definition, call, parameters, prefix, location),
});
