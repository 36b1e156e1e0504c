/** The JavaScript that gives the text of one field of an alpha object. */
import { type Cursor, type JsonText, type SourceLocation, toJsonText } from "../../base/index.ts";
import type { Expression, MaybePromise } from "../../jsonata/index.ts";
import type { CodeBuilder } from "../codegen/code-builder.ts";
import { emitInput, emitNoCalls, emitValueAt, onlyPath } from "../codegen/emit-input.ts";
import type { FieldCode } from "../codegen/emit-object.ts";
import { emitHasValue } from "../codegen/emit-tests.ts";
import type { ReaderUnit } from "../codegen/generate-reader.ts";
import { emitMemberTest } from "../codegen/member-test.ts";
import type { ByteRange } from "../codegen/member-scan.ts";
import { compileExpressionAt } from "../expressions/compile-expression.ts";
import type { ReadContext } from "../translation-context.ts";
import { networkAddress as networkOf } from "../values/ip-address.ts";
import type { FieldContext } from "./field-context.ts";
import type { FieldRule } from "./field-definition.ts";
import type { ReadStep } from "./keys/field-key.ts";
import { compileReadSteps } from "./keys/field-keys.ts";
import { createReadBindings, PURE_VARIABLES, READ_VARIABLES } from "./read-bindings.ts";

/** How a text is computed, in JavaScript. */
interface Computation {
  /** There is a text where all of them hold. Elsewhere it is undefined. */
  readonly conditions: readonly string[];
  /** Looks the text up in a cache. */
  readonly cached?: string | undefined;
  readonly text: string;
}

const printComputation = ({ conditions, cached, text }: Computation): string => {
  const value = cached === undefined ? text : `${cached} ?? ${text}`;
  return conditions.length === 0 ? value : `${conditions.join(" && ")} ? ${value} : undefined`;
};

/** Chooses where the text of a field comes from: the pack, an expression, or the v4 member that `upstream` names. */
export function emitField(
  rule: FieldRule,
  context: FieldContext,
  location: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const steps = compileReadSteps(rule, context, location);
  const computed = (computation: Computation, isInterpreted = false) => ({
    kind: "computed" as const,
    variable: unit.builder.name("field"),
    js: printComputation(computation),
    mayBeAsync: isInterpreted || steps.some(({ mayBeAsync }) => mayBeAsync),
    isNested: rule.object !== undefined,
  });
  const { const: constant, read, upstream } = rule;
  if (constant !== undefined || (read === undefined && upstream === undefined)) {
    const text = toJsonText(constant);
    if (steps.length === 0) return { kind: "constant", text };
    return computed({ conditions: [], text: emitSteps(steps, JSON.stringify(text), unit.builder) });
  }
  if (read !== undefined) {
    const expression = compileExpressionAt(location.at("read"), read, READ_VARIABLES, context.values);
    const computation = computeFromExpression({ ...rule, read }, expression, steps, context, location, unit);
    return computed(computation, expression.engine === "interpreted");
  }
  const range = unit.scanned.range((upstream ?? "").split("."));
  if (steps.length === 0) return { kind: "copied", range };
  const computation = computeFromValue(steps, range, unit);
  const { isUnchanged } = onlyStep(steps);
  if (!isUnchanged) return computed(computation);
  const isChanged = `!${unit.builder.constant(isUnchanged)}(bytes, ${range.start}, ${range.end})`;
  return { ...computed({ ...computation, conditions: [...computation.conditions, isChanged] }), range };
}

/** Returns the step of a value with one step. Several steps have no shortcuts. */
const onlyStep = (steps: readonly ReadStep[]): Partial<ReadStep> =>
  (steps.length === 1 ? steps[0] : undefined) ?? {};

type RunSteps = (
  text: MaybePromise<JsonText>,
  reading: ReadContext,
  cursor: Cursor,
  start: number,
  end: number,
) => MaybePromise<JsonText>;

