import { callFunction, type Callable } from "../call.ts";
import { sequence, type List } from "../sequence.ts";

/** `$map`: the results of a function for all members. It gets as many arguments as it takes: value, index, the whole list. */
export function map(values: readonly unknown[] | undefined, called: Callable): List | undefined {
  if (values === undefined) return undefined;
  const results = sequence();
  for (const [index, value] of values.entries()) {
    const args = [value, index, values].slice(0, Math.max(1, called.length));
    const result = callFunction(called, args);
    if (result !== undefined) results.push(result);
  }
  return results;
}
