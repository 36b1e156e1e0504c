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

/** Wraps the implementation of a function. */
type Wrap = (implementation: Implementation) => Implementation;

/** Functions that create texts or copies, or use memory in proportion to a text. */
const TEXT_FUNCTIONS =
  "string join pad replace base64encode base64decode uppercase lowercase trim encodeUrl encodeUrlComponent " +
  "decodeUrl decodeUrlComponent substring length split clone distinct spread";

/**
 * Maximum number of values and characters that a function may copy: `clone` copies a whole object, and the other
 * functions take quadratic time.
 */
const MOST_COPIED: Readonly<Record<string, number>> = { clone: 100_000, distinct: 10_000, spread: 10_000 };

/** Limits the size of a function's result and of its arguments, which determine the memory that the function uses. */
const limitTexts =
  (name: string): Wrap =>
  (implementation) =>
    function limited(this: unknown, ...args) {
      const by = `$${name}`;
      for (const value of args)
        if (typeof value !== "function") checkSize(value, by, MOST_COPIED[name] ?? MAX_TEXT);
      if (name === "pad") checkText(Math.abs(Number(args[1])), by);
      return thenMaybe(implementation.apply(this, args), (result) => {
        if (typeof result === "string") checkText(result.length, by);
        return result;
      });
    };

/** Functions whose second argument is a picture. */
const PICTURE_FUNCTIONS = "formatNumber formatInteger parseInteger fromMillis toMillis";

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

/** Limits the picture of a function. */
const limitPictures: Wrap = (implementation) =>
  function limited(this: unknown, ...args) {
    checkPicture(args[1]);
    return implementation.apply(this, args);
  };

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

/**
 * Checks the result of `$toMillis`. JSONata itself returns NaN for a text such as `2020-13-01`.
 *
 * @throws {Failure} D3110, or no_date with a picture
 */
function checkMillis(millis: number | undefined, picture: string | undefined): number | undefined {
  if (Number.isNaN(millis)) throw new Failure(picture === undefined ? "D3110" : "no_date");
  return millis;
}

const rejectOtherTimes: Wrap = (implementation) =>
  function fromMillis(this: unknown, ...args) {
    const [millis, , zone] = args as [number | undefined, unknown, string | undefined];
    if (millis !== undefined) dateIn(millis, zone);
    return implementation.apply(this, args);
  };

const rejectOtherDates: Wrap = (implementation) =>
  function toMillis(this: unknown, ...args) {
    const [, picture] = args as (string | undefined)[];
    return checkMillis(implementation.apply(this, args) as number | undefined, picture);
  };

function wrapFunction(name: string, ...wraps: readonly Wrap[]): LibraryFunction {
  const builtin = environment.lookup(name) as LibraryFunction;
  const original = builtin.implementation;
  const implementation = wraps.reduce((wrapped, wrap) => wrap(wrapped), original);
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
export const LIMITED_FUNCTIONS: Readonly<Record<string, LibraryFunction>> = {
  ...Object.fromEntries(
    TEXT_FUNCTIONS.split(" ").map((name) => [name, wrapFunction(name, limitTexts(name))]),
  ),
  ...Object.fromEntries(
    PICTURE_FUNCTIONS.split(" ").map((name) => [name, wrapFunction(name, limitPictures)]),
  ),
  fromMillis: wrapFunction("fromMillis", rejectOtherTimes, limitPictures),
  toMillis: wrapFunction("toMillis", rejectOtherDates, limitPictures),
};

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
