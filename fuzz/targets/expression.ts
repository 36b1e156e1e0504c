/** The source of an expression: it is refused, or compiled to what the interpreter gives, and always ends. */
import { isDeepStrictEqual } from "node:util";
import { compile, ExpressionError } from "../../src/expression/index.ts";
import { walk, type Node } from "../../src/expression/ast.ts";
import { interpret, parse } from "../../src/expression/interpret.ts";
import { hold, type Target } from "../target.ts";

const DOCUMENT = {
  a: 1,
  b: [1, 2, 3],
  c: { d: "text", e: null, f: [{ g: 1 }, { g: 2, h: [true] }] },
  "odd name": "é",
  big: 9_007_199_254_740_991,
};

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
    return idle.includes(error.code) ? undefined : { failed: true };
  }
}

const byChance = (source: string): boolean => /\$(?:millis|now|random|shuffle|eval)/.test(source);

/** Of a thing that stands in two groups of a path with variables, the interpreter shows the second one nothing. */
function forgets({ group, steps }: Node): boolean {
  const pairs = (group as { readonly lhs: readonly unknown[] } | undefined)?.lhs ?? [];
  const binds = (steps as readonly Node[] | undefined)?.some((step) => step["tuple"] === true) ?? false;
  return binds && pairs.length > 1;
}

/** A regular expression that is called reads a function as the JavaScript that it happens to be. */
const readsCode = ({ procedure }: Node): boolean => (procedure as Node | undefined)?.type === "regex";

/** What the two may differ in. */
function mayDiffer(source: string): boolean {
  if (!/[@#%][^]*\{|\/[^]*\(/.test(source)) return false;
  let found = false;
  walk(parse(source), (node) => {
    found ||= forgets(node) || readsCode(node);
  });
  return found;
}

export const target: Target = {
  name: "expression",
  subject: "The source of an expression, compiled",
  covers: ["/src/expression/"],
  longest: 400,
  seeds: [
    "a",
    "c.f[g > 1].h[0]",
    '{ "x": a + 1, "y": [b.($ * 2)] }',
    "$map(b, function($v, $i) { $v + $i })",
    "c.f^(>g).g",
    "b{ $string($): $ }",
    '$join(["x", `odd name`], "-") & $uppercase(c.d)',
    "(a = 1 and $exists(c.e)) ? b[-1] : $sum(b)",
    "c ~> |f|{'new': g}, 'h'|",
    "$reduce(b, function($l, $r) { $l * $r }, 1)",
    "/t(e)x/i",
    "c.f@$x.b#$i.($x.g * $i)",
    "[1..5][$ % 2 = 0]",
  ],
  dictionary: [
    ..."$ $$ % ^( .. := ~> ?: and or in function λ null true false { } [ ] ( ) ** @$x #$i ; |".split(" "),
    ..."$map $filter $sort $merge $each $sift $string $number $substring $replace $split $match $join".split(
      " ",
    ),
    ..."$lookup $spread $zip $formatNumber $formatBase $toMillis $fromMillis $append $distinct $type".split(
      " ",
    ),
  ],
  async run(input) {
    let expression;
    try {
      expression = compile(input);
    } catch (error) {
      hold("what can't be compiled is refused by its own error", error instanceof ExpressionError);
      return;
    }
    if (expression.engine !== "compiled" || byChance(input) || mayDiffer(input)) return;
    const compiled = await outcome(() => expression.evaluate(DOCUMENT, {}), [...STOPPED, NO_CHANGE]);
    const interpreted = await outcome(() => interpret(input).evaluate(DOCUMENT, {}), [...STOPPED, MISTAKEN]);
    if (!compiled || !interpreted) return;
    hold("compiled gives what interpreted gives", isDeepStrictEqual(compiled, interpreted));
  },
};
