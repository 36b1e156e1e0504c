import { emitBlock, emitCondition } from "./operators.ts";
import { isBare, type Pairs } from "./grouping.ts";
import { hasPlainKeys, readsContext } from "./constructors.ts";
import { printJson } from "../../dialect/json/parse.ts";
import type { Node } from "../ast.ts";
import { BUILTINS, NOT_COMPILED } from "../runtime/builtins/table.ts";
import { member, NotCompiled, quote, type Kind, type Code } from "./code.ts";
import { emit, emitResult } from "./emit.ts";
import { blockScope } from "./frames.ts";
import {
  type Body,
  type Frame,
  type Helper,
  type Scope,
  type Unit,
  type Variable,
  temporary,
} from "./scope.ts";

/**
 * The code of an expression whose value is only written as JSON: it gives the text of what the value would be, or
 * null, or undefined. Objects are put together as text and never built.
 */
function emitText(node: Node, scope: Scope, depth = 0): Code {
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

export type Gives = "value" | "text";

/** JavaScript for an expression, and what it refers to. */
export interface Generated {
  /** The body of a function of the helpers and the constants, which gives a function of the input and the bindings. */
  readonly source: string;
  readonly constants: readonly unknown[];
  /** Built-in functions that the code takes for what they are. */
  readonly builtins: ReadonlySet<string>;
}

/** Functions and lists cost time that has to be watched; straight-line code does not. */
const WATCHED: ReadonlySet<Helper> = new Set<Helper>([
  "call",
  "callPiped",
  "pipe",
  "later",
  "step",
  "filter",
  "orderBy",
  "descendants",
  "range",
  "tupleStep",
  "tupleFilter",
]);

/** The variables that are free in an expression: bound from outside, or built-in. */
function freeFrame(unit: Unit, declared: string[], builtins: Set<string>, shadowed: boolean): Frame {
  const known = new Map<string, Variable>();
  const declare = (name: string, js: string, kind: Kind, builtin?: string): Variable => {
    const variable = { js: unit.name(/^\w+$/.test(name) ? `$${name}_` : "$"), kind };
    declared.push(`const ${variable.js} = ${js};`);
    return builtin === undefined ? variable : { ...variable, builtin };
  };
  const bound = (name: string): string =>
    `Object.hasOwn(bindings, ${quote(name)}) ? bindings[${quote(name)}]`;
  function free(name: string): Variable {
    if (name === "$") return { js: "input", kind: "value" };
    if (Object.hasOwn(NOT_COMPILED, name)) throw new NotCompiled(`$${name} ${NOT_COMPILED[name]}`);
    if (!Object.hasOwn(BUILTINS, name)) return declare(name, member("bindings", name), "value");
    const builtin = member(unit.use("BUILTINS"), name);
    if (shadowed) return declare(name, `${bound(name)} : ${builtin}`, "value");
    builtins.add(name);
    return { js: builtin, kind: "value", builtin: name };
  }
  return {
    find(name) {
      const variable = known.get(name) ?? free(name);
      known.set(name, variable);
      return variable;
    },
    bind: (name) => {
      throw new NotCompiled(`$${name} bound outside of any block`);
    },
    settle: () => undefined,
  };
}

function unitOf(used: Set<Helper>, constants: unknown[]): Unit {
  let names = 0;
  return {
    emit,
    use(helper) {
      used.add(helper);
      return helper;
    },
    constant: (value) => `constants[${constants.push(value) - 1}]`,
    name(hint) {
      names += 1;
      return `${hint}${names}`;
    },
  };
}

/**
 * Writes the JavaScript of an expression. `shadowed`: functions may be bound under the names of built-in ones;
 * `gives`: its value, or the JSON text of it.
 *
 * @throws {NotCompiled} for what only the interpreter does.
 */
export function generate(
  ast: Node,
  { shadowed = false, gives = "value" }: { readonly shadowed?: boolean; readonly gives?: Gives } = {},
): Generated {
  const used = new Set<Helper>();
  const constants: unknown[] = [];
  const builtins = new Set<string>();
  const outside: string[] = [];
  const body: Body = { declared: [] };
  const unit = unitOf(used, constants);
  const scope: Scope = {
    unit,
    body,
    frame: freeFrame(unit, outside, builtins, shadowed),
    context: "context",
    single: false,
    general: false,
    blame: undefined,
    caller: "context",
  };
  const { js } = (gives === "text" ? emitText : emitResult)(ast, blockScope(scope, [ast]));
  const context = `const context = ${unit.use("wrap")}(input);`;
  if ([...used].some((helper) => WATCHED.has(helper))) outside.unshift(`${unit.use("begin")}();`);
  const variables = body.declared.length > 0 ? [`let ${body.declared.join(", ")};`] : [];
  const lines = [...outside, context, ...variables, `return ${js};`].map((line) => `  ${line}`);
  return {
    source: [
      '"use strict";',
      `const { ${[...used].sort().join(", ")} } = runtime;`,
      "return function evaluate(input, bindings) {",
      ...lines,
      "};",
    ].join("\n"),
    constants,
    builtins,
  };
}
