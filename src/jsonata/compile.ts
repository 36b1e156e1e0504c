import { findFreeVariables, type AstNode } from "./ast.ts";
import { NotCompilableError } from "./compiler/code.ts";
import { type Origin, toJsonText } from "../base/index.ts";
import { generate, type Generated, type OutputKind, type WrapNode } from "./compiler/generate.ts";
import { findChoice } from "./choice.ts";
import { ExpressionError, type Bindings, type Choice, type Expression } from "./expression.ts";
import { findInputNames } from "./input-names.ts";
import { findRequiredVariables } from "./missing-variables.ts";
import { interpret, parse } from "./interpret.ts";
import { findLibraryCalls } from "./library-calls.ts";
import { asFailure } from "./runtime/failure.ts";
import * as runtime from "./runtime/index.ts";

type Program = (input: unknown, bindings: Bindings) => unknown;

/**
 * Instantiates generated code. Strings of the expression enter the code only as JSON, and names only as generated
 * identifiers, so that no expression can inject code.
 */
function instantiate({ source, constants }: Generated): Program {
  // oxlint-disable-next-line typescript/no-implied-eval -- this is the compiler
  const createProgram = new Function("runtime", "constants", source) as (...parts: unknown[]) => Program;
  return createProgram(runtime, constants);
}

function toExpressionError(thrown: unknown, origin: Origin | undefined): ExpressionError {
  const { message, code, position } = asFailure(thrown);
  return new ExpressionError(message, code, Math.max(0, position - 1), origin);
}

/** What the programs of one expression have in common. */
interface ProgramOptions {
  readonly bound: ReadonlySet<string> | undefined;
  readonly origin: Origin | undefined;
  /** Code around each node. Default: none. */
  readonly wrap?: WrapNode;
}

/** A variable may shadow a built-in function. That is rare, so the program for it is only compiled when it happens. */
function createProgram(
  ast: AstNode,
  generated: Generated,
  output: OutputKind,
  { bound, origin, wrap }: ProgramOptions,
): Program {
  const plainProgram = instantiate(generated);
  const builtins = [...generated.builtins].filter((name) => bound?.has(name) ?? true);
  let shadowed: Program | undefined;
  const run: Program = (input, bindings) => {
    if (!builtins.some((name) => Object.hasOwn(bindings, name))) return plainProgram(input, bindings);
    shadowed ??= instantiate(generate(ast, { shadowed: true, output, wrap }));
    return shadowed(input, bindings);
  };
  return withExpressionErrors(builtins.length === 0 ? plainProgram : run, origin);
}

/** Reports everything that a program throws as an {@link ExpressionError}. */
const withExpressionErrors =
  (program: Program, origin: Origin | undefined): Program =>
  (input, bindings) => {
    try {
      return program(input, bindings);
    } catch (thrown) {
      throw toExpressionError(thrown, origin);
    }
  };

/** Compiles on the first call: most expressions are only evaluated, or only printed. */
function compileLazily(
  ast: AstNode,
  output: OutputKind,
  options: ProgramOptions,
  generated?: Generated,
): Program {
  let program: Program | undefined;
  return (input, bindings) => {
    program ??= createProgram(
      ast,
      generated ?? generate(ast, { output, wrap: options.wrap }),
      output,
      options,
    );
    return program(input, bindings);
  };
}

/** Compiles the test of an expression that gives one variable or nothing. */
function compileChoice(ast: AstNode, options: ProgramOptions): { readonly choice?: Choice } {
  const found = findChoice(ast);
  if (!found) return {};
  const { variable, test } = found;
  const program = compileLazily(test, "value", options);
  const isChosen = (input: unknown, bindings: Bindings): boolean => program(input, bindings) === true;
  return { choice: { variable, variables: findFreeVariables(test), isChosen } };
}

/** Generates code, or returns the reason why the compiler can't. */
function tryGenerate(ast: AstNode): Generated | NotCompilableError {
  try {
    return generate(ast);
  } catch (error) {
    if (error instanceof NotCompilableError) return error;
    throw error;
  }
}

/** What the compiler finds out about a syntax tree. */
interface Analysis extends Pick<
  Expression,
  "variables" | "inputNames" | "requiredVariables" | "libraryCalls"
> {
  /** The generated code, or the error that says why the compiler does not support the expression. */
  readonly code: Generated | NotCompilableError;
}

