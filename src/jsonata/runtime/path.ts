import { checkItems, tick } from "./guard.ts";
import { collapse, isList, sequence, type List } from "./sequence.ts";

/** Whether a value is an object and not an array, so that a name can be read directly. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads a member by name; for a list, reads the member of all items. Members that JavaScript objects inherit are ignored. */
function lookup(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return lookupEach(value, name);
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

function lookupEach(values: readonly unknown[], name: string): List {
  const found = sequence();
  for (const value of values) {
    const result = lookup(value, name);
    if (Array.isArray(result)) {
      for (const member of result) found.push(member);
      checkItems(found.length, "a path");
    } else if (result !== undefined) found.push(result);
  }
  return found;
}

/** The name step: calls {@link lookup} and collapses the result. */
export function readField(value: unknown, name: string): unknown {
  if (!Array.isArray(value)) return lookup(value, name);
  const found = lookupEach(value, name);
  return found.length > 1 ? found : found[0];
}

/** The name step with `[]` after it: a list with one member remains a list, and an empty list becomes undefined. */
export function readFieldAsList(value: unknown, name: string): unknown {
  if (!Array.isArray(value)) return lookup(value, name);
  const found = lookupEach(value, name);
  return found.length > 0 ? found : undefined;
}

/** Returns the items over which the next step iterates. */
export function listItems(value: unknown): List {
  if (!isList(value)) return value === undefined ? sequence() : sequence(value);
  return value.length === 0 ? sequence() : value;
}

/** Returns the items over which the first step iterates. */
export const listContextItems = (context: unknown): List =>
  Array.isArray(context) ? context : sequence(context);

/**
 * Applies one step of a path to each item.
 *
 * @param last Whether it is the last step: if it has one result and that is an array, the result is that array, not a list
 *   of its members.
 * @throws {Failure} D1012, D2015
 */
export function applyStep(list: List, evaluate: (item: unknown) => unknown, last: boolean): List {
  const results = sequence();
  let count = 0;
  let only: unknown;
  for (const item of list) {
    tick();
    const result = evaluate(item);
    if (result === undefined) continue;
    count += 1;
    only = result;
    if (!Array.isArray(result)) results.push(result);
    else {
      for (const member of result) results.push(member);
      checkItems(results.length, "a path");
    }
  }
  return last && count === 1 && isList(only) && !only.sequence ? only : results;
}

/** Applies several name steps to a list. @param last Whether the last name is the last step of the path. */
export const followNames = (list: List, names: readonly string[], last: boolean): List =>
  names.reduce(
    (found, name, index) =>
      applyStep(found, (item) => readField(item, name), last && index === names.length - 1),
    list,
  );

/** Reads a path of names from a value that is not a single object. */
export const readPath = (value: unknown, names: readonly string[]): unknown =>
  Array.isArray(value) ? collapse(followNames(listItems(value), names, true)) : undefined;
