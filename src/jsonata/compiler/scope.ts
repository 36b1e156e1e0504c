import type { AstNode } from "../language/ast.ts";
import type * as helpers from "./helpers.ts";
import type { Code, CodeKind } from "./code.ts";

/** The name of a helper of generated code. */
export type Helper = keyof typeof helpers;

/** A program that is being generated. */
export interface ProgramUnit {
  readonly emit: (node: AstNode, scope: Scope) => Code;
  /** Returns the name of a helper, and imports it into the program. */
  readonly useHelper: (helper: Helper) => string;
  /** Adds a value that can't be written as code, and returns the code that reads it. */
  readonly addConstant: (value: unknown) => string;
  /** Returns a unique JavaScript name. The hint only helps the reader of the code. */
  readonly createName: (hint: string) => string;
}

/** A JavaScript function that is being generated, with the names of its variables. */
export interface FunctionBody {
  readonly declared: string[];
}

/** A JSONata variable in generated code. */
export interface Variable {
  readonly js: string;
  readonly kind: CodeKind;
  /** The name of the built-in function, if the variable refers to one. */
  readonly builtin?: string;
  /** Whether the expression itself binds the variable. */
  readonly isLocal?: true;
}

/** The JSONata variables that are visible in a part of an expression. */
export interface Frame {
  /** @param isInFunction whether a function reads the variable, which may run later. @throws {NotCompilableError} */
  readonly find: (name: string, isInFunction?: boolean) => Variable;
}

/** The context of a node that is compiled. */
export interface Scope {
  readonly unit: ProgramUnit;
  readonly body: FunctionBody;
  readonly frame: Frame;
  /** The JavaScript variable that contains the context, JSONata's `$`. */
  readonly context: string;
}

/** Declares a JavaScript variable for a value that is used twice, and returns the variable's name. */
export function declareTemporary(scope: Scope): string {
  const name = scope.unit.createName("t");
  scope.body.declared.push(name);
  return name;
}

/** Emits a JavaScript function. @param write emits the function's body in the given inner scope */
export function emitFunction(
  scope: Scope,
  parameters: readonly string[],
  write: (inner: Scope) => string,
): string {
  const body: FunctionBody = { declared: [] };
  const js = write({ ...scope, body });
  const head = `(${parameters.join(", ")}) =>`;
  return body.declared.length === 0
    ? `${head} ${js}`
    : `${head} { let ${body.declared.join(", ")}; return ${js}; }`;
}

/** Emits a function that evaluates an expression with its argument as the context. */
export function emitClosure(scope: Scope, write: (inner: Scope) => string): string {
  const context = scope.unit.createName("c");
  return emitFunction(scope, [context], (inner) => write({ ...inner, context }));
}
