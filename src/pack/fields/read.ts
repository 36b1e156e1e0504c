/** v4 response → alpha response: the text of an alpha object, from the text of a v4 object. */
import { type Cursor, type JsonText, type SourceLocation, toJsonText } from "../../base/index.ts";
import type { MaybePromise } from "../../jsonata/index.ts";
import { emitInput, emitNoCalls, emitIsObject, emitValueAt, onlyPath } from "../codegen/emit-input.ts";
import type { FieldCode, ReaderField } from "../codegen/emit-object.ts";
import type { ByteRange } from "../codegen/member-scan.ts";
import { createReaderUnit, generateReader, type ReaderUnit } from "../codegen/generate-reader.ts";
import { OutputBuffer } from "../codegen/output-buffer.ts";
import { compileExpressionAt } from "../expressions/compile-expression.ts";
import type { FieldRule } from "./field-definition.ts";
import type { Steps } from "../steps.ts";
import type { AppendFunction, ReadContext, ReadFunction } from "../translation-context.ts";
import { networkAddress as networkOf } from "../values/ip-address.ts";
import type { FieldContext } from "./field-context.ts";
import { createReadBindings, PURE_VARIABLES, READ_VARIABLES } from "./read-bindings.ts";
import { emitLossTest } from "./loss.ts";
import type { ReadStep } from "./keys/field-key.ts";
import { compileReadSteps, makesList } from "./keys/field-keys.ts";
import { cacheTest } from "./keys/stub-cache.ts";

/** The read direction of all fields of an object. */
export interface ObjectReader {
  readonly append: AppendFunction;
  readonly read: ReadFunction;
  /** Returns the generated JavaScript. */
  readonly code: () => string;
  /** Whether a field of this object may return a promise. Readers of nested objects are not considered. */
  readonly mayBeAsync: boolean;
}

/**
 * Compiles the read direction: all fields become one generated function, which scans the v4 object once. Yields after
 * each field.
 *
 * @param inputs Members that only occur in bodies. Their losses may depend on the object.
 */
export function* compileRead(
  rules: ReadonlyMap<string, FieldRule>,
  inputs: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
  locationOf: (field: string) => SourceLocation,
): Steps<ObjectReader> {
  const unit = createReaderUnit();
  const fields = new Map<string, ReaderField>();
  for (const [name, rule] of rules) {
    const code = emitField(rule, context, locationOf(name), unit);
    const variable = code.kind === "computed" ? unit.builder.name("field") : "";
    const mayBeAsync = code.kind === "computed" && (code.mayBeAsync || rule.object !== undefined);
    const neutral = toJsonText(rule.default) ?? "null";
    const isArray = makesList(rule);
    const isOptional =
      (rule.omit_null ?? context.dialect.client.responses.omit_null) && neutral === "null" && !isArray;
    // The key is the client's name. `code` reads the member under v4's name.
    fields.set(name, { code, variable, mayBeAsync, isArray, neutral, isOptional });
    yield;
  }
  const losses: string[] = [];
  for (const [name, rule] of [...rules, ...inputs]) {
    const field = fields.get(name);
    const test = emitLossTest({ name, rule, field, context, location: locationOf(name), unit });
    if (test !== undefined) losses.push(test);
    yield;
  }
  const { append, code } = generateReader(fields, losses, unit, locationOf);
  const mayBeAsync = [...fields.values()].some(
    ({ code: field }) => field.kind === "computed" && field.mayBeAsync,
  );
  return { append, read: readFromAppend(append), code, mayBeAsync };
}

/**
 * Emits the code that computes the text of one field from the v4 member that `upstream` names. `emitObject` writes it
 * under the client's name.
 */
function emitField(
  rule: FieldRule,
  context: FieldContext,
  location: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const steps = compileReadSteps(rule, context, location);
  const { read, upstream: v4 } = rule;
  if (rule.const !== undefined || (read === undefined && v4 === undefined))
    return emitConstant(toJsonText(rule.const), steps, unit);
  if (read !== undefined) return emitExpression({ ...rule, read }, steps, context, location, unit);
  const range = unit.scanned.range((v4 ?? "").split("."));
  return steps.length > 0 ? emitSteps(steps, range, unit) : { kind: "copied", range };
}

/** Turns a function that appends to a buffer into one that returns the text. */
const readFromAppend =
  (append: AppendFunction): ReadFunction =>
  (from, reading) => {
    const { shared } = OutputBuffer;
    const start = shared.at;
    try {
      return append(from, reading, shared) ?? shared.takeText(start);
    } finally {
      shared.truncate(start);
    }
  };

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

/** Emits a constant, or the steps over a constant. */
function emitConstant(text: JsonText, steps: readonly ReadStep[], { builder }: ReaderUnit): FieldCode {
  if (steps.length === 0) return { kind: "constant", text };
  const js = `${builder.constant(chainSteps(steps))}(${JSON.stringify(text)}, reading, cursor, start, at)`;
  return { kind: "computed", js, mayBeAsync: steps.some(({ mayBeAsync }) => mayBeAsync) };
}

