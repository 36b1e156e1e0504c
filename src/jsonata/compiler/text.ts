import { printJson } from "../../dialect/json/parse.ts";
import type { Node } from "../ast.ts";
import { quote, type Code } from "./code.ts";
import { hasPlainKeys, readsContext } from "./constructors.ts";
import { isBare, type Pairs } from "./grouping.ts";
import { emitBlock, emitCondition } from "./operators.ts";
import { temporary, type Scope } from "./scope.ts";

/**
 * The code of an expression whose value is only written as JSON: it gives the text of what the value would be, or
 * null, or undefined. Objects are put together as text and never built.
 */
export function emitText(node: Node, scope: Scope, depth = 0): Code {
  const inner = (part: Node, place: Scope): Code => emitText(part, place, depth + 1);
  if (isBare(node)) {
    if (node.type === "condition") return emitCondition(node, scope, inner);
    if (node.type === "block") return emitBlock(node, scope, inner);
    if (node.type === "string") return { js: quote(printJson(node.value)), kind: "string" };
    if (node.type === "unary" && node.value === "{" && isTextual(node, scope))
      return { js: emitMembers(node["lhs"] as Pairs, scope), kind: "string" };
  }
  const { unit } = scope;
  const code = unit.emit(node, scope);
  const collapses = code.kind === "any" ? depth + 1 : 0;
  const collapsed = `${unit.use("collapse")}(`.repeat(collapses) + code.js + ")".repeat(collapses);
  return { js: `${unit.use("textOf")}(${collapsed})`, kind: "scalar" };
}

/** Whether an object has the same members in every context. */
const isTextual = (node: Node, { single, general }: Scope): boolean => {
  const pairs = node["lhs"] as Pairs;
  return !general && hasPlainKeys(pairs) && (single || !readsContext(pairs));
};

/** Members that are missing are left out. A comma stands where one before it is there. */
function emitMembers(pairs: Pairs, scope: Scope): string {
  let certain = false;
  const perhaps: string[] = [];
  const members = pairs.map(([key, value]) => {
    const name = printJson(key.value);
    const bare = certain || perhaps.length > 0 ? quote(`,${name}:`) : quote(`${name}:`);
    const none = perhaps.map((variable) => `${variable} === undefined`).join(" && ");
    const head = certain || none === "" ? bare : `(${none} ? ${quote(`${name}:`)} : ${bare})`;
    const { js, kind } = emitText(value, scope);
    if (kind === "string") {
      certain = true;
      return `${head} + ${js}`;
    }
    const found = temporary(scope);
    perhaps.push(found);
    return `((${found} = ${js}) === undefined ? "" : ${head} + ${found})`;
  });
  return `(${['"{"', ...members, '"}"'].join(" + ")})`;
}
