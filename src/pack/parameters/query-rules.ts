/** The rules of a route for the client's query: what the upstream gets of all its parameters. */
import { HttpError, ValidationError, type ErrorDetail } from "../errors/http-error.ts";
import type { ParameterUse } from "../filters/query-filter.ts";
import { shortName, type Query } from "../paths/query.ts";
import { mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { failureAsValue } from "../expressions/compile-expression.ts";
import type { JsonObject, Scope } from "../translation-context.ts";
import type { Parameter } from "./parameter.ts";
import { placeValues, type PlacedValues } from "./parameter-values.ts";

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