/** Emits an expression over the v4 object, and the steps over its result. */
function emitExpression(
  rule: FieldRule & { readonly read: string },
  steps: readonly ReadStep[],
  context: FieldContext,
  location: SourceLocation,
  unit: ReaderUnit,
): FieldCode {
  const expression = compileExpressionAt(location.at("read"), rule.read, READ_VARIABLES, context.values);
  const { lookup: values } = context;
  const bind = createReadBindings(context, expression.variables, location);
  const range = rule.upstream === undefined ? undefined : unit.scanned.range(rule.upstream.split("."));
  const call = (run: unknown, variables: ReadonlySet<string>): string => {
    const value = range && variables.has("value") ? emitValueAt(range) : "undefined";
    return `${unit.builder.constant(run)}(${emitInput(expression, unit)}, ${value}, reading)`;
  };
  // Rows of a list have no values of calls: an expression that returns nothing without them is not run.
  const guard = expression.requiredVariables.has("calls") ? `${emitNoCalls(unit)} ? undefined : ` : "";
  const mayBeAsync = expression.engine === "interpreted" || steps.some((step) => step.mayBeAsync);
  const { choice } = expression;
  if (range && choice?.variable === "value") {
    const isChosen = (input: unknown, value: unknown, reading: ReadContext): boolean =>
      choice.isChosen(input, bind(value, reading));
    const general = (): string => call(isChosen, choice.variables);
    const path = choice.variables.isSubsetOf(PURE_VARIABLES) ? onlyPath(expression.inputNames) : undefined;
    const chosen = path
      ? emitCachedTest(
          rule.read,
          path,
          (input) => choice.isChosen(input, { values, networkOf }),
          general,
          unit,
        )
      : general();
    const js = `${guard}!${chosen} ? undefined : ${emitText(steps, range, unit)}`;
    return { kind: "computed", js, mayBeAsync };
  }
  const print = (input: unknown, value: unknown, reading: ReadContext): MaybePromise<JsonText> =>
    expression.print(input, bind(value, reading));
  const text = call(print, expression.variables);
  const js =
    steps.length > 0
      ? `${unit.builder.constant(chainSteps(steps))}(${text}, reading, cursor, start, at)`
      : text;
  return { kind: "computed", js: guard + js, mayBeAsync };
}

/**
 * Emits a test of one member, cached by the bytes of its value. If the parent objects of the member are missing, the
 * general test runs. Fields with the same test share its result.
 */
function emitCachedTest(
  source: string,
  path: readonly string[],
  isChosen: (input: unknown) => boolean,
  general: () => string,
  { builder, scanned, tests }: ReaderUnit,
): string {
  const sameTest = tests.get(source);
  if (sameTest) return sameTest.variable;
  const test = cacheTest((value) => isChosen(path.reduceRight((inner, name) => ({ [name]: inner }), value)));
  const { start, end } = scanned.range(path);
  const cached = `${builder.constant(test)}(cursor, ${start}, ${end})`;
  const parents = path.slice(0, -1).map((_name, index) => scanned.range(path.slice(0, index + 1)));
  const js =
    parents.length === 0 ? cached : `${parents.map(emitIsObject).join(" && ")} ? ${cached} : ${general()}`;
  const variable = builder.name("test");
  tests.set(source, { variable, js });
  return variable;
}

/** Emits undefined for a missing value or null (110 is the letter n), otherwise the value. */
const emitUnlessNull = ({ start, end }: ByteRange): string =>
  `${end} === 0 || bytes[${start}] === 110 ? undefined : `;

/** Emits the steps over the text of a v4 value. If the result is cached by the bytes of the value, no string is created. */
function emitText(steps: readonly ReadStep[], range: ByteRange, { builder, scanned }: ReaderUnit): string {
  const { start, end } = range;
  const text = `rawTextAt(cursor, ${start}, ${end})`;
  const [only] = steps;
  if (!only) return emitUnlessNull(range) + text;
  const { cachedText, expand }: Partial<ReadStep> = steps.length === 1 ? only : {};
  const cached = cachedText ? `${builder.constant(cachedText)}(bytes, ${start}, ${end}, reading) ?? ` : "";
  if (expand) {
    const offsets = expand.members
      .map((name) => scanned.range([name]))
      .flatMap((member) => [member.start, member.end]);
    const run = builder.constant(expand.run);
    return `${emitUnlessNull(range)}${cached}${run}(cursor, ${start}, ${end}, [${offsets.join(", ")}], reading, start, at)`;
  }
  const computed = `${builder.constant(chainSteps(steps))}(${text}, reading, cursor, start, at)`;
  return emitUnlessNull(range) + cached + computed;
}

/** Emits the steps over a v4 value. */
function emitSteps(steps: readonly ReadStep[], range: ByteRange, unit: ReaderUnit): FieldCode {
  const { start, end } = range;
  const mayBeAsync = steps.some((step) => step.mayBeAsync);
  const js = emitText(steps, range, unit);
  const isUnchanged = steps.length === 1 ? steps[0]?.isUnchanged : undefined;
  if (!isUnchanged) return { kind: "computed", js, mayBeAsync };
  const skip = `${end} > 0 && ${unit.builder.constant(isUnchanged)}(bytes, ${start}, ${end}) ? undefined : `;
  return { kind: "computed", js: skip + js, mayBeAsync, range };
}
