/** Tests whether the translation of an object loses something: one test for each field that may lose something. */
import {
  type Cursor,
  DEFAULT_SEVERITY,
  isArrayText,
  itemsOf,
  type PaddedText,
  rawTextAt,
  type Severity,
  type SourceLocation,
  toText,
} from "../../base/index.ts";
import { emitInput, emitNoCalls, emitValueAt, onlyPath } from "../codegen/emit-input.ts";
import type { ReaderField } from "../codegen/emit-object.ts";
import type { ByteRange } from "../codegen/member-scan.ts";
import type { ReaderUnit } from "../codegen/generate-reader.ts";
import { compileExpressionAt } from "../expressions/compile-expression.ts";
import type { FieldRule } from "./field-definition.ts";
import type { LossSink, ReadContext } from "../translation-context.ts";
import type { FieldContext } from "./field-context.ts";
import { createReadBindings, READ_VARIABLES, REQUEST_VARIABLES } from "./read-bindings.ts";
import { cacheTest } from "./keys/stub-cache.ts";

/** The possible loss of a field, as records and descriptions contain it: `field: reason`. */
export const lossText = (name: string, { loss }: FieldRule): string | undefined =>
  loss === undefined ? undefined : `${name}: ${loss}`;

/** A possible loss of a route: its text in records, and its severity. */
export interface Loss {
  readonly text: string;
  readonly severity: Severity;
}

/** Returns the loss of a field. Undefined if the field declares none. */
export const lossOf = (name: string, rule: FieldRule): Loss | undefined => {
  const text = lossText(name, rule);
  return text === undefined ? undefined : { text, severity: rule.severity ?? DEFAULT_SEVERITY };
};

interface LossOptions {
  readonly name: string;
  readonly rule: FieldRule;
  /** The field of the alpha object; undefined for a member that only occurs in bodies. */
  readonly field: ReaderField | undefined;
  readonly context: FieldContext;
  readonly location: SourceLocation;
  readonly unit: ReaderUnit;
}

/**
 * Emits the statement that adds the loss of a field to `lost`, if it occurs in the object. Without `loss_when` the
 * condition is derived:
 *
 * | The field | loses something if |
 * |---|---|
 * | uses a table of values, or scopes | several v4 values have the same alpha value, and this is not the first of them |
 * | uses a catalog | v4's id has no alpha id, or no object, or the list contains fewer objects |
 * | uses a different expression over a v4 member | the member has a value, and the result has none |
 * | has no v4 member | always |
 *
 * `body.ts` derives the losses of a request.
 */
export function emitLossTest(options: LossOptions): string | undefined {
  const { name, rule, location } = options;
  const text = lossText(name, rule);
  if (text === undefined) return undefined;
  const add = `lost.add(${JSON.stringify(text)});`;
  const test = rule.loss_when === undefined ? emitDerived(options) : emitCondition(rule.loss_when, options);
  if (test === "always") return add;
  if (test !== undefined) return `if (${test}) ${add}`;
  if (rule.write === undefined)
    location.at("loss").report({
      message: "it is not known when a value is lost: the value is passed on as it is",
      hint: 'add "loss_when", an expression over the upstream object',
    });
  return undefined;
}

/** Emits the test whether a member exists and is not null (110 is the letter n). */
const emitHasValue = ({ start, end }: ByteRange): string => `${end} > 0 && bytes[${start}] !== 110`;

