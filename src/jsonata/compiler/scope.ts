import type { Node } from "../ast.ts";
import type * as runtime from "../runtime/index.ts";
import type { Code, Kind } from "./code.ts";

/** A name that the helpers of the runtime have in generated code. */
export type Helper = keyof typeof runtime;

/** One program while it is written. */
export interface Unit {
  readonly emit: (node: Node, scope: Scope) => Code;
  /** A helper's name; what is used is handed to the program. */
  readonly use: (helper: Helper) => string;
  /** A name for a value that can't stand in the source. */
  readonly constant: (value: unknown) => string;
  /** A name that nothing else has; the hint only serves the reader. */
  readonly name: (hint: string) => string;
}

/** A JavaScript function while it is written: its variables. */
export interface Body {
  readonly declared: string[];
}

/** What a variable of JSONata is in generated code. */
export interface Variable {
  readonly js: string;
  readonly kind: Kind;
  /** The name of the built-in function that it is. */
  readonly builtin?: string;
}

/** Variables of JSONata that are visible at a place. */
export interface Frame {
  readonly find: (name: string) => Variable;
  /** The JavaScript variable that `:=` sets here, or undefined where nothing can be bound. */
  readonly bind: (name: string) => string;
  /** From here on the variable is known to have been set. */
  readonly settle: (name: string, kind: Kind) => void;
}

/** A place in an expression. */
export interface Scope {
  readonly unit: Unit;
  readonly body: Body;
  readonly frame: Frame;
  /** The JavaScript variable with the context, JSONata's `$`. */
  readonly context: string;
  /** The context is known to be no array. */
  readonly single: boolean;
  /** Code for a context that is an array: objects are written in their general form only. */
  readonly general: boolean;
  /** The position that errors are reported at instead of their own. */
  readonly blame: number | undefined;
  /** In a lambda: the JavaScript variable with its caller's context. */
  readonly caller: string;
}

/** A variable for a value that is needed twice. */
export function temporary(scope: Scope): string {
  const name = scope.unit.name("t");
  scope.body.declared.push(name);
  return name;
}

export const positionOf = (node: Node, scope: Scope): number => scope.blame ?? node.position ?? 0;

/** Writes a JavaScript function. `write` gets the scope of its inside. */
export function functionOf(
  scope: Scope,
  parameters: readonly string[],
  write: (inner: Scope) => string,
): string {
  const body: Body = { declared: [] };
  const js = write({ ...scope, body });
  const head = `(${parameters.join(", ")}) =>`;
  return body.declared.length === 0
    ? `${head} ${js}`
    : `${head} { let ${body.declared.join(", ")}; return ${js}; }`;
}

/** A function of one thing: the expression evaluated with that thing as its context. */
export function closure(scope: Scope, write: (inner: Scope) => string): string {
  const context = scope.unit.name("c");
  return functionOf(scope, [context], (inner) => write({ ...inner, context, single: false }));
}
