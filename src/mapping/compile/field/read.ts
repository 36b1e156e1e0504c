/** v4 response → alpha response: the text of an alpha object, from the text of a v4 object. */
import type { Cursor } from "../../../dialect/json/scan.ts";
import { toJsonText, type JsonText } from "../../../dialect/json/text.ts";
import type { Expression, MaybePromise } from "../../../jsonata/index.ts";
import {
  createReaderUnit,
  generateReader,
  type ByteRange,
  type FieldCode,
  type ReaderField,
  type ReaderUnit,
} from "../../codegen/generate-reader.ts";
import { sharedOutputBuffer } from "../../codegen/output-buffer.ts";
import { compileExpressionAt, type SourceLocation } from "../../load/source-location.ts";
import type { FieldRule } from "../../schema/definition.ts";
import type { AppendFunction, ReadContext, ReadFunction } from "../../translation-context.ts";
import { networkAddress as networkOf } from "../ip-address.ts";
import type { CompileFields, FieldContext } from "./context.ts";
import { compileReadSteps, type ReadStep } from "./read-steps.ts";

/** The read direction of all fields of an object. */
export interface ObjectReader {
  readonly append: AppendFunction;
  readonly read: ReadFunction;
  /** The generated JavaScript. */
  readonly code: string;
  /** Whether a field of this object may give a promise. Readers of nested objects are not counted. */
  readonly mayBeAsync: boolean;
}

/** Compiles the read direction: all fields become one generated function, which goes over the v4 object once. */
export const compileRead: CompileFields<ObjectReader> = (rules, context, locationOf) => {
  const unit = createReaderUnit();
  const fields = new Map(
    [...rules].map(([name, rule]): [string, ReaderField] => {
      const code = emitField(rule, context, locationOf(name), unit);
      const variable = code.kind === "computed" ? unit.builder.name("field") : "";
      const mayBeAsync = code.kind === "computed" && (code.mayBeAsync || rule.object !== undefined);
      const neutral = toJsonText(rule.or) ?? "null";
      return [name, { code, variable, mayBeAsync, isArray: rule.array === true, neutral }];
    }),
  );
  const { append, code } = generateReader(fields, unit, locationOf);
  const mayBeAsync = [...fields.values()].some(
    ({ code: field }) => field.kind === "computed" && field.mayBeAsync,
  );
  return { append, read: readFromAppend(append), code, mayBeAsync };
};

/** Turns a function that appends to a buffer into one that returns the text. */
const readFromAppend =
  (append: AppendFunction): ReadFunction =>
  (from, reading) => {
    const start = sharedOutputBuffer.at;
    try {
      const pending = append(from, reading, sharedOutputBuffer);
      return pending ?? sharedOutputBuffer.takeText(start);
    } finally {
      sharedOutputBuffer.truncate(start);
    }
  };

const READ_VARIABLES = ["value", "with", "values", "networkOf", "sent", "scopesOf"];

const valueAt = ({ start, end }: ByteRange): string => `valueAt(cursor, ${start}, ${end})`;

/** The input of an expression: an object with only the members that the expression reads. */
function emitInput({ reads }: Expression, { plan }: ReaderUnit): string {
  if (reads === "all") return "valueAt(cursor, start, at)";
  const members = [...reads].map((name) => `${JSON.stringify(name)}: ${valueAt(plan.range([name]))}`);
  return `{ ${members.join(", ")} }`;
}

type NonEmptySteps = readonly [ReadStep, ...ReadStep[]];

const isNonEmpty = (steps: readonly ReadStep[]): steps is NonEmptySteps => steps.length > 0;

type RunSteps = (
  text: MaybePromise<JsonText>,
  reading: ReadContext,
  cursor: Cursor,
  start: number,
  end: number,
) => MaybePromise<JsonText>;

