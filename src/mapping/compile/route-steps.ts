import type { ErrorDetail } from "../../dialect/http-error.ts";
import { thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import { compileChecks } from "./checks.ts";
import type { PrerequisiteDefinition } from "../schema/definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { compileEndpoint, type Endpoint } from "./endpoint.ts";
import { suggestionFor } from "../load/suggest.ts";
import { compileExpressionAt, type SourceLocation } from "../load/source-location.ts";
import type { JsonObject } from "../translation-context.ts";

/** A read before the call, for rules and values that only v4's data can give. */
export interface Prerequisite {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly isNeeded: (body: JsonObject) => MaybePromise<boolean>;
  /** The alpha member to blame when v4 does not know what is read; undefined: v4's refusal is the answer. */
  readonly notFoundField: string | undefined;
  /** Faults of the alpha body, seen beside what was read and what goes to v4. */
  readonly check: (body: JsonObject, read: unknown, v4: JsonObject) => MaybePromise<ErrorDetail[]>;
}

/** A read that is repeated until it shows what the call has to wait for. */
export interface Wait {
  readonly endpoint: Endpoint;
  readonly until: (answer: unknown) => MaybePromise<boolean>;
  /** The same as the pack writes it. */
  readonly condition: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** A read after the call, whose answer is the answer. */
export interface ReadAfterWrite {
  readonly endpoint: Endpoint;
  /** Alpha's body when it fails: the call itself did happen. */
  readonly fallbackBody: (call: unknown, path: Readonly<Record<string, string>>) => MaybePromise<unknown>;
}

/** A read besides the call, whose answer some fields are made from. */
export interface RelatedRequest {
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly isNeeded: (answer: unknown) => MaybePromise<boolean>;
  /** The same as the pack writes it; undefined where it is always read. */
  readonly condition: string | undefined;
  /** Seconds that the answer may be kept for; 0: none. */
  readonly cacheSeconds: number;
  /** A list of which every page is read. */
  readonly allPages: boolean;
  /** The values for each of which there is a read, out of the v4 body that was sent. */
  readonly eachValue: ((body: unknown) => MaybePromise<unknown>) | undefined;
}

/** A v4 list that is read whole and paged here. */
export interface Aggregation {
  readonly maxRows: number;
  /** Whether alpha has this v4 row in the list. */
  readonly includesRow: (row: unknown) => MaybePromise<boolean>;
}

/** One of the places that a v4 object is spread over. */
export interface MergePart {
  /** Where it stands in the v4 object. */
  readonly name: string;
  readonly read: Endpoint;
  readonly write: Endpoint;
}

const always = () => true;

/** Compiles a condition over the value that it is given. */
export function compileCondition(
  source: string | undefined,
  location: SourceLocation,
): ((value: unknown) => MaybePromise<boolean>) | undefined {
  if (source === undefined) return undefined;
  const expression = compileExpressionAt(location, source, []);
  return (value) => thenMaybe(expression.evaluate(value, {}), Boolean);
}

export function compileWait(
  definition: RouteDefinition["wait"],
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): Wait | undefined {
  if (!definition) return undefined;
  return {
    endpoint: compileEndpoint(definition.v4, prefix, parameters, location.at("v4")),
    until: compileCondition(definition.until, location.at("until")) ?? always,
    condition: definition.until,
    intervalMs: definition.every_ms,
    timeoutMs: definition.most_ms,
  };
}

export function compileReadAfterWrite(
  definition: RouteDefinition["after"],
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): ReadAfterWrite | undefined {
  if (!definition) return undefined;
  const otherwise = compileExpressionAt(location.at("else"), definition.else, ["path"]);
  return {
    endpoint: compileEndpoint(definition.v4, prefix, parameters, location.at("v4")),
    fallbackBody: (call, path) => otherwise.evaluate(call, { path }),
  };
}

/** The answer's objects are tokens; names of their members. */
export interface TokensStep {
  readonly token: string;
  readonly scopes: string;
  readonly ends?: string | undefined;
  /** Whether v4 has just made the token, which is whole then. */
  readonly made?: true | undefined;
}

/** The members must be fields of the object that the route answers with. */
export function compileTokens(
  { token_levels: tokens, gives }: RouteDefinition,
  fields: ReadonlyMap<string, unknown>,
  location: SourceLocation,
): TokensStep | undefined {
  if (!tokens) return undefined;
  const { made, ...members } = tokens;
  if (gives === "nothing" || gives === "file" || (made && gives === "list"))
    location.report("tokens are in an answer that gives an object, or listed ones in a list");
  for (const [key, member = ""] of Object.entries(members))
    if (!fields.has(member))
      location.at(key).report({
        message: `the object has no field "${member}"`,
        hint: suggestionFor(member, [...fields.keys()]),
      });
  return tokens;
}

export function compilePrerequisite(
  name: string,
  definition: PrerequisiteDefinition,
  body: readonly string[],
  prefix: string,
  location: SourceLocation,
): Prerequisite {
  const faults = compileChecks(definition.checks ?? [], ["read", "v4"], location.at("checks"));
  return {
    name,
    endpoint: compileEndpoint(definition.v4, prefix, body, location.at("v4")),
    isNeeded: compileCondition(definition.when, location.at("when")) ?? always,
    notFoundField: definition.unknown,
    check: (sent, read, v4) => faults(sent, { read, v4 }),
  };
}

export function compileRelatedRequests(
  definition: RouteDefinition,
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): RelatedRequest[] {
  return Object.entries(definition.with ?? {}).map(([name, { v4, when, keep = 0, all = false, each }]) => {
    const at = location.at("with", name);
    const known = each === undefined ? parameters : [...parameters, "each"];
    const endpoint = compileEndpoint(v4, prefix, known, at.at("v4"));
    if (endpoint.method !== "GET") at.at("v4").report("an extra read must be a GET");
    if (keep > 0 && (all || each !== undefined)) at.at("keep").report("only a single answer can be kept");
    if (all && each !== undefined) at.report('"all" and "each" exclude each other');
    const values = each === undefined ? undefined : compileExpressionAt(at.at("each"), each, []);
    return {
      name,
      endpoint,
      isNeeded: compileCondition(when, at.at("when")) ?? always,
      condition: when,
      cacheSeconds: keep,
      allPages: all,
      eachValue: values && ((body) => values.evaluate(body, {})),
    };
  });
}

export function compileAggregation(
  definition: RouteDefinition["collect"],
  location: SourceLocation,
): Aggregation | undefined {
  if (!definition) return undefined;
  return {
    maxRows: definition.most,
    includesRow: compileCondition(definition.rows, location.at("rows")) ?? always,
  };
}

/** `method` is that of the route's call. */
export function compileMergeParts(
  { joins = {} }: RouteDefinition,
  method: string,
  parameters: readonly string[],
  prefix: string,
  location: SourceLocation,
): MergePart[] {
  return Object.entries(joins).map(([name, path]) => {
    const at = location.at("joins", name);
    return {
      name,
      read: compileEndpoint(`GET ${path}`, prefix, parameters, at),
      write: compileEndpoint(`${method} ${path}`, prefix, parameters, at),
    };
  });
}
