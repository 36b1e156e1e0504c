import { emitBlock, emitCondition } from "./operators.ts";
import { isBare } from "./grouping.ts";
import { hasPlainKeys, readsContext } from "./constructors.ts";
import { printJson } from "../../base/index.ts";
import { pairsOf, type AstNode, type Pairs } from "../ast.ts";
import { BUILTINS, NOT_COMPILED } from "../runtime/builtins/table.ts";
import { emitMemberAccess, NotCompilableError, quote, type CodeKind, type Code } from "./code.ts";
import { emit, emitResult } from "./emit.ts";
import { blockScope, rejectSharedBindings } from "./frames.ts";
import {
  type FunctionBody,
  type Frame,
  type Helper,
  type Scope,
  type ProgramUnit,
  type Variable,
  declareTemporary,
} from "./scope.ts";

/**
 * Emits an expression whose value is only printed as JSON. The code returns the text of the value, or null, or undefined.
 * Objects are concatenated as text and never created.
 */
function emitText(node: AstNode, scope: Scope, depth = 0): Code {
  const inner = (child: AstNode, childScope: Scope): Code => emitText(child, childScope, depth + 1);
  if (isBare(node)) {
    if (node.type === "condition") return emitCondition(node, scope, inner);
    if (node.type === "block") return emitBlock(node, scope, inner);
    if (node.type === "string") return { js: quote(printJson(node.value)), kind: "string" };
    if (node.type === "unary" && node.value === "{" && hasFixedMembers(node, scope))
      return { js: emitTextMembers(pairsOf(node), scope), kind: "string" };
  }
  const { unit } = scope;
  const code = unit.emit(node, scope);
  const collapses = code.kind === "any" ? depth : 0;
  const collapsed = `${unit.useHelper("collapse")}(`.repeat(collapses) + code.js + ")".repeat(collapses);
  return { js: `${unit.useHelper("textOf")}(${collapsed})`, kind: "scalar" };
}

/** Whether an object has the same keys in every context, so that it can be printed as text. */
const hasFixedMembers = (node: AstNode, { isSingle: single, isGeneral: general }: Scope): boolean => {
  const pairs = pairsOf(node);
  return !general && hasPlainKeys(pairs) && (single || !readsContext(pairs));
};

/** Emits the text of an object. Undefined members are omitted; a comma is printed only after a member that is present. */
function emitTextMembers(pairs: Pairs, scope: Scope): string {
  let hasCertainMember = false;
  const optional: string[] = [];
  const members = pairs.map(([key, value]) => {
    const name = printJson(key.value);
    const prefix = hasCertainMember || optional.length > 0 ? quote(`,${name}:`) : quote(`${name}:`);
    const isFirst = optional.map((variable) => `${variable} === undefined`).join(" && ");
    const head =
      hasCertainMember || isFirst === "" ? prefix : `(${isFirst} ? ${quote(`${name}:`)} : ${prefix})`;
    const { js, kind } = emitText(value, scope);
    if (kind === "string") {
      hasCertainMember = true;
      return `${head} + ${js}`;
    }
    const found = declareTemporary(scope);
    optional.push(found);
    return `((${found} = ${js}) === undefined ? "" : ${head} + ${found})`;
  });
  return `(${['"{"', ...members, '"}"'].join(" + ")})`;
}

/** What a program returns: the value of the expression, or its JSON text. */
export type OutputKind = "value" | "text";

/** The JavaScript of an expression, and the values that it refers to. */
export interface Generated {
  /** The body of a function `(runtime, constants)` that returns the function `evaluate(input, bindings)`. */
  readonly source: string;
  readonly constants: readonly unknown[];
  /** Names of the built-in functions that the code calls directly. No variable may shadow them. */
  readonly builtins: ReadonlySet<string>;
}

/** Helpers that call functions or iterate over lists. Only code that uses one needs the time and depth guards. */
const GUARDED_HELPERS: ReadonlySet<Helper> = new Set<Helper>([
  "call",
  "callPiped",
  "pipe",
  "deferCall",
  "applyStep",
  "filter",
  "orderBy",
  "listDescendants",
  "range",
  "isEqual",
  "isDifferent",
  "groupBy",
  "applyTupleStep",
  "filterTuples",
]);

