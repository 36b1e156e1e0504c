/**
 * The facts about the value of generated code:
 *
 * | Kind | The value |
 * |---|---|
 * | `any` | may be a sequence that has yet to collapse |
 * | `value` | is never such a sequence |
 * | `truth` | is a boolean, or undefined |
 * | `boolean` | is a boolean, never undefined |
 */
export type CodeKind = "any" | "value" | "truth" | "boolean";

/** A JavaScript expression that can be embedded anywhere without parentheses, and the kind of its value. */
export interface Code {
  readonly js: string;
  readonly kind: CodeKind;
}

/** Returns the kind that covers two kinds, for a value such as the result of a condition with two branches. */
export function kindOfEither(one: CodeKind, other: CodeKind): CodeKind {
  if (one === other) return one;
  return one === "any" || other === "any" ? "any" : "value";
}

/** Returns a string literal of JavaScript. Strings of an expression only enter generated code through this function. */
export const quote = (text: string): string => JSON.stringify(text);

/** Whether every JavaScript object inherits a member of this name. Reading it needs a check for an own member. */
const isInheritedName = (name: string): boolean => name in Object.prototype;

/** Emits code that reads a member of a value that is certainly an object and not an array. */
export function emitMemberAccess(object: string, name: string): string {
  if (isInheritedName(name))
    return `(Object.hasOwn(${object}, ${quote(name)}) ? ${object}[${quote(name)}] : undefined)`;
  return /^[A-Za-z_]\w*$/.test(name) ? `${object}.${name}` : `${object}[${quote(name)}]`;
}

/** The compiler does not support an expression, so it is interpreted. The message is the reason. */
export class NotCompilableError extends Error {
  override readonly name = "NotCompilableError";
}