/** Chains steps into one function, which ends as soon as a step gives null or nothing. */
function chainSteps([{ run }, ...others]: NonEmptySteps): RunSteps {
  const runOthers = isNonEmpty(others) ? chainSteps(others) : undefined;
  return function runSteps(text, reading, cursor, start, end): MaybePromise<JsonText> {
    if (text === null || text === undefined) return text;
    if (text instanceof Promise)
      return text.then((resolved) => runSteps(resolved, reading, cursor, start, end));
    const next = run(text, reading, cursor, start, end);
    return runOthers ? runOthers(next, reading, cursor, start, end) : next;
  };
}

/** A constant, or the steps over a constant. */
function emitConstant(text: JsonText, steps: readonly ReadStep[], { builder }: ReaderUnit): FieldCode {
  if (!isNonEmpty(steps)) return { kind: "constant", text };
  const js = `${builder.constant(chainSteps(steps))}(${JSON.stringify(text)}, reading, cursor, start, at)`;
  return { kind: "computed", js, mayBeAsync: steps.some(({ mayBeAsync }) => mayBeAsync) };
}

/** The result of an expression over the v4 object, then the steps over that result. */
function emitExpression(
  rule: FieldRule & { readonly read: string },
  steps: readonly ReadStep[],
  context: FieldContext,
  location: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const expression = compileExpressionAt(location.at("read"), rule.read, READ_VARIABLES);
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
  const printConstant = unit.builder.constant(print);
  const range = rule.v4 === undefined ? undefined : unit.plan.range(rule.v4.split("."));
  const value = range && expression.variables.has("value") ? valueAt(range) : "undefined";
  const text = `${printConstant}(${emitInput(expression, unit)}, ${value}, reading)`;
  // Rows of a list have no related responses: an expression that gives nothing without them need not run.
  const guard = expression.missingWithout.has("with") ? "isEmpty(reading.related) ? undefined : " : "";
  const js = isNonEmpty(steps)
    ? `${unit.builder.constant(chainSteps(steps))}(${text}, reading, cursor, start, at)`
    : text;
  return {
    kind: "computed",
    js: guard + js,
    mayBeAsync: expression.engine === "interpreted" || steps.some(({ mayBeAsync }) => mayBeAsync),
  };
}

/** The steps over a v4 value. Where a result is cached by the bytes of the value, no string is created. */
function emitSteps(steps: NonEmptySteps, range: ByteRange, { builder }: ReaderUnit): FieldCode {
  const runSteps = builder.constant(chainSteps(steps));
  const { start, end } = range;
  const computed = `${runSteps}(rawTextAt(cursor, ${start}, ${end}), reading, cursor, start, at)`;
  const mayBeAsync = steps.some((step) => step.mayBeAsync);
  // 110 is the letter n: the value is null.
  const nothing = `${end} === 0 || bytes[${start}] === 110 ? undefined : `;
  const [{ cachedText, isUnchanged }] = steps.length === 1 ? steps : [{}];
  if (isUnchanged) {
    const js = `${nothing}${builder.constant(isUnchanged)}(bytes, ${start}, ${end}) ? undefined : ${computed}`;
    return { kind: "computed", js, mayBeAsync, range };
  }
  const cached = cachedText ? `${builder.constant(cachedText)}(bytes, ${start}, ${end}, reading) ?? ` : "";
  return { kind: "computed", js: nothing + cached + computed, mayBeAsync };
}

/** Emits the code that gives the text of one field. */
function emitField(
  rule: FieldRule,
  context: FieldContext,
  location: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const steps = compileReadSteps(rule, context, location);
  const { read, v4 } = rule;
  if (rule.const !== undefined || (read === undefined && v4 === undefined))
    return emitConstant(toJsonText(rule.const), steps, unit);
  if (read !== undefined) return emitExpression({ ...rule, read }, steps, context, location, unit);
  const range = unit.plan.range((v4 ?? "").split("."));
  return isNonEmpty(steps) ? emitSteps(steps, range, unit) : { kind: "copied", range };
}
