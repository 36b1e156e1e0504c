/**
 * JSONata's lists. A sequence is a list of results: with one member it stands for that member, with none
 * for nothing. Arrays of the input and of `[ ]` are values themselves and never collapse.
 */
export interface List extends Array<unknown> {
  /** A list of results, which collapses. */
  sequence?: true;
  /** `[]` asked for a list even of one. */
  keepSingleton?: true;
  /** An array built as a step of a path: one result, not a list of them. */
  cons?: true;
  /** The whole input is an array, and this wraps it as one thing. */
  outerWrapper?: true;
}

export function sequence(...members: unknown[]): List {
  const list: List = members;
  list.sequence = true;
  return list;
}

/** A list of results of any length: too many to be arguments of a call. */
export function sequenceOf(members: Iterable<unknown>): List {
  const list = sequence();
  for (const member of members) list.push(member);
  return list;
}

/** An input that is an array counts as one thing until something walks into it. */
export function wrap(input: unknown): unknown {
  if (!Array.isArray(input) || (input as List).sequence) return input;
  const list = sequence(input);
  list.outerWrapper = true;
  return list;
}

/** The value of `$`. */
export const contextValue = (context: unknown): unknown =>
  Array.isArray(context) && (context as List).outerWrapper ? context[0] : context;

/** What a result stands for, once the expression that gave it is done. */
export function collapse(value: unknown): unknown {
  if (!Array.isArray(value) || (value as List).sequence !== true) return value;
  if (value.length === 0) return undefined;
  return value.length === 1 && !(value as List).keepSingleton ? value[0] : value;
}

/** The same for an expression that `[]` is written after. */
export function collapseKept(value: unknown): unknown {
  if (!Array.isArray(value) || (value as List).sequence !== true) return value;
  (value as List).keepSingleton = true;
  return value.length === 0 ? undefined : value;
}

/** The end of a path with `[]` in it. */
export function keep(list: List): unknown {
  const kept = list.cons && !list.sequence ? sequence(list) : list;
  return collapseKept(kept);
}

/** Marks an array built in a path as one result. Hidden, so that no wildcard sees the mark. */
export function cons(list: unknown[]): unknown[] {
  return Object.defineProperty(list, "cons", { value: true });
}

/** Adds a value to the members of an array constructor: lists are taken apart, nothing adds nothing. */
export function collect(into: unknown[], value: unknown): unknown[] {
  if (Array.isArray(value)) for (const member of value) into.push(member);
  else if (value !== undefined) into.push(value);
  return into;
}

/** The same for an array constructor inside another, which stays a list. */
export function collectWhole(into: unknown[], value: unknown): unknown[] {
  if (value !== undefined) into.push(value);
  return into;
}

/** One list of two, where a single value counts as a list of one. */
export function append(first: unknown, second: unknown): unknown {
  if (first === undefined) return second;
  if (second === undefined) return first;
  const head: unknown[] = Array.isArray(first) ? first : [first];
  return head.concat(second);
}
