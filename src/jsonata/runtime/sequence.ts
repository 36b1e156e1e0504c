import { checkItems, tick } from "./guard.ts";

/**
 * A JSONata list. A sequence is a list of results: it collapses to its member if it has only one, and to undefined if it
 * is empty. Arrays of the input and of `[ … ]` never collapse.
 */
export interface List extends Array<unknown> {
  /** Marks a list of results, which collapses. */
  sequence?: true;
  /** The path contains `[]`, so that a list with one member does not collapse. */
  keepSingleton?: true;
  /** This list wraps an input that is an array, so that it counts as one item. */
  outerWrapper?: true;
}

/** Whether a value is an array. Any array may have the marks of a {@link List}. */
export const isList = (value: unknown): value is List => Array.isArray(value);

/** Creates a sequence. */
export function sequence(...members: unknown[]): List {
  const list: List = members;
  list.sequence = true;
  return list;
}

/** Creates a sequence of any length: a long list can't be passed as arguments of a call. */
export function sequenceOf(members: Iterable<unknown>): List {
  const list = sequence();
  for (const member of members) list.push(member);
  return list;
}

/** Wraps an input that is an array, so that it counts as one item until a step iterates over it. */
export function wrapInput(input: unknown): unknown {
  if (!isList(input) || input.sequence) return input;
  const list = sequence(input);
  list.outerWrapper = true;
  return list;
}

/** Returns the value of `$`. */
export const unwrapContext = (context: unknown): unknown =>
  isList(context) && context.outerWrapper ? context[0] : context;

/** Collapses a sequence at the end of its expression. */
export function collapse(value: unknown): unknown {
  if (!isList(value) || value.sequence !== true) return value;
  if (value.length === 0) return undefined;
  return value.length === 1 && !value.keepSingleton ? value[0] : value;
}

/** Collapses a sequence of an expression with `[]` after it: a list with one member remains a list. */
export function collapseKeepingList(value: unknown): unknown {
  if (!isList(value) || value.sequence !== true) return value;
  value.keepSingleton = true;
  return value.length === 0 ? undefined : value;
}

/** Adds a value to an array constructor: lists are flattened, undefined is omitted. */
export function addMembers(into: unknown[], value: unknown): unknown[] {
  if (Array.isArray(value)) {
    for (const member of value) into.push(member);
    checkItems(into.length, "[ ]");
  } else if (value !== undefined) into.push(value);
  return into;
}

/** Adds the value of a nested array constructor, which is not flattened. */
export function addWhole(into: unknown[], value: unknown): unknown[] {
  if (value !== undefined) into.push(value);
  return into;
}

/** Returns the context of the values of an object `{ … }`: all members of a list, or the only member. */
export function groupOf(context: unknown): unknown {
  if (!isList(context)) return context;
  tick(context.length);
  const members = context.filter((member) => member !== undefined);
  if (members.length < 2) return members[0];
  const all = members.flat();
  checkItems(all.length, "{ }");
  return all;
}
