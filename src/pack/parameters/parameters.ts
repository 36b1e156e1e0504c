/** Client query parameters → upstream query: the value of each parameter that the pack names. */
import { HttpError, ValidationError, type ErrorDetail } from "../errors/http-error.ts";
import type { ParameterUse } from "../filters/query-filter.ts";
import { parseScalar, shortName, type Query, type ValueType } from "../paths/query.ts";
import { mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import { compileScoped, SCOPE_VARIABLES } from "../expressions/scope.ts";
import { evaluateFor, failureAsValue } from "../expressions/compile-expression.ts";
import type { ParameterDefinition } from "./parameter-definition.ts";
import type { JsonObject, Scope } from "../translation-context.ts";
import { compileSchema, validSchema } from "../bodies/body-schema.ts";
import type { Schema } from "../values/schema-members.ts";
import { placeValues, type ParameterTarget, type PlacedValues } from "./parameter-values.ts";
import { applyValueKind, type ValueKind } from "../values/value-kind.ts";

/** The definitions that parameters may refer to. */
export interface ParameterContext {
  readonly values: ReadonlyMap<string, ValueKind>;
  readonly messages: ReadonlyMap<string, string>;
}

/** One compiled parameter of the client. */
export interface Parameter {
  readonly name: string;
  readonly definition: ParameterDefinition;
  /** Reads the values of a request. Empty if the client did not send the parameter. @throws {HttpError} 400 */
  readonly read: (texts: readonly string[] | undefined) => unknown;
  /** The upstream's values: one, except if `upstream` contains several names. Empty if nothing is sent to the upstream. */
  readonly targets: readonly ParameterTarget[];
}

/** Maximum number of values of one parameter. */
const MAX_VALUES = 100;

const TYPES: readonly unknown[] = ["string", "integer", "number", "boolean"] satisfies ValueType[];

/** The types of a schema that a text can be converted to. */
export const typesOf = ({ type }: Schema): ValueType[] =>
  [type].flat().filter((name): name is ValueType => TYPES.includes(name));

/** Converts a text to the first matching type. Other texts stay unchanged, and the schema rejects them. */
export function convertText(text: string, types: readonly ValueType[]): unknown {
  for (const type of types) {
    const value = parseScalar(text, type);
    if (value !== undefined) return value;
  }
  return text;
}

/** Reports keys of a parameter that exclude each other, or that have no effect. */
function reportInvalidParameter(definition: ParameterDefinition, location: SourceLocation): void {
  const { upstream, path, reject, ignore, required, multiple, default: standard } = definition;
  const outcomes = [upstream, path, reject, ignore].filter((outcome) => outcome !== undefined).length;
  if (outcomes === 0) location.report('a parameter needs "upstream", "path", "reject" or "ignore"');
  if (outcomes > 1) location.report('"upstream", "path", "reject" and "ignore" exclude each other');
  if (path !== undefined && ((!required && standard === undefined) || multiple !== undefined))
    location.at("path").report('a value in a path needs "required: true" or a "default", and no "multiple"');
  if (definition.upstream_multiple !== undefined && multiple === undefined)
    location.at("upstream_multiple").report('the parameter has one value: "multiple" is missing');
  if (typeof upstream === "object" && definition.write !== undefined)
    location.at("write").report('"write" has no effect: each name in "upstream" has its own expression');
  if (standard === undefined) return;
  const at = location.at("default");
  if (required) at.report('"default" has no effect on a required parameter');
  if (Array.isArray(standard) !== (multiple !== undefined))
    at.report(multiple ? "must be a list: the parameter has several values" : "must be one value");
}

/** Compiles one parameter. */
export function compileParameter(
  name: string,
  definition: ParameterDefinition,
  context: ParameterContext,
  location: SourceLocation,
): Parameter {
  reportInvalidParameter(definition, location);
  const { schema = {}, multiple, reject, required, default: standard } = definition;
  const fail = (reason: string, rule?: string): never => {
    throw new ValidationError([{ field: shortName(name), reason, ...(rule !== undefined && { rule }) }]);
  };
  const types = typesOf(schema);
  const at = location.at("schema");
  const check = compileSchema({ type: "object", properties: { value: validSchema(schema, at) } }, at);
  const rejection =
    reject === undefined
      ? undefined
      : (resolveReference(location.at("reject"), "message", reject, context.messages) ?? "");
  for (const value of standard === undefined ? [] : [standard].flat())
    for (const { reason } of check({ value }).slice(0, 1))
      location.at("default").report(`does not fit "schema": ${reason}`);

  function readOne(text: string): unknown {
    const value = convertText(text, types);
    const [problem] = check({ value });
    return problem ? fail(problem.reason, problem.rule) : value;
  }

  return {
    name,
    definition,
    read(texts) {
      if (texts === undefined) return required ? fail("This parameter is required.", "required") : standard;
      if (rejection !== undefined) return fail(rejection);
      if (multiple === undefined)
        return texts.length > 1 ? fail("There is more than one.") : readOne(texts[0] ?? "");
      const given = multiple === "comma" ? texts.flatMap((text) => text.split(",")) : texts;
      if (given.length > MAX_VALUES) return fail(`Must have at most ${MAX_VALUES} entries.`, "maxItems");
      return given.map(readOne);
    },
    targets: compileTargets(name, definition, context, location),
  };
}

/** Compiles the values that are sent to the upstream for one parameter. */
function compileTargets(
  field: string,
  definition: ParameterDefinition,
  context: ParameterContext,
  location: SourceLocation,
): ParameterTarget[] {
  const { upstream, path, write, multiple, upstream_multiple: separation = multiple, values } = definition;
  const kind =
    values === undefined
      ? undefined
      : resolveReference(location.at("values"), "value kind", values, context.values);
  const apply = kind && applyValueKind(kind.write, {});
  const convert = apply && ((value: unknown) => apply(kind.ofText.alpha(value)));

  function compileTarget(
    name: string | undefined,
    source: string | undefined,
    at: SourceLocation,
  ): ParameterTarget {
    const expression = source === undefined ? undefined : compileScoped(source, at, "selection", ["value"]);
    return {
      field,
      upstream: name,
      path,
      separation,
      // The client's values contain no comma, so any comma comes from the expression.
      isWhole: multiple === "comma" && expression !== undefined && !convert,
      readsScope: SCOPE_VARIABLES.some((variable) => expression?.variables.has(variable)),
      write(value, all, scope) {
        const written = expression ? expression.evaluate(all, scope, { value }) : value;
        if (!convert) return written;
        return evaluateFor(location.origin, () =>
          thenMaybe(written, (result) =>
            Array.isArray(result) ? mapMaybe(result, (each: unknown) => convert(each)) : convert(result),
          ),
        );
      },
    };
  }

  if (typeof upstream === "object")
    return Object.entries(upstream).map(([name, source]) =>
      compileTarget(name, source, location.at("upstream", name)),
    );
  if (upstream === undefined && path === undefined) return [];
  return [compileTarget(upstream, write, location.at("write"))];
}

/** The translation of a query. */
export interface TranslatedQuery extends PlacedValues {
  /** The first names of parameters that the pack does not define. */
  readonly ignored: readonly string[];
  /** The query for expressions: see {@link QueryRules.withDefaults}. */
  readonly query: Query;
}

const NO_VALUES = {};
const NO_SCOPE: Scope = { calls: {} };
const NOTHING: TranslatedQuery = { upstream: "", path: NO_VALUES, ignored: [], query: new Map() };

/** Maximum number of problems, and of names in a record. */
const MAX_NAMED = 20;

/** Further rules of a route for a query. */
interface QueryOptions {
  /** Whether a parameter that the pack does not define causes a 400. */
  readonly rejectsUnknown: boolean;
  /** Whether the route makes an upstream call. If not, parameters are checked but have no effect. */
  readonly hasCall: boolean;
  /** Returns whether pages or filters use a parameter, or ignore it. Undefined for all other parameters. */
  readonly useOf: (name: string) => ParameterUse | undefined;
}

/** Returns the default of a parameter, in the form that a client would send. */
function defaultTexts({ name, definition: { default: value, multiple } }: Parameter): [string, string[]][] {
  if (value === undefined) return [];
  const texts = [value].flat().map(String);
  return [[name, multiple === "comma" ? [texts.join(",")] : texts]];
}

/** The rules of a route for the client's query. */
export class QueryRules {
  readonly parameters: readonly Parameter[];
  readonly rejectsUnknown: boolean;
  readonly #options: QueryOptions;
  readonly #names: ReadonlySet<string>;
  /** Whether there is nothing to check or to send for a request without a query. */
  readonly #needsNone: boolean;
  readonly #defaults: Query;

  constructor(parameters: readonly Parameter[], options: QueryOptions) {
    this.parameters = parameters;
    this.rejectsUnknown = options.rejectsUnknown;
    this.#options = options;
    this.#names = new Set(parameters.map(({ name }) => name));
    this.#defaults = new Map(parameters.flatMap(defaultTexts));
    this.#needsNone =
      this.#defaults.size === 0 && parameters.every(({ definition }) => definition.required === undefined);
  }

  /** Adds the defaults of missing parameters to a query, for expressions. */
  withDefaults(query: Query): Query {
    return this.#defaults.size === 0 ? query : new Map([...this.#defaults, ...query]);
  }

  /** Whether a parameter has an effect. */
  reads(name: string): boolean {
    return this.#names.has(name) || this.#options.useOf(name) === "used";
  }

  /**
   * Translates a query.
   *
   * @param scopeOf Returns the variables of expressions, for the query with its defaults. Only called if an expression
   *   needs them.
   * @throws {HttpError} 400 with all problems
   */
  translate(query: Query, scopeOf: (query: Query) => MaybePromise<Scope>): MaybePromise<TranslatedQuery> {
    if (query.size === 0 && this.#needsNone) return NOTHING;
    const { unknown, ignored } = this.#findUnused(query);
    const reason = "This parameter is not known.";
    const errors: ErrorDetail[] = unknown.map((field) => ({ field, reason, rule: "unknown" }));
    const values = this.#read(query, errors);
    if (errors.length > 0) throw new ValidationError(errors.slice(0, MAX_NAMED));
    const sent = this.parameters.filter(
      ({ name, targets }) => targets.length > 0 && Object.hasOwn(values, name),
    );
    if (!this.#options.hasCall) {
      const unused = sent.flatMap(({ name }) => (query.has(name) ? [name] : []));
      return { ...NOTHING, ignored: [...ignored, ...unused], query: this.withDefaults(query) };
    }
    const targets = sent.flatMap((parameter) => parameter.targets);
    const complete = this.withDefaults(query);
    const readsScope = targets.some((target) => target.readsScope);
    return thenMaybe(readsScope ? scopeOf(complete) : NO_SCOPE, (scope) =>
      thenMaybe(
        mapMaybe(targets, ({ field, write }) => failureAsValue(() => write(values[field], values, scope))),
        (written) => ({ ...placeValues(targets, written), ignored, query: complete }),
      ),
    );
  }

  /** Returns the first parameters that have no effect. */
  #findUnused(query: Query): { unknown: string[]; ignored: string[] } {
    const unknown: string[] = [];
    const ignored: string[] = [];
    for (const name of query.keys()) {
      if (unknown.length + ignored.length === MAX_NAMED) break;
      if (this.reads(name)) continue;
      if (this.rejectsUnknown && this.#options.useOf(name) === undefined) unknown.push(shortName(name));
      // The name is not shortened: the record removes secrets from it first.
      else ignored.push(name);
    }
    return { unknown, ignored };
  }

  #read(query: Query, errors: ErrorDetail[]): JsonObject {
    const values: JsonObject = {};
    for (const { name, read } of this.parameters) {
      try {
        const value = read(query.get(name));
        if (value !== undefined) values[name] = value;
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        errors.push(...error.details);
      }
    }
    return values;
  }
}