/** Chains steps into one function, which ends after a step returns null or nothing. Undefined if there are no steps. */
function chainSteps([first, ...others]: readonly ReadStep[]): RunSteps | undefined {
  if (!first) return undefined;
  const { run } = first;
  const runOthers = chainSteps(others);
  return function runSteps(text, reading, cursor, start, end): MaybePromise<JsonText> {
    if (text === null || text === undefined) return text;
    if (text instanceof Promise)
      return text.then((resolved) => runSteps(resolved, reading, cursor, start, end));
    const next = run(text, reading, cursor, start, end);
    return runOthers ? runOthers(next, reading, cursor, start, end) : next;
  };
}

/** The steps over a text. */
const emitSteps = (steps: readonly ReadStep[], text: string, builder: CodeBuilder): string =>
  steps.length === 0 ? text : `${builder.constant(chainSteps(steps))}(${text}, reading, cursor, start, at)`;

/** The steps over a v4 value. Where a result is cached by the bytes of the value, no string is created. */
function computeFromValue(
  steps: readonly ReadStep[],
  range: ByteRange,
  { builder, scanned }: ReaderUnit,
): Computation {
  const { start, end } = range;
  const conditions = [emitHasValue(range)];
  const { cachedText, expand } = onlyStep(steps);
  const cached = cachedText && `${builder.constant(cachedText)}(bytes, ${start}, ${end}, reading)`;
  if (!expand)
    return { conditions, cached, text: emitSteps(steps, `rawTextAt(cursor, ${start}, ${end})`, builder) };
  const offsets = expand.members
    .map((name) => scanned.range([name]))
    .flatMap((member) => [member.start, member.end]);
  const text = `${builder.constant(expand.run)}(cursor, ${start}, ${end}, [${offsets.join(", ")}], reading, start, at)`;
  return { conditions, cached, text };
}

/** Emits an expression over the v4 object, and the steps over its result. */
function computeFromExpression(
  { read, upstream }: Pick<FieldRule, "upstream"> & { readonly read: string },
  expression: Expression,
  steps: readonly ReadStep[],
  context: FieldContext,
  location: SourceLocation,
  unit: ReaderUnit,
): Computation {
  const bind = createReadBindings(context, expression.variables, location);
  const range = upstream === undefined ? undefined : unit.scanned.range(upstream.split("."));
  const call = (run: unknown, variables: ReadonlySet<string>): string => {
    const value = range && variables.has("value") ? emitValueAt(range) : "undefined";
    return `${unit.builder.constant(run)}(${emitInput(expression, unit)}, ${value}, reading)`;
  };
  // Rows of a list have no values of calls: an expression that returns nothing without them is not run.
  const conditions = expression.requiredVariables.has("calls") ? [`!${emitNoCalls(unit)}`] : [];
  const { choice } = expression;
  if (range && choice?.variable === "value") {
    const isChosen = (input: unknown, value: unknown, reading: ReadContext): boolean =>
      choice.isChosen(input, bind(value, reading));
    const general = (): string => call(isChosen, choice.variables);
    const isPure = choice.variables.isSubsetOf(PURE_VARIABLES);
    const path = isPure ? onlyPath(expression.inputNames) : undefined;
    const pureBindings = { values: context.lookup, networkOf };
    const chosen = path
      ? emitSharedTest(read, unit, () =>
          emitMemberTest(path, (input) => choice.isChosen(input, pureBindings), general, unit),
        )
      : general();
    const computation = computeFromValue(steps, range, unit);
    return { ...computation, conditions: [...conditions, chosen, ...computation.conditions] };
  }
  const print = (input: unknown, value: unknown, reading: ReadContext): MaybePromise<JsonText> =>
    expression.print(input, bind(value, reading));
  return { conditions, text: emitSteps(steps, call(print, expression.variables), unit.builder) };
}

/** A variable with the result of a test. Fields with the same test share it. */
function emitSharedTest(source: string, { builder, tests }: ReaderUnit, emit: () => string): string {
  const sameTest = tests.get(source);
  if (sameTest) return sameTest.variable;
  const js = emit();
  const variable = builder.name("test");
  tests.set(source, { variable, js });
  return variable;
}
