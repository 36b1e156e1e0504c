import { isRegExp } from "node:util/types";
import jsonata from "jsonata";
import { type Origin, toJsonText } from "../base/index.ts";
import { findFreeVariables, walk, type AstNode } from "./ast.ts";
import { ExpressionError, type Bindings, type Expression } from "./expression.ts";
import { findInputNames } from "./input-names.ts";
import { findRequiredVariables } from "./missing-variables.ts";
import { prepareRegex, UnsupportedRegexError, type Regex } from "./regex/index.ts";
import { messageOf } from "./runtime/error-messages.ts";
import { GUARDS } from "./runtime/guard.ts";
import { LIMITED_FUNCTIONS } from "./runtime/library.ts";
import { copyPlain } from "./runtime/plain.ts";

interface JsonataError {
  readonly message?: string;
  readonly code?: string;
  readonly jsonataCode?: string;
  readonly position?: number;
  /** The name of the function that was called. */
  readonly token?: unknown;
}

/** jsonata throws plain objects, not errors, and counts positions to the end of the offending token. */
function toExpressionError(failure: unknown, origin?: Origin): ExpressionError {
  const { message, code = "unknown", jsonataCode = code, position = 1, token } = failure as JsonataError;
  if (code === "D1012") return new ExpressionError(messageOf(code), code, Math.max(0, position - 1), origin);
  // `$replace` calls its replacement without a check.
  if (failure instanceof TypeError && token === "replace")
    return new ExpressionError(messageOf("T1006"), "T1006", Math.max(0, position - 1), origin);
  return new ExpressionError(message ?? String(failure), jsonataCode, Math.max(0, position - 1), origin);
}

/** jsonata calls this as a constructor for each pattern. It returns an instance of the linear engine. */
function RegexEngine(pattern: RegExp): Regex {
  const { source, flags } = new RegExp(pattern);
  return prepareRegex(source, flags)();
}

/** Error code of a regular expression that can't run in linear time. */
export const UNSUPPORTED_REGEX = "regex";

/** Checks all regular expressions. @throws {ExpressionError} For the first one that can't run in linear time. */
function rejectUnsupportedRegexes(ast: AstNode): void {
  walk(ast, ({ type, value, position = 1 }) => {
    if (type !== "regex" || !isRegExp(value)) return;
    try {
      prepareRegex(value.source, value.flags);
    } catch (error) {
      if (!(error instanceof UnsupportedRegexError)) throw error;
      const message = `the regular expression can't be run in linear time: ${error.message}`;
      throw new ExpressionError(message, UNSUPPORTED_REGEX, Math.max(0, position - 1));
    }
  });
}

/** Limits of a source. Parsing and compiling take more than linear time, and a stack of calls as deep as the source. */
const MAX_SOURCE = 20_000;
const MAX_NESTING = 600;

/** Error codes of a source above these limits. */
const TOO_LONG = "too_long";
const TOO_DEEP = "too_deep";

/** Whether objects and lists are nested too deeply in a syntax tree, or a list (of the steps of a path) is too long. */
function isTooDeep(ast: AstNode): boolean {
  let level: object[] = [ast];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_NESTING || level.some((node) => Array.isArray(node) && node.length > MAX_NESTING))
      return true;
    level = level.flatMap((node) =>
      Object.values(node).filter((part): part is object => typeof part === "object" && part !== null),
    );
  }
  return false;
}

/** Checks the nesting before anything else walks through the tree. @throws {ExpressionError} */
function rejectDeepNesting(ast: AstNode): void {
  if (isTooDeep(ast)) throw new ExpressionError("the expression is nested too deeply", TOO_DEEP, 0);
}

/** Work of one evaluation: its steps, and the size of what each step gives. A step costs as much as ten compiled ones. */
const MAX_WORK = 100_000;

/** Milliseconds, for what takes long within a step. Generous: what may be done is limited by work. */
const TIMEOUT_MS = 5_000;

/** jsonata calls the functions under these names before and after each step, with the environment of the evaluation. */
const ON_ENTRY = Symbol.for("jsonata.__evaluate_entry") as unknown as string;
const ON_EXIT = Symbol.for("jsonata.__evaluate_exit") as unknown as string;

/** The members of jsonata's environments that are read here. */
export interface Environment {
  /** The same object during one evaluation. */
  readonly base: object;
  /** Returns what a name is bound to. */
  readonly lookup: (name: string) => unknown;
}

