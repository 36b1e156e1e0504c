import { freeVariables, type Node } from "./ast.ts";
import { NotCompiled } from "./compiler/code.ts";
import { generate, type Generated, type Gives } from "./compiler/generate.ts";
import { ExpressionError, type Bindings, type Expression } from "./expression.ts";
import { inputNames } from "./input-names.ts";
import { requiredVariables } from "./missing-variables.ts";
import { interpret, parse } from "./interpret.ts";
import { asFailure } from "./runtime/failure.ts";
import * as runtime from "./runtime/index.ts";

type Program = (input: unknown, bindings: Bindings) => unknown;

/**
 * Makes a function of generated source. Strings of the expression stand in it as JSON alone, and names as
 * made-up identifiers, so that no expression can write code of its own.
 */
function programOf({ source, constants }: Generated): Program {
  // oxlint-disable-next-line typescript/no-implied-eval -- this is the compiler
  const make = new Function("runtime", "constants", source) as (...parts: unknown[]) => Program;
  return make(runtime, constants);
}

function failed(thrown: unknown): ExpressionError {
  const { message, code, position } = asFailure(thrown);
  return new ExpressionError(message, code, Math.max(0, position - 1));
}

/** Functions bound under the names of built-in ones are rare: there is a second program for them, made when needed. */
function withShadowing(ast: Node, generated: Generated, gives: Gives, bound?: ReadonlySet<string>): Program {
  const usual = programOf(generated);
  const builtins = [...generated.builtins].filter((name) => bound?.has(name) ?? true);
  let shadowed: Program | undefined;
  const run: Program = (input, bindings) => {
    if (!builtins.some((name) => Object.hasOwn(bindings, name))) return usual(input, bindings);
    shadowed ??= programOf(generate(ast, { shadowed: true, gives }));
    return shadowed(input, bindings);
  };
  return failing(builtins.length === 0 ? usual : run);
}

/** What fails is reported as an error of the expression. */
const failing =
  (program: Program): Program =>
  (input, bindings) => {
    try {
      return program(input, bindings);
    } catch (thrown) {
      throw failed(thrown);
    }
  };

/** Most expressions only ever give values, or only ever texts: the program for either is made when it is needed. */
function programFor(ast: Node, gives: Gives, bound?: ReadonlySet<string>): Program {
  let program: Program | undefined;
  return (input, bindings) => {
    program ??= withShadowing(ast, generate(ast, { gives }), gives, bound);
    return program(input, bindings);
  };
}

/** The generated code of an expression, or why there is none. */
function generated(ast: Node): Generated | NotCompiled {
  try {
    return generate(ast);
  } catch (error) {
    if (error instanceof NotCompiled) return error;
    throw error;
  }
}

/** Where expressions are noted down while {@link compiledBy} runs. */
let noted: Expression[] | undefined;

let onlyInterpreted = false;

/** Runs something that compiles expressions, and leaves them all to the interpreter: what compiled ones are compared with. */
export function interpretedBy<T>(run: () => T): T {
  onlyInterpreted = true;
  try {
    return run();
  } finally {
    onlyInterpreted = false;
  }
}

/** Runs something that compiles expressions, and tells which ones. */
export function compiledBy<T>(run: () => T): {
  readonly result: T;
  readonly expressions: readonly Expression[];
} {
  const expressions: Expression[] = [];
  const before = noted;
  noted = expressions;
  try {
    return { result: run(), expressions };
  } finally {
    noted = before;
  }
}

/**
 * Makes an expression that runs as JavaScript, and answers at once. What the compiler doesn't do goes to
 * the interpreter, whose results are the same: `fallback` says why. Bound functions must answer at once.
 *
 * @param bound Names of all variables that are ever bound; left out, it can be any.
 * @throws {ExpressionError} where the source does not parse.
 */
export function compile(source: string, bound?: ReadonlySet<string>): Expression {
  const expression = onlyInterpreted ? interpret(source) : made(source, bound);
  noted?.push(expression);
  return expression;
}

function made(source: string, bound?: ReadonlySet<string>): Expression {
  const ast = parse(source);
  const code = generated(ast);
  if (code instanceof NotCompiled) return { ...interpret(source), fallback: code.message };
  const variables = freeVariables(ast);
  return {
    source,
    variables,
    reads: inputNames(ast),
    missingWithout: requiredVariables(ast, variables),
    engine: "compiled",
    code: code.source,
    evaluate: withShadowing(ast, code, "value", bound),
    print: programFor(ast, "text", bound) as Expression["print"],
  };
}
