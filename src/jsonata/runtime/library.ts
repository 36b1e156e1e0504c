/** The functions of the package `jsonata`, with additional limits. Interpreted and compiled expressions share them. */
import jsonata from "jsonata";
import { thenMaybe, type MaybePromise } from "../language/maybe-promise.ts";
import { Failure } from "./failure.ts";
import { checkSize, checkText, MAX_TEXT } from "./guard.ts";
import { sequence } from "./sequence.ts";
import type { ParsedSignature } from "./signature.ts";

/** The implementation of a function. Some functions read the evaluation that calls them as `this`. */
type Implementation = (this: unknown, ...args: unknown[]) => MaybePromise<unknown>;

/** A built-in function of jsonata. */
interface LibraryFunction {
  readonly _jsonata_function: true;
  readonly implementation: Implementation;
  readonly signature: ParsedSignature;
}

/** The members of jsonata's environments that are read here. */
export interface Environment {
  /** An object that stays the same during one evaluation. */
  readonly base: object;
  /** Returns the value to which a name is bound. */
  readonly lookup: (name: string) => unknown;
}

/** jsonata calls the function under this name before each step, with the environment of the evaluation. */
export const ON_ENTRY = Symbol.for("jsonata.__evaluate_entry") as unknown as string;

/** Returns jsonata's environment. An evaluation enters its first step synchronously. */
function findEnvironment(): Environment {
  const found: Environment[] = [];
  const program = jsonata("0");
  program.assign(ON_ENTRY, (_node: unknown, _input: unknown, environment: Environment) => {
    found.push(environment);
  });
  void program.evaluate(undefined);
  const [environment] = found;
  if (!environment) throw new TypeError("jsonata does not enter the first step of an evaluation at once");
  return environment;
}

const environment = findEnvironment();

/** Functions that create texts or copies, or use memory in proportion to a text. */
const TEXT_FUNCTIONS = new Set(
  (
    "string join pad replace base64encode base64decode uppercase lowercase trim encodeUrl encodeUrlComponent " +
    "decodeUrl decodeUrlComponent substring length split clone distinct spread"
  ).split(" "),
);

/**
 * Maximum number of values and characters that a function may copy: `clone` copies a whole object, and the other
 * functions take quadratic time.
 */
const MOST_COPIED: Readonly<Record<string, number>> = { clone: 100_000, distinct: 10_000, spread: 10_000 };

/** Functions whose second argument is a picture. */
const PICTURE_FUNCTIONS = new Set([
  "formatNumber",
  "formatInteger",
  "parseInteger",
  "fromMillis",
  "toMillis",
]);

/** Maximum length of a picture. Longer pictures are mistakes or attacks. */
const MAX_PICTURE = 1000;

/** The components of the picture of a time: `[Y0001]`, `[f,3-3]`. */
const COMPONENT = /\[([^[\]]*)\]/g;

/** Whether a component of a picture of a time requests more than 999 digits. */
const asksForTooMuch = (picture: string): boolean =>
  [...picture.matchAll(COMPONENT)].some(([, component = ""]) => /\d{4}/.test(component.split(",")[1] ?? ""));

/** @throws {Failure} too_large if a picture is too long, or requests too many digits */
function checkPicture(picture: unknown): void {
  if (typeof picture === "string" && (picture.length > MAX_PICTURE || asksForTooMuch(picture)))
    throw new Failure("too_large", `a picture has more than ${MAX_PICTURE} characters or digits`);
}

/**
 * Returns the date of a time in a time zone, `+hhmm`. As in JSONata, a zone behind UTC with minutes is an hour too
 * early: -0130 is -2 h -30 min. JSONata itself prints `0NaN-NaN-NaN` for a number outside the range of dates.
 *
 * @throws {Failure} no_date
 */
export function dateIn(millis: number, zone?: string): Date {
  // oxlint-disable-next-line radix -- as in JSONata, 0x is a prefix
  const offset = zone === undefined ? 0 : Number.parseInt(zone);
  const date = new Date(millis + (60 * Math.floor(offset / 100) + (offset % 100)) * 60_000);
  if (Number.isNaN(date.getTime())) throw new Failure("no_date");
  return date;
}

/** Limits the arguments of a function, which determine the memory that it uses, and the range of dates. */
function checkArguments(name: string, args: readonly unknown[]): void {
  if (PICTURE_FUNCTIONS.has(name)) checkPicture(args[1]);
  if (name === "fromMillis" && args[0] !== undefined)
    dateIn(args[0] as number, args[2] as string | undefined);
  if (name === "pad") checkText(Math.abs(Number(args[1])), "$pad");
  if (!TEXT_FUNCTIONS.has(name)) return;
  for (const value of args)
    if (typeof value !== "function") checkSize(value, `$${name}`, MOST_COPIED[name] ?? MAX_TEXT);
}

/** Limits the size of a function's result. JSONata's own `$toMillis` returns NaN for a text such as `2020-13-01`. */
function checkResult(name: string, result: unknown, picture: unknown): void {
  if (name === "toMillis" && Number.isNaN(result))
    throw new Failure(picture === undefined ? "D3110" : "no_date");
  if (typeof result === "string" && TEXT_FUNCTIONS.has(name)) checkText(result.length, `$${name}`);
}

function limit(name: string): LibraryFunction {
  const builtin = environment.lookup(name) as LibraryFunction;
  const { implementation: original } = builtin;
  const implementation: Implementation = function limited(this: unknown, ...args) {
    checkArguments(name, args);
    return thenMaybe(original.apply(this, args), (result) => {
      checkResult(name, result, args[1]);
      return result;
    });
  };
  // For partial applications, jsonata reads the parameters from the source text of a function.
  Object.defineProperties(implementation, {
    length: { value: original.length },
    toString: { value: () => String(original) },
  });
  return { ...builtin, implementation };
}

/**
 * Functions whose arguments jsonata checks too little: functions of texts and pictures, and of times outside of all
 * dates.
 */
export const LIMITED_FUNCTIONS: Readonly<Record<string, LibraryFunction>> = Object.fromEntries(
  [...TEXT_FUNCTIONS, ...PICTURE_FUNCTIONS].map((name) => [name, limit(name)]),
);

/** Returns a built-in function of jsonata. */
export const findLibraryFunction = (name: string): LibraryFunction =>
  LIMITED_FUNCTIONS[name] ?? (environment.lookup(name) as LibraryFunction);

/**
 * The members that jsonata's functions read from the evaluation that calls them. `$toMillis` completes a picture
 * without a year.
 */
export const CALLER = {
  createSequence: sequence,
  environment: {
    get timestamp() {
      return new Date();
    },
  },
};
