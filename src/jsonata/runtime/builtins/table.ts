import type { Builtin, Callable } from "../call.ts";
import { CALLER, findLibraryFunction } from "../library.ts";
import { createCheck } from "../signature.ts";
import { fromMillis, join, map, string } from "./own-functions.ts";
import { contains, replace, split } from "./regex.ts";

/** Functions that have their own implementation here. */
const OWN_FUNCTIONS = {
  contains,
  fromMillis,
  join,
  map,
  replace,
  split,
  string,
} as Readonly<Record<string, Callable>>;

/** Functions of the package, which compiled expressions call directly. */
const LIBRARY_FUNCTIONS =
  "abs append assert average base64decode base64encode boolean ceil clone count decodeUrl decodeUrlComponent distinct " +
  "encodeUrl encodeUrlComponent error exists floor formatBase formatInteger formatNumber keys length lookup lowercase " +
  "max merge min not number pad parseInteger power reverse round spread sqrt substring substringAfter substringBefore " +
  "sum toMillis trim type uppercase zip";

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
  [...Object.keys(OWN_FUNCTIONS), ...LIBRARY_FUNCTIONS.split(" ")].map((name) => [name, createBuiltin(name)]),
);

/** Built-in functions that call functions. The package does this asynchronously, so only the interpreter supports them. */
const HIGHER_ORDER_FUNCTIONS = "each filter match reduce sift single sort".split(" ");

/** Impure functions, with the reason: clock, random numbers, and code from data. A result may only depend on the input. */
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

/** Built-in functions that compiled expressions can't call, with the reasons. */
export const NOT_COMPILED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    HIGHER_ORDER_FUNCTIONS.map((name) => [
      name,
      "runs in the package jsonata, which calls functions asynchronously",
    ]),
  ),
  ...IMPURE_FUNCTIONS,
};
