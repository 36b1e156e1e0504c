import { apply, arityOf, type Callable } from "../call.ts";
import { tick } from "../guard.ts";
import { sequence, type List } from "../sequence.ts";
import { mergeSort } from "../sort.ts";
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

/** `$sort`. The function returns whether two values are in the wrong order. */
export function sort(values: unknown[] | undefined, called?: Callable): unknown[] | undefined {
  if (values === undefined || values.length <= 1) return values;
  tick(values.length);
  const swaps = called
    ? (first: unknown, second: unknown) => Boolean(callFunction(called, [first, second]))
    : createNaturalOrder(values);
  return mergeSort(values, swaps);
}
