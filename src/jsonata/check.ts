import { collapsingList, freeVariables, walk, type Node } from "./ast.ts";
import { ExpressionError } from "./expression.ts";
import { pictureFaults } from "./date-picture.ts";
import { parse, REFUSED_REGEX } from "./interpret.ts";

/** JSONata's built-in functions that depend on nothing but their arguments. */
const PURE_FUNCTIONS =
  "abs append assert average base64decode base64encode boolean ceil contains count decodeUrl decodeUrlComponent " +
  "distinct each encodeUrl encodeUrlComponent error exists filter floor formatBase formatInteger formatNumber " +
  "fromMillis join keys length lookup lowercase map match max merge min not number pad parseInteger power reduce " +
  "replace reverse round sift single sort split spread sqrt string substring substringAfter substringBefore sum " +
  "toMillis trim type uppercase zip";

/** A clock, a die, and code out of data: an answer must depend on the request and on v4 alone. */
const IMPURE_FUNCTIONS = "eval millis now random shuffle";

const pure = new Set(PURE_FUNCTIONS.split(" "));
const impure = new Set(IMPURE_FUNCTIONS.split(" "));

/** One thing that is wrong with an expression; `offset` counts characters into its source. */
export interface ExpressionFault {
  readonly message: string;
  readonly offset: number;
}

function variableFaults(ast: Node, known: ReadonlySet<string>): ExpressionFault[] {
  const free = freeVariables(ast);
  const faults: ExpressionFault[] = [];
  walk(ast, (node) => {
    const name = String(node.value);
    if (node.type !== "variable" || !free.has(name) || known.has(name) || pure.has(name)) return;
    const offset = (node.position ?? 0) - name.length - 1;
    const given = [...known].map((variable) => `$${variable}`).join(", ");
    const message = impure.has(name)
      ? `$${name} can't be used: an expression depends on its input alone`
      : `unknown variable or function $${name}${given && `; besides JSONata's own there are ${given}`}`;
    faults.push({ message, offset });
  });
  return faults;
}

/**
 * Everything that is wrong with an expression before it ever runs: it doesn't parse, reads a variable
 * that nobody sets, calls an impure function, has a regular expression that can explode, or gives a list that JSONata
 * would collapse.
 */
export function checkExpression(source: string, known: ReadonlySet<string>): ExpressionFault[] {
  let ast: Node;
  try {
    ast = parse(source);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = error.code === REFUSED_REGEX ? error.message : `not JSONata: ${error.message}`;
    return [{ message, offset: error.offset }];
  }
  const faults = [...variableFaults(ast, known), ...pictureFaults(ast)];
  const collapsing = collapsingList(ast);
  if (collapsing) {
    const message =
      "JSONata makes one value of a list of one, and nothing of none: write [ … ] around it, or take one with [0]";
    faults.push({ message, offset: Math.max(0, (collapsing.position ?? 1) - 1) });
  }
  return faults;
}