function emitDerived({ name, rule, field, context, unit }: LossOptions): string | undefined {
  if (!field) return undefined;
  if (rule.upstream === undefined) return "always";
  const range = unit.scanned.range(rule.upstream.split("."));
  const { start, end } = range;
  const kind = context.values.get(rule.values ?? "");
  const catalog = context.catalogs.get(rule.catalog ?? "");
  const testValue = (isLost: (v4: unknown) => boolean): string =>
    `${unit.builder.constant(cacheTest(isLost))}(cursor, ${start}, ${end})`;
  if (kind?.isLostInRead && rule.read === undefined)
    return `${emitHasValue(range)} && ${testValue(kind.isLostInRead)}`;
  const { variable } = field;
  if (variable === "" || (rule.read ?? rule.catalog ?? rule.object) === undefined) return undefined;
  // Only null, lists and promises are checked.
  const candidate = `(${variable} === undefined || ${variable} === null || bytes[${start}] === 91 || ${variable} instanceof Promise)`;
  const text = JSON.stringify(lossText(name, rule));
  const neutral = `${candidate} && !lost.has(${text}) && ${unit.builder.constant(isNeutral)}(${variable}, cursor, ${start}, ${end}, lost, ${text})`;
  const conditions = [neutral, ...(catalog?.renames ? [testValue(catalog.hasNoAlphaId)] : [])];
  return `${emitHasValue(range)} && (${conditions.join(" || ")})`;
}

/** Whether the client gets nothing for a v4 value, or fewer items. For a promise, this is determined after it resolves. */
function isNeutral(
  result: unknown,
  cursor: Cursor,
  start: number,
  end: number,
  lost: LossSink,
  loss: string,
): boolean {
  const v4 = rawTextAt(cursor, start, end);
  const isNothing = (alpha: unknown): boolean => {
    if (alpha === undefined || alpha === null) return true;
    const text = typeof alpha === "string" ? alpha : toText(alpha as PaddedText);
    return isArrayText(v4) && isArrayText(text) && itemsOf(text).length < itemsOf(v4).length;
  };
  if (!(result instanceof Promise)) return isNothing(result);
  // The response waits for the same promise, and handles its error.
  void result.then(
    (alpha) => void (isNothing(alpha) && lost.add(loss)),
    () => {},
  );
  return false;
}

/**
 * Emits the condition of the pack. The loss is also reported if the condition fails, or if it is interpreted, because
 * its result would come too late.
 */
function emitCondition(source: string, { name, rule, context, location, unit }: LossOptions): string {
  const expression = compileExpressionAt(location.at("loss_when"), source, READ_VARIABLES, context.values);
  const { variables, inputNames } = expression;
  if (expression.engine === "interpreted") return "always";
  const bind = createReadBindings(context, variables, location);
  function isLost(input: unknown, value: unknown, reading: ReadContext): boolean {
    try {
      return Boolean(expression.evaluate(input, bind(value, reading)));
    } catch {
      return true;
    }
  }

  const { builder, scanned } = unit;
  const upstream = rule.upstream?.split(".");
  const value = variables.has("value") && upstream ? emitValueAt(scanned.range(upstream)) : "undefined";
  const general = `${builder.constant(isLost)}(${emitInput(expression, unit)}, ${value}, reading)`;
  const guards = [
    ...(variables.has("body") ? ["reading.body !== undefined"] : []),
    `!lost.has(${JSON.stringify(lossText(name, rule))})`,
  ];
  const path = variables.has("value")
    ? inputNames !== "all" && inputNames.size === 0 && upstream
    : onlyPath(inputNames);
  const isCacheable = variables.isDisjointFrom(REQUEST_VARIABLES) && path;
  if (!isCacheable) return [...guards, general].join(" && ");
  const range = scanned.range(path);
  const isValueLost = (member: unknown): boolean =>
    isLost(
      path.reduceRight((inner, key) => ({ [key]: inner }), member),
      member,
      NO_CALLS,
    );
  const cached = `${builder.constant(cacheTest(isValueLost))}(cursor, ${range.start}, ${range.end})`;
  const test = variables.has("calls") ? `(${emitNoCalls(unit)} ? ${cached} : ${general})` : cached;
  return [...guards, test].join(" && ");
}

/** Without values of calls, a condition on one member only depends on that member. */
const NO_CALLS = { calls: {} } as ReadContext;
