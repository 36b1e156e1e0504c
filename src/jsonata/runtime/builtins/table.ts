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
  average: [numbers.average, 1, "<a<n>:n>"],
  number: [numbers.number, 1, "<(nsb)-:n>"],
  abs: [numbers.abs, 1, "<n-:n>"],
  floor: [numbers.floor, 1, "<n-:n>"],
  ceil: [numbers.ceil, 1, "<n-:n>"],
  round: [numbers.round, 2, "<n-n?:n>"],
  sqrt: [numbers.sqrt, 1, "<n-:n>"],
  power: [numbers.power, 2, "<n-n:n>"],
  formatBase: [numbers.formatBase, 2, "<n-n?:s>"],
  toMillis: [time.toMillis, 2, "<s-s?:n>"],
  fromMillis: [time.fromMillis, 3, "<n-s?s?:s>"],
};

const onStrings: Readonly<Record<string, Entry>> = {
  string: [strings.string, 1, "<x-b?:s>"],
  length: [strings.length, 1, "<s-:n>"],
  substring: [strings.substring, 3, "<s-nn?:s>"],
  substringBefore: [strings.substringBefore, 2, "<s-s:s>"],
  substringAfter: [strings.substringAfter, 2, "<s-s:s>"],
  lowercase: [strings.lowercase, 1, "<s-:s>"],
  uppercase: [strings.uppercase, 1, "<s-:s>"],
  trim: [strings.trim, 1, "<s-:s>"],
  pad: [strings.pad, 3, "<s-ns?:s>"],
  join: [strings.join, 2, "<a<s>s?:s>"],
  match: [regex.match, 3, "<s-f<s:o>n?:a<o>>"],
  contains: [regex.contains, 2, "<s-(sf):b>"],
  replace: [regex.replace, 4, "<s-(sf)(sf)n?:s>"],
  split: [regex.split, 3, "<s-(sf)n?:a<s>>"],
  base64encode: [strings.base64encode, 1, "<s-:s>"],
  base64decode: [strings.base64decode, 1, "<s-:s>"],
  encodeUrlComponent: [strings.encodeUrlComponent, 1, "<s-:s>"],
  encodeUrl: [strings.encodeUrl, 1, "<s-:s>"],
  decodeUrlComponent: [strings.decodeUrlComponent, 1, "<s-:s>"],
  decodeUrl: [strings.decodeUrl, 1, "<s-:s>"],
};

const onAnything: Readonly<Record<string, Entry>> = {
  boolean: [(value: unknown) => (value === undefined ? undefined : isTruthy(value)), 1, "<x-:b>"],
  not: [(value: unknown) => (value === undefined ? undefined : !isTruthy(value)), 1, "<x-:b>"],
  exists: [(value: unknown) => value !== undefined, 1, "<x:b>"],
  type: [objects.type, 1, "<x:s>"],
  error: [objects.error, 1, "<s?:x>"],
  assert: [objects.assert, 2, "<bs?:x>"],
  keys: [objects.keys, 1, "<x-:a<s>>"],
  lookup: [objects.lookup, 2, "<x-s:x>"],
  spread: [objects.spread, 1, "<x-:a<o>>"],
  merge: [objects.merge, 1, "<a<o>:o>"],
  clone: [(value: unknown) => objects.clone(value, printText), 1, "<(oa)-:o>"],
  append: [append, 2, "<xx:a>"],
  reverse: [arrays.reverse, 1, "<a:a>"],
  distinct: [arrays.distinct, 1, "<x:x>"],
  zip: [arrays.zip, 0, "<a+>"],
  map: [higherOrder.map, 2, "<af>"],
  filter: [higherOrder.filter, 2, "<af>"],
  single: [higherOrder.single, 2, "<af?>"],
  reduce: [higherOrder.reduce, 3, "<afj?:j>"],
  sift: [higherOrder.sift, 2, "<o-f?:o>"],
  each: [higherOrder.each, 2, "<o-f:a>"],
  sort: [higherOrder.sort, 2, "<af?:a>"],
};

/** Built-in functions that compiled expressions call in the package `jsonata`: no pack calls them often. */
const LIBRARY_FUNCTIONS = "formatInteger formatNumber parseInteger";

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

/** All built-in functions by name. */
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
  eval: "runs data as code",
  now: "reads the clock",
  millis: "reads the clock",
  random: "is random",
  shuffle: "is random",
};
