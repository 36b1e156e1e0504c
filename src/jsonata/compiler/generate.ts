import { isNode, type AstNode, walk } from "../language/ast.ts";
import { BUILTINS, NOT_COMPILED } from "../runtime/builtins/table.ts";
import { emitMemberAccess, NotCompilableError } from "./code.ts";
import { emit } from "./emit.ts";
import { createVariableName } from "./frames.ts";
import {
  type FunctionBody,
  type Frame,
  type Helper,
  type Scope,
  type ProgramUnit,
  type Variable,
} from "./scope.ts";

/** The JavaScript of an expression, and the values that it refers to. */
export interface Generated {
  /** The body of a function `(runtime, constants)` that returns the function `evaluate(input, bindings)`. */
  readonly source: string;
  readonly constants: readonly unknown[];
  /** Names of the built-in functions that the code calls directly. No variable may shadow them. */
  readonly builtins: ReadonlySet<string>;
}

/** The variables that an expression calls as functions. */
function findCalledNames(ast: AstNode): ReadonlySet<unknown> {
  const names = new Set<unknown>();
  walk(ast, (node) => {
    const called = node.type === "apply" ? node["rhs"] : node["procedure"];
    if (isNode(called) && called.type === "variable") names.add(called.value);
  });
  return names;
}

/** Creates the outermost frame: variables that the caller binds, and built-in functions. */
function createOuterFrame(
  unit: ProgramUnit,
  declared: string[],
  builtins: Set<string>,
  called: ReadonlySet<unknown>,
): Frame {
  const variables = new Map<string, Variable>();
  function declare(name: string, js: string): Variable {
    const variable = { js: createVariableName(unit, name), kind: "value" } as const;
    declared.push(`const ${variable.js} = ${js};`);
    return variable;
  }
  function free(name: string): Variable {
    if (name === "$") return { js: "input", kind: "value" };
    // The caller may bind the time as a value.
    const isTime = name === "now" && !called.has(name);
    if (Object.hasOwn(NOT_COMPILED, name) && !isTime)
      throw new NotCompilableError(`$${name} ${NOT_COMPILED[name]}`);
    if (!Object.hasOwn(BUILTINS, name)) return declare(name, emitMemberAccess("bindings", name));
    const builtin = emitMemberAccess(unit.useHelper("BUILTINS"), name);
    builtins.add(name);
    return { js: builtin, kind: "value", builtin: name };
  }
  return {
    find(name) {
      const variable = variables.get(name) ?? free(name);
      variables.set(name, variable);
      return variable;
    },
  };
}

function createUnit(used: Set<Helper>, constants: unknown[]): ProgramUnit {
  let names = 0;
  return {
    emit,
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

/**
 * Generates the JavaScript of an expression.
 *
 * @throws {NotCompilableError} If only the interpreter supports the expression.
 */
export function generate(ast: AstNode): Generated {
  const used = new Set<Helper>();
  const constants: unknown[] = [];
  const builtins = new Set<string>();
  const outside: string[] = [];
  const body: FunctionBody = { declared: [] };
  const unit = createUnit(used, constants);
  const scope: Scope = {
    unit,
    body,
    frame: createOuterFrame(unit, outside, builtins, findCalledNames(ast)),
    context: "context",
  };
  const { js } = emit(ast, scope);
  const context = `const context = ${unit.useHelper("wrapInput")}(input);`;
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
