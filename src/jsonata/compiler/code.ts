/**
 * What is known about the value that generated code gives. `any` may be a sequence that still has to
 * collapse; a `value` never is; a `scalar` has no members, so there is nothing to copy (or is missing);
 * `truth` is a boolean or missing; `boolean` and `string` are always there.
 */
export type Kind = "any" | "value" | "scalar" | "truth" | "boolean" | "string";

/** JavaScript that is one expression, safe to stand anywhere. */
export interface Code {
  readonly js: string;
  readonly kind: Kind;
}

export const isScalar = ({ kind }: Code): boolean => kind !== "any" && kind !== "value";

/** What is known of a value that is one of two. */
export function either(one: Kind, other: Kind): Kind {
  if (one === other) return one;
  for (const kind of ["any", "value"] as const) if (one === kind || other === kind) return kind;
  return "scalar";
}

/** The text of a string in JavaScript. */
export const quote = (text: string): string => JSON.stringify(text);

/** Members that every object has from JavaScript: only these need a check that an object has them itself. */
const inherited = (name: string): boolean => name in Object.prototype;

/** Reads a member of what is known to be an object and no array. */
export function member(object: string, name: string): string {
  if (inherited(name))
    return `(Object.hasOwn(${object}, ${quote(name)}) ? ${object}[${quote(name)}] : undefined)`;
  return /^[A-Za-z_]\w*$/.test(name) ? `${object}.${name}` : `${object}[${quote(name)}]`;
}

/** A reason why an expression goes to the interpreter. */
export class NotCompiled extends Error {
  override readonly name = "NotCompiled";
}
