/** One query parameter of the client: how it is read, and the values that the upstream gets of it. */
import { ValidationError } from "../errors/http-error.ts";
import { parseScalar, shortName, type ValueType } from "../paths/query.ts";
import { mapMaybe, thenMaybe } from "../../jsonata/index.ts";
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import { compileScoped, SCOPE_VARIABLES } from "../expressions/scope.ts";
import { evaluateFor } from "../expressions/compile-expression.ts";
import { checkRules, has, hasNoEffect, type KeyRules, oneOf, states, WHOLE } from "../key-rules.ts";
import type { ParameterDefinition } from "./parameter-definition.ts";
import { compileSchema, validSchema } from "../bodies/body-schema.ts";
import type { Schema } from "../values/schema-members.ts";
import type { ParameterTarget } from "./parameter-values.ts";
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

/** What becomes of a parameter. */
const OUTCOMES = ["upstream", "path", "reject", "ignore"];

const RULES: KeyRules<{ readonly keys: ParameterDefinition }> = {
  [WHOLE]: [
    oneOf(
      OUTCOMES,
      () => ({ message: 'a parameter needs "upstream", "path", "reject" or "ignore"' }),
      () => ({ message: '"upstream", "path", "reject" and "ignore" exclude each other' }),
    ),
  ],
  path: [
    states(
      ({ keys }) => (!keys.required && !has({ keys }, "default")) || has({ keys }, "multiple"),
      'a value in a path needs "required: true" or a "default", and no "multiple"',
    ),
  ],
  upstream_multiple: [
    states((facts) => !has(facts, "multiple"), 'the parameter has one value: "multiple" is missing'),
  ],
  write: [
    hasNoEffect(
      ({ keys }) => typeof keys.upstream === "object",
      ': each name in "upstream" has its own expression',
    ),
  ],
  default: [
    hasNoEffect(({ keys }) => keys.required === true, " on a required parameter"),
    states(
      ({ keys }) => keys.multiple !== undefined && !Array.isArray(keys.default),
      "must be a list: the parameter has several values",
    ),
    states(({ keys }) => keys.multiple === undefined && Array.isArray(keys.default), "must be one value"),
  ],
};

/** Compiles one parameter. */
export function compileParameter(
  name: string,
  definition: ParameterDefinition,
  context: ParameterContext,
  location: SourceLocation,
): Parameter {
  checkRules(RULES, { keys: definition }, location);
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
