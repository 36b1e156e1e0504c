import { isRegExp } from "node:util/types";
import jsonata from "jsonata";
import { BoundedMap } from "../../base/index.ts";
import { walk, type AstNode } from "../language/ast.ts";
import { ExpressionError } from "../language/expression.ts";
import { prepareRegex, UnsupportedRegexError, type Regex } from "../regex/index.ts";
import { toExpressionError } from "../runtime/failure.ts";
import { GUARDS } from "../runtime/guard.ts";

/** jsonata calls this as a constructor for each pattern. Returns an instance of the linear engine. */
function RegexEngine(pattern: RegExp): Regex {
  const { source, flags } = new RegExp(pattern);
  return prepareRegex(source, flags)();
}

/** Error code of a regular expression that can't run in linear time. */
export const UNSUPPORTED_REGEX = "regex";

/** Checks all regular expressions. @throws {ExpressionError} for the first expression that can't run in linear time */
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

/**
 * Maximum number of characters of a source. Parsing and compiling take more than linear time, and the depth of their
 * recursion grows with the source.
 */
const MAX_SOURCE = 20_000;
const MAX_NESTING = 600;

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

/** Milliseconds. Limits slow work within a step. The limit is generous, because the work limit applies first. */
const TIMEOUT_MS = 5_000;

/** Parses a source with jsonata. @throws {ExpressionError} If it does not parse, or has an unsupported pattern. */
export function parseProgram(source: string): {
  readonly program: jsonata.Expression;
  readonly ast: AstNode;
} {
  if (source.length > MAX_SOURCE)
    throw new ExpressionError(`the expression has more than ${MAX_SOURCE} characters`, "too_long", 0);
  try {
    const options = { ...GUARDS, timeout: TIMEOUT_MS };
    const program = jsonata(source, { ...options, RegexEngine: RegexEngine as unknown as RegExpConstructor });
    const ast = program.ast() as unknown as AstNode;
    // Checked before the first function that walks through the tree.
    if (isTooDeep(ast)) throw new ExpressionError("the expression is nested too deeply", "too_deep", 0);
    rejectUnsupportedRegexes(ast);
    return { program, ast };
  } catch (failure) {
    if (failure instanceof ExpressionError) throw failure;
    // jsonata counts positions to the end of the offending token.
    const { position = 1 } = failure as { readonly position?: number };
    throw toExpressionError(failure, undefined, Math.max(0, position - 1));
  }
}

/** Copies a syntax tree. The prototypes of jsonata's nodes keep its parser in memory, one for each tree. */
function copyTree(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(copyTree);
  if (typeof part !== "object" || part === null || isRegExp(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, copyTree(inner)]));
}

/**
 * Syntax trees by source. The expressions of a pack are first checked and then compiled, and uses many of them for
 * several fields.
 */
const parsed = new BoundedMap<string, AstNode>(256);

/**
 * Returns the syntax tree of a source. It may be shared, so it must not be changed.
 *
 * @throws {ExpressionError} If it does not parse, or has an unsupported pattern.
 */
export function parse(source: string): AstNode {
  const cached = parsed.get(source);
  if (cached) return cached;
  const { ast } = parseProgram(source);
  const copy = copyTree(ast) as AstNode;
  parsed.set(source, copy);
  return copy;
}
