import { isRegExp } from "node:util/types";
import jsonata from "jsonata";
import { toJsonText } from "../dialect/json/text.ts";
import { freeVariables, walk, type Node } from "./ast.ts";
import { ExpressionError, type Bindings, type Expression } from "./expression.ts";
import { inputNames } from "./input-names.ts";
import { requiredVariables } from "./missing-variables.ts";
import { prepareRegex, UnsupportedRegexError, type Regex } from "./regex/index.ts";
import { GUARDS } from "./runtime/guard.ts";
import { plain } from "./runtime/plain.ts";

interface Failure {
  readonly message?: string;
  readonly code?: string;
  readonly position?: number;
}

/** jsonata throws plain objects, not errors, and counts positions to the end of the offending token. */
function failed(failure: unknown): ExpressionError {
  const { message, code, position } = failure as Failure;
  return new ExpressionError(message ?? String(failure), code ?? "unknown", Math.max(0, (position ?? 1) - 1));
}

/** What jsonata makes of each pattern; a constructor that gives another object than its own. */
function RegexEngine(pattern: RegExp): Regex {
  const { source, flags } = new RegExp(pattern);
  return prepareRegex(source, flags)();
}

/** The code of a regular expression that can't be run in linear time. */
export const REFUSED_REGEX = "regex";

/** @throws {ExpressionError} for the first of its regular expressions that can't be run */
function refuseRegexes(ast: Node): void {
  walk(ast, ({ type, value, position = 1 }) => {
    if (type !== "regex" || !isRegExp(value)) return;
    try {
      prepareRegex(value.source, value.flags);
    } catch (error) {
      if (!(error instanceof UnsupportedRegexError)) throw error;
      const message = `the regular expression can't be run in linear time: ${error.message}`;
      throw new ExpressionError(message, REFUSED_REGEX, Math.max(0, position - 1));
    }
  });
}

/** What jsonata makes of a source, read once. @throws {ExpressionError} where it does not parse. */
function read(source: string): { readonly program: jsonata.Expression; readonly ast: Node } {
  try {
    const program = jsonata(source, { ...GUARDS, RegexEngine: RegexEngine as unknown as RegExpConstructor });
    const ast = program.ast() as unknown as Node;
    refuseRegexes(ast);
    return { program, ast };
  } catch (failure) {
    if (failure instanceof ExpressionError) throw failure;
    throw failed(failure);
  }
}

/** The syntax tree of a source. @throws {ExpressionError} as {@link read}. */
export const parse = (source: string): Node => read(source).ast;

/**
 * Makes an expression that jsonata itself evaluates.
 *
 * Every evaluation gets bindings of its own: without any, evaluations that run at the same time shared
 * their root (jsonata#804), and one customer's list stood in another's answer.
 */
export function interpret(source: string): Expression {
  const { program, ast } = read(source);
  async function evaluate(input: unknown, bindings: Bindings): Promise<unknown> {
    try {
      return plain(await program.evaluate(input, { ...bindings }));
    } catch (failure) {
      throw failed(failure);
    }
  }
  const variables = freeVariables(ast);
  return {
    source,
    variables,
    reads: inputNames(ast),
    missingWithout: requiredVariables(ast, variables),
    engine: "interpreted",
    evaluate,
    print: async (input, bindings) => toJsonText(await evaluate(input, bindings)),
  };
}
