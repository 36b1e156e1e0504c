import type { Builtin, Callable } from "../call.ts";
import { CALLER, findLibraryFunction } from "../library.ts";
import { createCheck } from "../signature.ts";
import { map } from "./map.ts";
import { contains, replace, split } from "./regex.ts";
import { join, string } from "./strings.ts";
import { fromMillis } from "./time.ts";

/** Functions that are asynchronous or slow in the package, or whose errors must name the size limit. */
const OWN_FUNCTIONS = {
  contains,
  fromMillis,
  join,
  map,
  replace,
  split,
  string,
} as Readonly<Record<string, Callable>>;

/** Other functions that the packs of this repository use. */
const COMMON_FUNCTIONS =
  "assert boolean count exists floor keys lookup lowercase merge not number round substring substringAfter " +
  "substringBefore toMillis trim type uppercase";

/** Functions that no pack of this repository uses. `check` says where they are called. */
const RARE_FUNCTIONS =
  "abs append average base64decode base64encode ceil clone decodeUrl decodeUrlComponent distinct encodeUrl encodeUrlComponent error " +
  "formatBase formatInteger formatNumber length max min pad parseInteger power reverse spread sqrt sum zip";

const isRare: ReadonlySet<string> = new Set(RARE_FUNCTIONS.split(" "));

/** Functions that a call with a second argument, a picture, makes slow. */
const WITH_PICTURES: ReadonlySet<string> = new Set(["fromMillis", "toMillis"]);

/** Whether `check` reports a call of a built-in function with this many arguments as left to the package `jsonata`. */
export const isLeftToLibrary = (name: string, count: number): boolean =>
  isRare.has(name) || (WITH_PICTURES.has(name) && count > 1);

/** Creates a function of compiled expressions from the package's function, with its signature. */
function createBuiltin(name: string): Builtin {
  const { implementation, signature } = findLibraryFunction(name);
  return {
    name,
    run: OWN_FUNCTIONS[name] ?? implementation.bind(CALLER),
    check: createCheck(signature),
  };
}

/** All built-in functions of compiled expressions by name. */
export const BUILTINS: Readonly<Record<string, Builtin>> = Object.fromEntries(
  [...Object.keys(OWN_FUNCTIONS), ...COMMON_FUNCTIONS.split(" "), ...isRare].map((name) => [
    name,
    createBuiltin(name),
  ]),
);

/** Built-in functions that call functions, which the package does asynchronously: only the interpreter supports them. */
const HIGHER_ORDER_FUNCTIONS = "each filter match reduce sift single sort".split(" ");

/** Clock, random numbers, and code from data, with the reason: a result must depend on the input alone. */
const IMPURE_FUNCTIONS: Readonly<Record<string, string>> = {
  eval: "runs data as code",
  now: "reads the clock",
  millis: "reads the clock",
  random: "is random",
  shuffle: "is random",
};

/** Whether the result of a built-in function depends only on its arguments. */
export const isPure = (name: string): boolean =>
  Object.hasOwn(BUILTINS, name) || HIGHER_ORDER_FUNCTIONS.includes(name);

export const isImpure = (name: string): boolean => Object.hasOwn(IMPURE_FUNCTIONS, name);

/** Built-in functions that compiled expressions can't call, with the reason. */
export const NOT_COMPILED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    HIGHER_ORDER_FUNCTIONS.map((name) => [
      name,
      "runs in the package jsonata, which calls functions asynchronously",
    ]),
  ),
  ...IMPURE_FUNCTIONS,
};
