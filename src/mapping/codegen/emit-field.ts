import type { Cursor } from "../../dialect/json/scan.ts";
import { toJsonText, type JsonText } from "../../dialect/json/text.ts";
import type { Expression, MaybePromise } from "../../jsonata/index.ts";
import type { WriteCompileContext } from "../compile/field/write.ts";
import type { FieldRule } from "../schema/definition.ts";
import { networkAddress as networkOf } from "../compile/ip-address.ts";
import { compileExpressionAt, type SourceLocation } from "../load/source-location.ts";
import type { ReadContext } from "../translation-context.ts";
import type { CodeBuilder } from "./code-builder.ts";
import { compileValueSteps, type ValueStep } from "./value-steps.ts";
import type { ByteRange, MemberPlan } from "./member-plan.ts";

/** The function of one resource while it is written. */
export interface ReaderUnit {
  readonly source: CodeBuilder;
  readonly wanted: MemberPlan;
}

/** How the text of a field comes about. */
export type FieldCode =
  /** It is always the same. */
  | { readonly kind: "constant"; readonly text: JsonText }
  /** It is what stands in v4. */
  | { readonly kind: "copied"; readonly range: ByteRange }
  /**
   * JavaScript gives it, or a promise of it where that is `late`, or where another object's reader is;
   * with a range, undefined says: as it stands in v4.
   */
  | { readonly kind: "made"; readonly js: string; readonly late: boolean; readonly range?: ByteRange };

const READ_VARIABLES = ["value", "with", "values", "networkOf", "sent", "scopesOf"];

const valueAt = ({ start, end }: ByteRange): string => `valueAt(cursor, ${start}, ${end})`;

/** The input of an expression: an object of the members that it reads. */
function emitInput({ reads }: Expression, { wanted }: ReaderUnit): string {
  if (reads === "all") return "valueAt(cursor, start, at)";
  const members = [...reads].map((name) => `${JSON.stringify(name)}: ${valueAt(wanted.range([name]))}`);
  return `{ ${members.join(", ")} }`;
}

/** One step at least. */
type Some = readonly [ValueStep, ...ValueStep[]];

const isSome = (steps: readonly ValueStep[]): steps is Some => steps.length > 0;

type After = (
  text: MaybePromise<JsonText>,
  reading: ReadContext,
  cursor: Cursor,
  start: number,
  end: number,
) => MaybePromise<JsonText>;

/** What the steps make of a text, one after the other as long as there is something. */
function stepsAfter([{ run }, ...others]: Some): After {
  const after = isSome(others) ? stepsAfter(others) : undefined;
  return function made(text, reading, cursor, start, end): MaybePromise<JsonText> {
    if (text === null || text === undefined) return text;
    if (text instanceof Promise) return text.then((known) => made(known, reading, cursor, start, end));
    const next = run(text, reading, cursor, start, end);
    return after ? after(next, reading, cursor, start, end) : next;
  };
}

/** What is always the same, but for the steps behind it. */
function emitConstant(text: JsonText, steps: readonly ValueStep[], { source }: ReaderUnit): FieldCode {
  if (!isSome(steps)) return { kind: "constant", text };
  const js = `${source.constant(stepsAfter(steps))}(${JSON.stringify(text)}, reading, cursor, start, at)`;
  return { kind: "made", js, late: steps.some(({ mayBeAsync }) => mayBeAsync) };
}

/** What an expression makes of a v4 object, and what the steps make of that. */
function emitExpression(
  rule: FieldRule & { readonly read: string },
  steps: readonly ValueStep[],
  context: WriteCompileContext,
  place: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const expression = compileExpressionAt(place.at("read"), rule.read, READ_VARIABLES);
  const { lookup: values, scopesOf } = context;
  const print = (input: unknown, value: unknown, reading: ReadContext): MaybePromise<JsonText> =>
    expression.print(input, {
      value,
      with: reading.related,
      sent: reading.sentBody,
      values,
      networkOf,
      scopesOf,
    });
  const printed = unit.source.constant(print);
  const range = rule.v4 === undefined ? undefined : unit.wanted.range(rule.v4.split("."));
  const value = range && expression.variables.has("value") ? valueAt(range) : "undefined";
  const text = `${printed}(${emitInput(expression, unit)}, ${value}, reading)`;
  // Where nothing was read besides, as for the rows of a list, some expressions needn't run to be known.
  const alone = expression.missingWithout.has("with") ? "isEmpty(reading.related) ? undefined : " : "";
  const js = isSome(steps)
    ? `${unit.source.constant(stepsAfter(steps))}(${text}, reading, cursor, start, at)`
    : text;
  return {
    kind: "made",
    js: alone + js,
    late: expression.engine === "interpreted" || steps.some(({ mayBeAsync: late }) => late),
  };
}

/** What the steps make of what stands in v4: looked up where it can be, so that no string is made of it. */
function emitSteps(steps: Some, range: ByteRange, { source }: ReaderUnit): FieldCode {
  const after = source.constant(stepsAfter(steps));
  const { start, end } = range;
  const made = `${after}(rawTextAt(cursor, ${start}, ${end}), reading, cursor, start, at)`;
  const late = steps.some((step) => step.mayBeAsync);
  const nothing = `${end} === 0 || bytes[${start}] === 110 ? undefined : `;
  const [{ cachedText, isUnchanged }] = steps.length === 1 ? steps : [{}];
  if (isUnchanged) {
    const js = `${nothing}${source.constant(isUnchanged)}(bytes, ${start}, ${end}) ? undefined : ${made}`;
    return { kind: "made", js, late, range };
  }
  const found = cachedText ? `${source.constant(cachedText)}(bytes, ${start}, ${end}, reading) ?? ` : "";
  return { kind: "made", js: nothing + found + made, late };
}

/** Writes the way of one field from v4 to alpha. */
export function emitField(
  rule: FieldRule,
  context: WriteCompileContext,
  place: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const steps = compileValueSteps(rule, context, place);
  const { read, v4 } = rule;
  if (rule.const !== undefined || (read === undefined && v4 === undefined))
    return emitConstant(toJsonText(rule.const), steps, unit);
  if (read !== undefined) return emitExpression({ ...rule, read }, steps, context, place, unit);
  const range = unit.wanted.range((v4 ?? "").split("."));
  return isSome(steps) ? emitSteps(steps, range, unit) : { kind: "copied", range };
}

/** The text of a field where there is nothing. */
export const neutralText = ({ or }: FieldRule): string => toJsonText(or) ?? "null";
