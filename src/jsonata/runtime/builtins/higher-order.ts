import { apply, arityOf, type Callable } from "../call.ts";
import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { sequence, type List } from "../sequence.ts";
import { mergeSort } from "../sort.ts";
import { setMember } from "../../../base/index.ts";
import { isTruthy } from "../values.ts";
import { createNaturalOrder } from "./arrays.ts";

/** Calls a function with as many of these arguments as it takes: value, index, the whole list. */
function callWithArity(called: Callable, value: unknown, index: unknown, all: unknown): unknown {
  const arity = arityOf(called);
  const args = arity >= 3 ? [value, index, all] : arity === 2 ? [value, index] : [value];
  return callFunction(called, args);
}

/** Calls a function that was passed as an argument. Such a function handles errors and tail calls itself. */
export function callFunction(called: Callable, args: unknown[]): unknown {
  if (called.kind) return apply(called, args, null);
  tick();
  return called(...args);
}

/** `$map`: the results of a function for all members. */
export function map(values: readonly unknown[] | undefined, called: Callable): List | undefined {
  if (values === undefined) return undefined;
  const results = sequence();
  for (const [index, value] of values.entries()) {
    const result = callWithArity(called, value, index, values);
    if (result !== undefined) results.push(result);
  }
  return results;
}

/** `$filter`: the members that a function accepts. */
export function filter(values: readonly unknown[] | undefined, called: Callable): List | undefined {
  if (values === undefined) return undefined;
  const accepted = sequence();
  for (const [index, value] of values.entries())
    if (isTruthy(callWithArity(called, value, index, values))) accepted.push(value);
  return accepted;
}

/** `$single`: the only member that a function accepts. @throws {Failure} D3138, D3139 */
export function single(values: readonly unknown[] | undefined, called?: Callable): unknown {
  if (values === undefined) return undefined;
  let found: { readonly value: unknown } | undefined;
  for (const [index, value] of values.entries()) {
    if (called && !isTruthy(callWithArity(called, value, index, values))) continue;
    if (found) throw new Failure("D3138");
    found = { value };
  }
  if (!found) throw new Failure("D3139");
  return found.value;
}

/** `$reduce`: combines all members into one value. @throws {Failure} D3050 */
export function reduce(values: readonly unknown[] | undefined, called: Callable, initial?: unknown): unknown {
  if (values === undefined) return undefined;
  const arity = arityOf(called);
  if (arity < 2) throw new Failure("D3050");
  const seeded = initial !== undefined || values.length === 0;
  let result = seeded ? initial : values[0];
  for (let index = seeded ? 0 : 1; index < values.length; index += 1) {
    const args = [result, values[index], index, values];
    result = callFunction(called, args.slice(0, Math.min(arity, 4)));
  }
  return result;
}

const entries = (object: unknown): [string, unknown][] =>
  typeof object === "object" && object !== null ? Object.entries(object) : [];

/** `$each`: the results of a function for all members of an object. */
export function each(object: unknown, called: Callable): List {
  const results = sequence();
  for (const [name, value] of entries(object)) {
    const result = callWithArity(called, value, name, object);
    if (result !== undefined) results.push(result);
  }
  return results;
}

/** `$sift`: the members that a function accepts; undefined if it accepts none. */
export function sift(object: unknown, called: Callable): Record<string, unknown> | undefined {
  const accepted: Record<string, unknown> = {};
  for (const [name, value] of entries(object))
    if (isTruthy(callWithArity(called, value, name, object))) setMember(accepted, name, value);
  return Object.keys(accepted).length > 0 ? accepted : undefined;
}

/** `$sort`. The function returns whether two values are in the wrong order. */
export function sort(values: unknown[] | undefined, called?: Callable): unknown[] | undefined {
  if (values === undefined || values.length <= 1) return values;
  tick(values.length);
  const swaps = called
    ? (first: unknown, second: unknown) => Boolean(callFunction(called, [first, second]))
    : createNaturalOrder(values);
  return mergeSort(values, swaps);
}
