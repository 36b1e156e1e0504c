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
import { emitHasValue, emitIsList } from "../codegen/emit-tests.ts";
import type { ReaderUnit } from "../codegen/generate-reader.ts";
import { emitMemberTest, emitValueTest } from "../codegen/member-test.ts";
import type { Expression } from "../../jsonata/index.ts";
import { compileExpressionAt } from "../expressions/compile-expression.ts";
import type { FieldRule } from "./field-definition.ts";
import type { LossSink, ReadContext } from "../translation-context.ts";
import type { FieldContext } from "./field-context.ts";
import { createReadBindings, READ_VARIABLES, REQUEST_VARIABLES } from "./read-bindings.ts";

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

/** Which objects lose something: all, those for which the JavaScript is true, or it is not known. */
type LossTest = "all" | "unknown" | { readonly js: string };

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
  if (test === "all") return add;
  if (test !== "unknown") return `if (${test.js}) ${add}`;
  if (rule.write === undefined)
    location.at("loss").report({
      message: "can't tell when this loss occurs, because the value is passed on unchanged",
      hint: 'add "loss_when", an expression over the upstream object',
    });
  return undefined;
}

function emitDerived({ name, rule, field, context, unit }: LossOptions): LossTest {
  if (!field) return "unknown";
  if (rule.upstream === undefined) return "all";
  const range = unit.scanned.range(rule.upstream.split("."));
  const kind = context.values.get(rule.values ?? "");
  if (kind?.isLostInRead && rule.read === undefined)
    return { js: `${emitHasValue(range)} && ${emitValueTest(kind.isLostInRead, range, unit)}` };
  const { code } = field;
  if (code.kind !== "computed" || (rule.read ?? rule.catalog ?? rule.object) === undefined) return "unknown";
  const { variable } = code;
  const { start, end } = range;
  // Only null, lists and promises are checked.
  const candidate = `(${variable} === undefined || ${variable} === null || ${emitIsList(range)} || ${variable} instanceof Promise)`;
  const text = JSON.stringify(lossText(name, rule));
  const neutral = `${candidate} && !lost.has(${text}) && ${unit.builder.constant(isNeutral)}(${variable}, cursor, ${start}, ${end}, lost, ${text})`;
  const catalog = context.catalogs.get(rule.catalog ?? "");
  const conditions = [
    neutral,
    ...(catalog?.renames ? [emitValueTest(catalog.hasNoAlphaId, range, unit)] : []),
  ];
  return { js: `${emitHasValue(range)} && (${conditions.join(" || ")})` };
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
function emitCondition(source: string, { name, rule, context, location, unit }: LossOptions): LossTest {
  const expression = compileExpressionAt(location.at("loss_when"), source, READ_VARIABLES, context.values);
  const { variables } = expression;
  if (expression.engine === "interpreted") return "all";
  const bind = createReadBindings(context, variables, location);
  const isLost: IsLost = (input, value, reading) => {
    try {
      return Boolean(expression.evaluate(input, bind(value, reading)));
    } catch {
      return true;
    }
  };
  const upstream = rule.upstream?.split(".");
  const general = (): string => {
    const value =
      variables.has("value") && upstream ? emitValueAt(unit.scanned.range(upstream)) : "undefined";
    return `${unit.builder.constant(isLost)}(${emitInput(expression, unit)}, ${value}, reading)`;
  };
  const guards = [
    ...(variables.has("body") ? ["reading.body !== undefined"] : []),
    `!lost.has(${JSON.stringify(lossText(name, rule))})`,
  ];
  const cached = emitCached(expression, isLost, general, upstream, unit);
  if (cached === undefined) return { js: [...guards, general()].join(" && ") };
  const test = variables.has("calls") ? `(${emitNoCalls(unit)} ? ${cached} : ${general()})` : cached;
  return { js: [...guards, test].join(" && ") };
}

type IsLost = (input: unknown, value: unknown, reading: ReadContext) => boolean;

/** Emits a cached test for a condition that reads `$value` alone, or one member alone; undefined for any other condition. */
function emitCached(
  { variables, inputNames }: Expression,
  isLost: IsLost,
  general: () => string,
  upstream: readonly string[] | undefined,
  unit: ReaderUnit,
): string | undefined {
  if (!variables.isDisjointFrom(REQUEST_VARIABLES)) return undefined;
  if (!variables.has("value")) {
    const path = onlyPath(inputNames);
    return path && emitMemberTest(path, (object) => isLost(object, undefined, NO_CALLS), general, unit);
  }
  const readsMembers = inputNames === "all" || inputNames.size > 0;
  if (readsMembers || !upstream) return undefined;
  return emitValueTest((value) => isLost({}, value, NO_CALLS), unit.scanned.range(upstream), unit);
}

/** Without values of calls, a condition on one member only depends on that member. */
const NO_CALLS = { calls: {} } as ReadContext;
