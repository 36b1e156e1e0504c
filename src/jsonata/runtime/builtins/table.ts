import type { Builtin, Callable } from "../call.ts";
import { callLibrary, findLibraryFunction } from "../library.ts";
import { parseSignature, signatureFromAst } from "../signature.ts";
import { isTruthy } from "../values.ts";
import { map } from "./map.ts";
import * as numbers from "./numbers.ts";
import * as objects from "./objects.ts";
import * as regex from "./regex.ts";
import * as strings from "./strings.ts";
import * as time from "./time.ts";

/** The implementation of a built-in function, and its signature in JSONata's notation. */
type Entry = readonly [run: (...args: never[]) => unknown, signature: string];

const onNumbers: Readonly<Record<string, Entry>> = {
  count: [numbers.count, "<a:n>"],
  number: [numbers.number, "<(nsb)-:n>"],
  floor: [numbers.floor, "<n-:n>"],
  round: [numbers.round, "<n-n?:n>"],
  toMillis: [time.toMillis, "<s-s?:n>"],
  fromMillis: [time.fromMillis, "<n-s?s?:s>"],
};

const onStrings: Readonly<Record<string, Entry>> = {
  string: [strings.string, "<x-b?:s>"],
  substring: [strings.substring, "<s-nn?:s>"],
  substringBefore: [strings.substringBefore, "<s-s:s>"],
  substringAfter: [strings.substringAfter, "<s-s:s>"],
  lowercase: [strings.lowercase, "<s-:s>"],
  uppercase: [strings.uppercase, "<s-:s>"],
  trim: [strings.trim, "<s-:s>"],
  join: [strings.join, "<a<s>s?:s>"],
  contains: [regex.contains, "<s-(sf):b>"],
  replace: [regex.replace, "<s-(sf)(sf)n?:s>"],
  split: [regex.split, "<s-(sf)n?:a<s>>"],
};

const onAnything: Readonly<Record<string, Entry>> = {
  boolean: [(value: unknown) => (value === undefined ? undefined : isTruthy(value)), "<x-:b>"],
  not: [(value: unknown) => (value === undefined ? undefined : !isTruthy(value)), "<x-:b>"],
  exists: [(value: unknown) => value !== undefined, "<x:b>"],
  type: [objects.type, "<x:s>"],
  assert: [objects.assert, "<bs?:x>"],
  keys: [objects.keys, "<x-:a<s>>"],
  lookup: [objects.lookup, "<x-s:x>"],
  merge: [objects.merge, "<a<o>:o>"],
  map: [map, "<af>"],
};

/** Functions that no pack of this repository uses. Compiled expressions call them in the package `jsonata`. */
const LIBRARY_FUNCTIONS =
  "abs append average base64decode base64encode ceil clone decodeUrl decodeUrlComponent distinct encodeUrl encodeUrlComponent error " +
  "formatBase formatInteger formatNumber length max min pad parseInteger power reverse spread sqrt sum zip";

const IN_LIBRARY: ReadonlySet<string> = new Set(LIBRARY_FUNCTIONS.split(" "));

/** Functions that a call with a second argument, a picture, leaves to the package. */
const WITH_PICTURES: ReadonlySet<string> = new Set(["fromMillis", "toMillis"]);

/** Whether a call of a built-in function with this many arguments runs in the package `jsonata`. */
export const isLeftToLibrary = (name: string, count: number): boolean =>
  IN_LIBRARY.has(name) || (WITH_PICTURES.has(name) && count > 1);

/** All built-in functions of compiled expressions by name. */
export const BUILTINS: Readonly<Record<string, Builtin>> = Object.fromEntries(
  [
    ...Object.entries({ ...onNumbers, ...onStrings, ...onAnything }).map(([name, [run, taken]]): Builtin => ({
      name,
      run: run as Callable,
      signature: parseSignature(taken),
    })),
    ...[...IN_LIBRARY].map((name): Builtin => ({
      name,
      run: (...args) => callLibrary(name, ...args),
      signature: signatureFromAst(findLibraryFunction(name).signature),
    })),
  ].map((builtin) => [builtin.name, builtin]),
);

/** Built-in functions that only the interpreter supports, with the reason. */
export const NOT_COMPILED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["each", "filter", "match", "reduce", "sift", "single", "sort"].map((name) => [
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
