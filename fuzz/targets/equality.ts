/** The source of an expression, compiled and interpreted: both give the same. */
import { isDeepStrictEqual } from "node:util";
import { compile, ExpressionError, type Expression } from "../../src/jsonata/index.ts";
import { walk, type AstNode } from "../../src/jsonata/ast.ts";
import { interpret, parse } from "../../src/jsonata/interpret.ts";
import { DOCUMENT, expressions } from "../expressions.ts";
import { hold, type Target } from "../target.ts";

/** Evaluations that took too long or went too deep, by the clock and by steps that each counts its own way. */
const STOPPED = ["D1011", "D1012"];

/** The interpreter's own mistakes: an error of JavaScript inside of it. */
const MISTAKEN = "unknown";

/** The interpreter takes a function for the change of a transform, and lays its own insides over what is changed. */
const NO_CHANGE = "T2011";

/** What an evaluation ended with; undefined where it ended with one of the codes, of which nothing follows. */
async function outcome(evaluate: () => unknown, idle: readonly string[]): Promise<object | undefined> {
  try {
    return { value: await evaluate() };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return idle.includes(error.jsonataCode) ? undefined : { failed: true };
  }
}

/** Of a thing that stands in two groups of a path with variables, the interpreter shows the second one nothing. */
function forgets({ group, steps }: AstNode): boolean {
  const pairs = (group as { readonly lhs: readonly unknown[] } | undefined)?.lhs ?? [];
  const binds = (steps as readonly AstNode[] | undefined)?.some((step) => step["tuple"] === true) ?? false;
  return binds && pairs.length > 1;
}

/** A regular expression that is called reads a function as the JavaScript that it happens to be. */
const readsCode = ({ procedure }: AstNode): boolean => (procedure as AstNode | undefined)?.type === "regex";

/** What the two may differ in. */
function mayDiffer(source: string): boolean {
  if (!/[@#%][^]*\{|\/[^]*\(/.test(source)) return false;
  let found = false;
  walk(parse(source), (node) => {
    found ||= forgets(node) || readsCode(node);
  });
  return found;
}

const byChance = (source: string): boolean => /\$(?:millis|now|random|shuffle|eval)/.test(source);

/** Undefined where it is none, or may differ. */
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
    const compiled = await outcome(() => expression.evaluate(DOCUMENT, {}), [...STOPPED, NO_CHANGE]);
    const interpreted = await outcome(() => interpret(input).evaluate(DOCUMENT, {}), [...STOPPED, MISTAKEN]);
    if (!compiled || !interpreted) return;
    hold("compiled gives what interpreted gives", isDeepStrictEqual(compiled, interpreted));
  },
};
