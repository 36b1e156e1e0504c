/** The source of an expression: the compiled and the interpreted expression have the same result, and print it alike. */
import { isDeepStrictEqual } from "node:util";
import { compile, ExpressionError, type Expression } from "../../src/jsonata/index.ts";
import { walk, type AstNode } from "../../src/jsonata/language/ast.ts";
import { interpret } from "../../src/jsonata/interpreter/interpret.ts";
import { parse } from "../../src/jsonata/interpreter/parse.ts";
import { DOCUMENT, expressions } from "../expressions.ts";
import { hold, type Target } from "../target.ts";

/** Evaluations that exceeded a limit of steps or depth. Each implementation counts its steps differently. */
const STOPPED = ["D1011", "D1012"];

/** Bugs of the interpreter: a JavaScript error within it. */
const MISTAKEN = "unknown";

/** A bug of the interpreter: it accepts a function as the update of a transform, and merges its internals into the data. */
const NO_CHANGE = "T2011";

/** The value and the printed text; undefined if there is an error whose code says nothing about the other implementation. */
async function outcome(
  expression: Pick<Expression, "evaluate" | "print">,
  idle: readonly string[],
): Promise<object | undefined> {
  try {
    const value = await expression.evaluate(DOCUMENT, {});
    return { value, text: await expression.print(DOCUMENT, {}) };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return idle.includes(error.jsonataCode) ? undefined : { failed: true };
  }
}

/** A bug of the interpreter: an object in two groups of a path with variables is missing in the second group. */
function forgets({ group, steps }: AstNode): boolean {
  const pairs = (group as { readonly lhs: readonly unknown[] } | undefined)?.lhs ?? [];
  const binds = (steps as readonly AstNode[] | undefined)?.some((step) => step["tuple"] === true) ?? false;
  return binds && pairs.length > 1;
}

/** A bug of the interpreter: a regular expression that is called with a function matches the function's JavaScript source. */
const readsCode = ({ procedure }: AstNode): boolean => (procedure as AstNode | undefined)?.type === "regex";

/** Known differences between the two. */
function mayDiffer(source: string): boolean {
  if (!/[@#%][^]*\{|\/[^]*\(/.test(source)) return false;
  let found = false;
  walk(parse(source), (node) => {
    found ||= forgets(node) || readsCode(node);
  });
  return found;
}

const byChance = (source: string): boolean => /\$(?:millis|now|random|shuffle|eval)/.test(source);

/** Undefined if the source is not an expression, or if the results may differ. */
function compiledOf(source: string): Expression | undefined {
  try {
    const expression = compile(source);
    return expression.engine !== "compiled" || byChance(source) || mayDiffer(source) ? undefined : expression;
  } catch (error) {
    hold("what can't be compiled is refused by its own error", error instanceof ExpressionError);
    return undefined;
  }
}

export const target: Target = {
  ...expressions,
  name: "equality",
  subject: "The source of an expression, compiled and interpreted: the same comes out",
  async run(input) {
    const expression = compiledOf(input);
    if (!expression) return;
    const compiled = await outcome(expression, [...STOPPED, NO_CHANGE]);
    const interpreted = await outcome(interpret(input), [...STOPPED, MISTAKEN]);
    if (!compiled || !interpreted) return;
    hold("compiled gives what interpreted gives", isDeepStrictEqual(compiled, interpreted));
  },
};
