import { Failure } from "./failure.ts";

/**
 * Limits of one evaluation, under the names of jsonata's options. Packs are written by operators, so the limits protect
 * against mistakes: endless recursion, endless loops, and results that fill the memory. `stack` counts the steps of the
 * interpreter, or the nested calls of a compiled expression; `sequence` counts the items of a list.
 */
export const GUARDS = { stack: 500, sequence: 100_000 } as const;

/**
 * Maximum number of steps of one compiled evaluation: calls, items of lists, and parts of long texts. Time is not
 * limited, because a busy machine would then fail requests.
 */
const MAX_STEPS = 5_000_000;

/** Maximum number of characters of a text that an expression creates. */
export const MAX_TEXT = 1_000_000;

/** Maximum number of values and characters of a result. A part that occurs twice counts twice. */
export const MAX_RESULT = 2_000_000;

/**
 * JSONata's code for a list that is too long. The other code is the gateway's own: JSONata does not limit texts and
 * results.
 */
const LIST_TOO_LONG = "D2015";
const TOO_LARGE = "too_large";

/** Checks the length of a list. @param by the function or operator that creates the list @throws {Failure} D2015 */
export function checkItems(length: number, by: string): void {
  if (length > GUARDS.sequence)
    throw new Failure(LIST_TOO_LONG, `${by} gives a list of more than ${GUARDS.sequence} items`);
}

/** Checks the length of a text. @param by the function or operator that creates the text @throws {Failure} too_large */
export function checkText(length: number, by: string): void {
  if (length > MAX_TEXT)
    throw new Failure(TOO_LARGE, `${by} gives a text of more than ${MAX_TEXT} characters`);
}

/**
 * Checks the size of a value before it is copied or printed. Two members can be the same object, so a few steps of an
 * expression can create a value that does not fit into memory once it is printed.
 *
 * @param by The function that creates the value.
 * @param most Maximum number of values and characters.
 * @throws {Failure} too_large
 */
export function checkSize(value: unknown, by: string, most: number): void {
  if (subtractSize(most, value) < 0)
    throw new Failure(TOO_LARGE, `${by} gives more than ${most} values and characters`);
}

/**
 * In the interpreter, built-in functions and lambdas are objects with one of these members. They refer to themselves.
 */
export const isInterpretedFunction = (value: object): boolean =>
  "_jsonata_function" in value || "_jsonata_lambda" in value;

/** Subtracts the size of a value. Stops if the result becomes negative. */
function subtractSize(most: number, value: unknown): number {
  if (typeof value === "string") return most - value.length;
  if (typeof value !== "object" || value === null) return most - 1;
  let left = most - 1;
  if (isInterpretedFunction(value)) return left;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = subtractSize(left, value[index]);
    return left;
  }
  for (const name in value) {
    if (left < 0) return left;
    left = subtractSize(left - name.length, (value as Readonly<Record<string, unknown>>)[name]);
  }
  return left;
}

/** The depth and steps of the current evaluation. Evaluations are synchronous, so there is only one at a time. */
const usage = { depth: 0, steps: 0 };

/** Resets the counters at the start of an evaluation that calls functions or iterates over lists. */
export function resetGuards(): void {
  usage.depth = 0;
  usage.steps = 0;
}

/** Counts steps of work. @throws {Failure} D1012 If there are too many. */
export function tick(work = 1): void {
  usage.steps += work;
  if (usage.steps > MAX_STEPS) throw new Failure("D1012");
}

/** Counts the work of a built-in function in proportion to its arguments. @throws {Failure} D1012 */
export function tickArguments(args: readonly unknown[]): void {
  for (const value of args)
    if (typeof value === "string") tick(value.length >> 6);
    else if (Array.isArray(value)) tick(value.length >> 4);
}

/** Counts a nested call. @throws {Failure} D1011 If calls are nested too deeply. */
export function enterCall(): void {
  usage.depth += 1;
  if (usage.depth > GUARDS.stack) throw new Failure("D1011");
}

/** Ends a nested call. */
export function leaveCall(): void {
  usage.depth -= 1;
}