/** Creates the outermost frame: variables that the caller binds, and built-in functions. */
function createOuterFrame(
  unit: ProgramUnit,
  declared: string[],
  builtins: Set<string>,
  shadowed: boolean,
): Frame {
  const variables = new Map<string, Variable>();
  const declare = (name: string, js: string, kind: CodeKind, builtin?: string): Variable => {
    const variable = { js: unit.createName(/^\w+$/.test(name) ? `$${name}_` : "$"), kind };
    declared.push(`const ${variable.js} = ${js};`);
    return builtin === undefined ? variable : { ...variable, builtin };
  };
  const bound = (name: string): string =>
    `Object.hasOwn(bindings, ${quote(name)}) ? bindings[${quote(name)}]`;
  function free(name: string): Variable {
    if (name === "$") return { js: "input", kind: "value" };
    if (Object.hasOwn(NOT_COMPILED, name)) throw new NotCompilableError(`$${name} ${NOT_COMPILED[name]}`);
    if (!Object.hasOwn(BUILTINS, name)) return declare(name, emitMemberAccess("bindings", name), "value");
    const builtin = emitMemberAccess(unit.useHelper("BUILTINS"), name);
    if (shadowed) return declare(name, `${bound(name)} : ${builtin}`, "value");
    builtins.add(name);
    return { js: builtin, kind: "value", builtin: name };
  }
  return {
    find(name) {
      const variable = variables.get(name) ?? free(name);
      variables.set(name, variable);
      return variable;
    },
    bind: (name) => {
      throw new NotCompilableError(`$${name} bound outside of any block`);
    },
    markSet: () => undefined,
  };
}

function createUnit(used: Set<Helper>, constants: unknown[], wrap: WrapNode | undefined): ProgramUnit {
  let names = 0;
  return {
    emit: wrap ? (node, scope) => wrap(node, scope, emit) : emit,
    useHelper(helper) {
      used.add(helper);
      return helper;
    },
    addConstant: (value) => `constants[${constants.push(value) - 1}]`,
    createName(hint) {
      names += 1;
      return `${hint}${names}`;
    },
  };
}

/** Emits a node by `emitNode`, and code around it that returns the same value. */
export type WrapNode = (node: AstNode, scope: Scope, emitNode: ProgramUnit["emit"]) => Code;

/** Emits an expression whose value is copied as a whole, so that each of its nodes has a value of its own. */
function emitCopied(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  return { js: `${unit.useHelper("copyPlain")}(${unit.emit(node, scope).js})`, kind: "value" };
}

/** The variants of the JavaScript of an expression. */
export interface GenerateOptions {
  /** Whether bindings may shadow built-in functions. */
  readonly shadowed?: boolean;
  /** Whether the program returns the value, or its JSON text. */
  readonly output?: OutputKind;
  /** Wraps the code of each node. Only for programs that return the value, and that serve no request. */
  readonly wrap?: WrapNode | undefined;
}

/**
 * Generates the JavaScript of an expression.
 *
 * @throws {NotCompilableError} If only the interpreter supports the expression.
 */
export function generate(
  ast: AstNode,
  { shadowed = false, output = "value", wrap }: GenerateOptions = {},
): Generated {
  const used = new Set<Helper>();
  const constants: unknown[] = [];
  const builtins = new Set<string>();
  const outside: string[] = [];
  const body: FunctionBody = { declared: [] };
  const unit = createUnit(used, constants, wrap);
  const scope: Scope = {
    unit,
    body,
    frame: createOuterFrame(unit, outside, builtins, shadowed),
    context: "context",
    isSingle: false,
    isGeneral: false,
    errorPosition: undefined,
    callerContext: "context",
  };
  rejectSharedBindings(ast);
  const emitWhole = wrap ? emitCopied : output === "text" ? emitText : emitResult;
  const { js } = emitWhole(ast, blockScope(scope, [ast]));
  const context = `const context = ${unit.useHelper("wrapInput")}(input);`;
  if ([...used].some((helper) => GUARDED_HELPERS.has(helper)))
    outside.unshift(`${unit.useHelper("resetGuards")}();`);
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
