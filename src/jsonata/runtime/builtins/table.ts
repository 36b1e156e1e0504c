import { createBuiltin, type Callable } from "../call.ts";
import { checkItems, checkText, tickArguments } from "../guard.ts";
import { callLibrary, findLibraryFunction } from "../library.ts";
import { parseSignature, signatureFromAst, type Signature } from "../signature.ts";
import { append } from "../sequence.ts";
import { printText, isTruthy } from "../values.ts";
import * as arrays from "./arrays.ts";
import * as higherOrder from "./higher-order.ts";
import * as numbers from "./numbers.ts";
import * as objects from "./objects.ts";
import * as regex from "./regex.ts";
import * as strings from "./strings.ts";
import * as time from "./time.ts";

/** The implementation of a built-in function, its arity, and its signature in JSONata's notation. */
type Entry = readonly [run: (...args: never[]) => unknown, arity: number, signature: string];

const onNumbers: Readonly<Record<string, Entry>> = {
  sum: [numbers.sum, 1, "<a<n>:n>"],
  count: [numbers.count, 1, "<a:n>"],
  max: [numbers.max, 1, "<a<n>:n>"],
  min: [numbers.min, 1, "<a<n>:n>"],
  number: [numbers.number, 1, "<(nsb)-:n>"],
  floor: [numbers.floor, 1, "<n-:n>"],
  round: [numbers.round, 2, "<n-n?:n>"],
  toMillis: [time.toMillis, 2, "<s-s?:n>"],
  fromMillis: [time.fromMillis, 3, "<n-s?s?:s>"],
};

const onStrings: Readonly<Record<string, Entry>> = {
  string: [strings.string, 1, "<x-b?:s>"],
  substring: [strings.substring, 3, "<s-nn?:s>"],
  substringBefore: [strings.substringBefore, 2, "<s-s:s>"],
  substringAfter: [strings.substringAfter, 2, "<s-s:s>"],
  lowercase: [strings.lowercase, 1, "<s-:s>"],
  uppercase: [strings.uppercase, 1, "<s-:s>"],
  trim: [strings.trim, 1, "<s-:s>"],
  join: [strings.join, 2, "<a<s>s?:s>"],
  contains: [regex.contains, 2, "<s-(sf):b>"],
  replace: [regex.replace, 4, "<s-(sf)(sf)n?:s>"],
  split: [regex.split, 3, "<s-(sf)n?:a<s>>"],
};

const onAnything: Readonly<Record<string, Entry>> = {
  boolean: [(value: unknown) => (value === undefined ? undefined : isTruthy(value)), 1, "<x-:b>"],
  not: [(value: unknown) => (value === undefined ? undefined : !isTruthy(value)), 1, "<x-:b>"],
  exists: [(value: unknown) => value !== undefined, 1, "<x:b>"],
  type: [objects.type, 1, "<x:s>"],
  assert: [objects.assert, 2, "<bs?:x>"],
  keys: [objects.keys, 1, "<x-:a<s>>"],
  lookup: [objects.lookup, 2, "<x-s:x>"],
  merge: [objects.merge, 1, "<a<o>:o>"],
  clone: [(value: unknown) => objects.clone(value, printText), 1, "<(oa)-:o>"],
  append: [append, 2, "<xx:a>"],
  // jsonata's own one takes quadratic time without a limit.
  distinct: [arrays.distinct, 1, "<x:x>"],
  map: [higherOrder.map, 2, "<af>"],
  sort: [higherOrder.sort, 2, "<af?:a>"],
};

/** Functions that no pack of this repository uses. Compiled expressions call them in the package `jsonata`. */
const LIBRARY_FUNCTIONS =
  "abs average base64decode base64encode ceil decodeUrl decodeUrlComponent encodeUrl encodeUrlComponent error " +
  "formatBase formatInteger formatNumber length pad parseInteger power reverse spread sqrt zip";

const IN_LIBRARY: ReadonlySet<string> = new Set(LIBRARY_FUNCTIONS.split(" "));

/** Functions that a call with a second argument, a picture, leaves to the package. */
const WITH_PICTURES: ReadonlySet<string> = new Set(["fromMillis", "toMillis"]);

/** Whether a call of a built-in function with so many arguments runs in the package `jsonata`. */
export const isLeftToLibrary = (name: string, count: number): boolean =>
  IN_LIBRARY.has(name) || (WITH_PICTURES.has(name) && count > 1);

/** Wraps a function with the limits of an evaluation. Each has its own wrapper: calls set properties on it. */
function createLimited(
  name: string,
  run: (...args: never[]) => unknown,
  arity: number,
  signature: Signature,
): readonly [string, Callable] {
  const called = (...args: unknown[]): unknown => {
    tickArguments(args);
    const result = run(...(args as never[]));
    if (typeof result === "string") checkText(result.length, `$${name}`);
    else if (Array.isArray(result)) checkItems(result.length, `$${name}`);
    return result;
  };
  return [name, createBuiltin(called, arity, signature)];
}

/** All built-in functions of compiled expressions by name. */
export const BUILTINS: Readonly<Record<string, Callable>> = Object.fromEntries([
  ...Object.entries({ ...onNumbers, ...onStrings, ...onAnything }).map(([name, [run, arity, taken]]) =>
    createLimited(name, run, arity, parseSignature(taken)),
  ),
  ...[...IN_LIBRARY].map((name) => {
    const { implementation, signature } = findLibraryFunction(name);
    const run = (...args: unknown[]): unknown => callLibrary(name, ...args);
    return createLimited(name, run, implementation.length, signatureFromAst(signature));
  }),
]);

/** Built-in functions that only the interpreter supports, with the reason. */
export const NOT_COMPILED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["each", "filter", "match", "reduce", "sift", "single"].map((name) => [
      name,
      "runs in the package jsonata, which calls functions asynchronously",
    ]),
  ),
  eval: "runs data as code",
  now: "reads the clock",
  millis: "reads the clock",
  random: "is random",
  shuffle: "is random",
};