/** By syntax tree, since a pack uses many expressions for several fields. */
const analyses = new WeakMap<AstNode, Analysis>();

function analyze(ast: AstNode): Analysis {
  const cached = analyses.get(ast);
  if (cached) return cached;
  const variables = findFreeVariables(ast);
  const analysis = {
    code: tryGenerate(ast),
    variables,
    inputNames: findInputNames(ast),
    requiredVariables: findRequiredVariables(ast, variables),
    libraryCalls: findLibraryCalls(ast, variables),
  };
  analyses.set(ast, analysis);
  return analysis;
}

/** Makes an expression of a source. */
export type MakeExpression = (source: string, options: ProgramOptions) => Expression;

/** How {@link compile} works while {@link runWith} or {@link collectExpressions} runs. */
class CompileMode {
  make: MakeExpression = compileOrInterpret;
  collected: Expression[] | undefined = undefined;

  during<T>(changes: Partial<Pick<CompileMode, "make" | "collected">>, run: () => T): T {
    const { make, collected } = this;
    Object.assign(this, changes);
    try {
      return run();
    } finally {
      Object.assign(this, { make, collected });
    }
  }
}

const mode = new CompileMode();

/** Runs a function that compiles expressions, and makes all of these in another way. */
export const runWith = <T>(make: MakeExpression, run: () => T): T => mode.during({ make }, run);

/**
 * Runs a function that compiles expressions, and interprets all of these instead. Tests compare the results of compiled
 * expressions with those of interpreted ones.
 */
export const runInterpreted = <T>(run: () => T): T =>
  runWith((source, { origin }) => interpret(source, origin), run);

/** Runs a function and returns its result together with all expressions that were compiled meanwhile. */
export function collectExpressions<T>(run: () => T): {
  readonly result: T;
  readonly expressions: readonly Expression[];
} {
  const expressions: Expression[] = [];
  return { result: mode.during({ collected: expressions }, run), expressions };
}

/**
 * Compiles a JSONata expression to JavaScript that runs synchronously. An expression that the compiler does not support
 * is interpreted, with the same results but asynchronously: then `engine` is `interpreted` and `fallback` is the reason.
 *
 * @param source The JSONata expression.
 * @param bound Names of all variables that will be bound, without the `$`. Default: any name. Bound functions must be
 *   synchronous.
 * @param origin Where the expression is, for the errors of its evaluations.
 * @throws {ExpressionError} If the source is not JSONata. The error has the offset of the problem.
 * @example
 *   const total = compile("$sum(items.price) * $rate", new Set(["rate"]));
 *   total.evaluate({ items: [{ price: 2 }, { price: 3 }] }, { rate: 2 }); // => 10
 *   total.print({ items: [{ price: 1 }] }, { rate: 3 }); // => "3"
 *   total.engine; // => "compiled"
 */
export function compile(source: string, bound?: ReadonlySet<string>, origin?: Origin): Expression {
  const expression = mode.make(source, { bound, origin });
  mode.collected?.push(expression);
  return expression;
}

function compileOrInterpret(source: string, options: ProgramOptions): Expression {
  const ast = parse(source);
  const { code, ...found } = analyze(ast);
  if (code instanceof NotCompilableError)
    return { ...interpret(source, options.origin), fallback: code.message };
  return {
    source,
    ...found,
    ...compileChoice(ast, options),
    engine: "compiled",
    code: code.source,
    evaluate: compileLazily(ast, "value", options, code),
    print: compileLazily(ast, "text", options) as Expression["print"],
  };
}

/**
 * Compiles an expression with code around each node. It has no fast forms: no `choice`, and printing prints its value.
 *
 * @returns Undefined if the compiler does not support the expression.
 * @throws {ExpressionError} If the source is not JSONata.
 */
export function compileWrapped(
  source: string,
  { bound, origin }: ProgramOptions,
  wrap: WrapNode,
): Expression | undefined {
  const ast = parse(source);
  const { code, ...found } = analyze(ast);
  if (code instanceof NotCompilableError) return undefined;
  const evaluate = compileLazily(ast, "value", { bound, origin, wrap });
  const print = (input: unknown, bindings: Bindings) => toJsonText(evaluate(input, bindings));
  return { source, ...found, engine: "compiled", evaluate, print };
}