/** Is called for each step of an expression. Must not throw. */
export interface StepHooks {
  enter(node: AstNode, environment: Environment): void;
  leave(node: AstNode, environment: Environment, result: unknown): void;
}

/** The size of a value without what is in its members: what a step that doubles it has to copy. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "string") return value.length / 16;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

/** Creates a function that counts the work of each evaluation. It throws D1012 if there is too much. */
function createWorkCounter(): (environment: Environment, result: unknown) => void {
  const work = new WeakMap<object, number>();
  return ({ base }, result) => {
    const done = (work.get(base) ?? 0) + 1 + sizeOf(result);
    // As everything that jsonata throws, it is a plain object.
    // oxlint-disable-next-line typescript/only-throw-error -- jsonata adds a message to it
    if (done > MAX_WORK) throw { code: "D1012" };
    work.set(base, done);
  };
}

/** Parses a source with jsonata. @throws {ExpressionError} If it does not parse, or has an unsupported pattern. */
function parseWithJsonata(source: string): { readonly program: jsonata.Expression; readonly ast: AstNode } {
  if (source.length > MAX_SOURCE)
    throw new ExpressionError(`the expression has more than ${MAX_SOURCE} characters`, TOO_LONG, 0);
  try {
    const options = { ...GUARDS, timeout: TIMEOUT_MS };
    const program = jsonata(source, { ...options, RegexEngine: RegexEngine as unknown as RegExpConstructor });
    const ast = program.ast() as unknown as AstNode;
    rejectDeepNesting(ast);
    rejectUnsupportedRegexes(ast);
    return { program, ast };
  } catch (failure) {
    if (failure instanceof ExpressionError) throw failure;
    throw toExpressionError(failure);
  }
}

/** Copies a syntax tree. The prototypes of jsonata's nodes keep its parser in memory, one for each tree. */
function copyTree(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(copyTree);
  if (typeof part !== "object" || part === null || isRegExp(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, copyTree(inner)]));
}

/** Syntax trees by source. A pack has its expressions checked and then compiled, and uses many of them for several fields. */
const parsed = new Map<string, AstNode>();

/** The number of syntax trees that are kept. */
const MAX_PARSED = 256;

/**
 * Returns the syntax tree of a source. It may be shared: nothing may change it.
 *
 * @throws {ExpressionError} If it does not parse, or has an unsupported pattern.
 */
export function parse(source: string): AstNode {
  const cached = parsed.get(source);
  if (cached) return cached;
  const { ast } = parseWithJsonata(source);
  const copy = copyTree(ast) as AstNode;
  if (parsed.size === MAX_PARSED) parsed.clear();
  parsed.set(source, copy);
  return copy;
}

/**
 * Creates an expression that is evaluated by the `jsonata` package, asynchronously.
 *
 * Every evaluation gets its own bindings object. Without one, concurrent evaluations share their root (jsonata#804), and
 * the data of one customer appears in the response of another.
 *
 * @param origin Where the expression is, for the errors of its evaluations.
 * @param createHooks Creates the listener of each step, for the syntax tree that is evaluated.
 * @throws {ExpressionError} If the source does not parse, or has an unsupported regular expression.
 */
export function interpret(
  source: string,
  origin?: Origin,
  createHooks?: (ast: AstNode) => StepHooks,
): Expression {
  const { program, ast } = parseWithJsonata(source);
  const hooks = createHooks?.(ast);
  const countWork = createWorkCounter();
  if (hooks)
    program.assign(ON_ENTRY, (node: AstNode, _input: unknown, environment: Environment) =>
      hooks.enter(node, environment),
    );
  program.assign(ON_EXIT, (node: AstNode, _input: unknown, environment: Environment, result: unknown) => {
    hooks?.leave(node, environment, result);
    countWork(environment, result);
  });
  async function evaluate(input: unknown, bindings: Bindings): Promise<unknown> {
    try {
      return copyPlain(await program.evaluate(input, { ...LIMITED_FUNCTIONS, ...bindings }));
    } catch (failure) {
      throw toExpressionError(failure, origin);
    }
  }
  const variables = findFreeVariables(ast);
  return {
    source,
    variables,
    inputNames: findInputNames(ast),
    requiredVariables: findRequiredVariables(ast, variables),
    engine: "interpreted",
    evaluate,
    print: async (input, bindings) => toJsonText(await evaluate(input, bindings)),
  };
}
