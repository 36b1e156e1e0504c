import { collapsingList, freeVariables, walk, type Node } from "./ast.ts";
import { ExpressionError } from "./expression.ts";
import { parse, UNSUPPORTED_REGEX } from "./interpret.ts";

/**
 * Pictures of `$toMillis`: JSONata makes a regular expression of each, which takes a time beyond all bounds where two
 * parts could share characters. So a picture must be written out, and where a part ends must be certain.
 */

/** A part of a picture, `[Y0001]`, and the text behind it. */
const PART = /\[\s*([A-Za-z])([^\],]*)[^\]]*\]([^[]*)/g;

/** Parts that are numbers: of a known width where another one follows at once, and the picture has a digit for it. */
const NUMBERED = "YMDdHhmsWwXx";

/** What is wrong with a picture; undefined for nothing. */
function pictureFault(picture: string): string | undefined {
  const parts = [...picture.matchAll(PART)];
  for (const [index, [, component = "", written = "", behind = ""]] of parts.entries()) {
    const modifier = written.trim();
    const isName =
      component === "F" || component === "P" ? !/^\d/.test(modifier) : /^[AaIiNn]/.test(modifier);
    if (/^[Ww]/.test(modifier)) return "$toMillis can't read numbers in words here";
    if (behind === "" && index < parts.length - 1) {
      const next = parts[index + 1]?.[1] ?? "";
      // A time zone begins with a sign, or with GMT.
      if (next === "Z" || (next === "z" && !isName)) continue;
      const isNumber = !isName && NUMBERED.includes(component) && (modifier === "" || /\d/.test(modifier));
      if (isNumber && NUMBERED.includes(next)) continue;
      return `it is not certain where [${component}${modifier}] ends: write a character behind it`;
    }
    if ((isName ? /^[A-Za-z]/ : /^\d/).test(behind))
      return `it is not certain where [${component}${modifier}] ends: another character must stand behind it`;
  }
  return undefined;
}

/** What is wrong with the pictures of an expression. */
function pictureFaults(ast: Node): ExpressionProblem[] {
  const faults: ExpressionProblem[] = [];
  const called = new Set<unknown>();
  const piped = new Set<unknown>();
  walk(ast, (node) => {
    if (node.type === "apply" && (node["rhs"] as Node).type === "function") piped.add(node["rhs"]);
    const { type, value, position = 1 } = node;
    const offset = Math.max(0, position - 1);
    if (type === "function" && (node["procedure"] as Node).value === "toMillis") {
      called.add(node["procedure"]);
      const [picture] = (node["arguments"] as readonly Node[]).slice(piped.has(node) ? 0 : 1);
      if (picture === undefined) return;
      const message =
        picture.type === "string"
          ? pictureFault(String(picture.value))
          : "the picture of $toMillis must be written out as a text";
      if (message !== undefined) faults.push({ message, offset });
    }
    if (type === "variable" && value === "toMillis" && !called.has(node))
      faults.push({ message: "$toMillis can only be called, and not be handed on", offset });
  });
  return faults;
}

/** JSONata's built-in functions that depend on nothing but their arguments. */
const PURE_FUNCTIONS =
  "abs append assert average base64decode base64encode boolean ceil contains count decodeUrl decodeUrlComponent " +
  "distinct each encodeUrl encodeUrlComponent error exists filter floor formatBase formatInteger formatNumber " +
  "fromMillis join keys length lookup lowercase map match max merge min not number pad parseInteger power reduce " +
  "replace reverse round sift single sort split spread sqrt string substring substringAfter substringBefore sum " +
  "toMillis trim type uppercase zip";

/** Clock, random numbers, and code from data. A result must depend on the input alone. */
const IMPURE_FUNCTIONS = "eval millis now random shuffle";

const pure = new Set(PURE_FUNCTIONS.split(" "));
const impure = new Set(IMPURE_FUNCTIONS.split(" "));

/** One problem of an expression. `offset` counts characters from the start of its source. */
export interface ExpressionProblem {
  readonly message: string;
  readonly offset: number;
}

function findUnknownVariables(ast: Node, known: ReadonlySet<string>): ExpressionProblem[] {
  const free = freeVariables(ast);
  const problems: ExpressionProblem[] = [];
  walk(ast, (node) => {
    const name = String(node.value);
    if (node.type !== "variable" || !free.has(name) || known.has(name) || pure.has(name)) return;
    const offset = (node.position ?? 0) - name.length - 1;
    const names = [...known].map((variable) => `$${variable}`).join(", ");
    const message = impure.has(name)
      ? `$${name} can't be used: an expression depends on its input alone`
      : `unknown variable or function $${name}${names && `; besides JSONata's own there are ${names}`}`;
    problems.push({ message, offset });
  });
  return problems;
}

/**
 * Checks an expression without running it. Reports that it does not parse, reads an unknown variable, calls an impure
 * function, has a regular expression that can't run in linear time, or gives a list that JSONata would collapse.
 *
 * @param source The JSONata expression.
 * @param known Names of the variables that will be bound, without the `$`.
 * @returns Every problem; empty if the expression can be used.
 * @example
 *   check("$sum(items.price) * $rate", new Set(["rate"])); // => []
 *   check("$sum(items.price) * $rat", new Set(["rate"]))[0].offset; // => 20
 *   check("$now()", new Set()).length; // => 1
 */
export function check(source: string, known: ReadonlySet<string>): ExpressionProblem[] {
  let ast: Node;
  try {
    ast = parse(source);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = error.jsonataCode === UNSUPPORTED_REGEX ? error.message : `not JSONata: ${error.message}`;
    return [{ message, offset: error.offset }];
  }
  const problems = [...findUnknownVariables(ast, known), ...pictureFaults(ast)];
  const collapsing = collapsingList(ast);
  if (collapsing) {
    const message =
      "JSONata makes one value of a list of one, and nothing of none: write [ … ] around it, or take one with [0]";
    problems.push({ message, offset: Math.max(0, (collapsing.position ?? 1) - 1) });
  }
  return problems;
}
