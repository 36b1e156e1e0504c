import { apply, arityOf, type Callable } from "../call.ts";
import { Failure } from "../failure.ts";
import { tick } from "../guard.ts";
import { sequence, type List } from "../sequence.ts";
import { mergeSort } from "../sort.ts";
import { put, truth } from "../values.ts";
import { naturally } from "./arrays.ts";

/** Built-in functions that call another. It is given as many arguments as it takes: value, place, everything. */

function invoke(called: Callable, value: unknown, place: unknown, all: unknown): unknown {
  const taken = arityOf(called);
  const args = taken >= 3 ? [value, place, all] : taken === 2 ? [value, place] : [value];
  return callBack(called, args);
}

/** A function that was handed on as an argument brings its own call with it. */
export function callBack(called: Callable, args: unknown[]): unknown {
  if (called.kind) return apply(called, args, null);
  tick();
  return called(...args);
}

export function map(values: readonly unknown[] | undefined, called: Callable): List | undefined {
  if (values === undefined) return undefined;
  const results = sequence();
  for (const [index, value] of values.entries()) {
    const result = invoke(called, value, index, values);
    if (result !== undefined) results.push(result);
  }
  return results;
}

export function filter(values: readonly unknown[] | undefined, called: Callable): List | undefined {
  if (values === undefined) return undefined;
  const kept = sequence();
  for (const [index, value] of values.entries())
    if (truth(invoke(called, value, index, values))) kept.push(value);
  return kept;
}

export function single(values: readonly unknown[] | undefined, called?: Callable): unknown {
  if (values === undefined) return undefined;
  let found: { readonly value: unknown } | undefined;
  for (const [index, value] of values.entries()) {
    if (called && !truth(invoke(called, value, index, values))) continue;
    if (found) throw new Failure("D3138");
    found = { value };
  }
  if (!found) throw new Failure("D3139");
  return found.value;
}

export function reduce(values: readonly unknown[] | undefined, called: Callable, initial?: unknown): unknown {
  if (values === undefined) return undefined;
  const taken = arityOf(called);
  if (taken < 2) throw new Failure("D3050");
  const seeded = initial !== undefined || values.length === 0;
  let result = seeded ? initial : values[0];
  for (let index = seeded ? 0 : 1; index < values.length; index += 1) {
    const args = [result, values[index], index, values];
    result = callBack(called, args.slice(0, Math.min(taken, 4)));
  }
  return result;
}

const entries = (object: unknown): [string, unknown][] =>
  typeof object === "object" && object !== null ? Object.entries(object) : [];

export function each(object: unknown, called: Callable): List {
  const results = sequence();
  for (const [name, value] of entries(object)) {
    const result = invoke(called, value, name, object);
    if (result !== undefined) results.push(result);
  }
  return results;
}

/** The members that a function keeps; no object at all when it keeps none. */
export function sift(object: unknown, called: Callable): Record<string, unknown> | undefined {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of entries(object))
    if (truth(invoke(called, value, name, object))) put(kept, name, value);
  return Object.keys(kept).length > 0 ? kept : undefined;
}

/** Sorts by a function that says whether two must change places. */
export function sort(values: unknown[] | undefined, called?: Callable): unknown[] | undefined {
  if (values === undefined || values.length <= 1) return values;
  tick(values.length);
  const swaps = called
    ? (first: unknown, second: unknown) => Boolean(callBack(called, [first, second]))
    : naturally(values);
  return mergeSort(values, swaps);
}
