import { Failure } from "./failure.ts";
import { sequence, type List } from "./sequence.ts";
import { isNumeric } from "./values.ts";
import { checkItems, tick } from "./guard.ts";

// Arithmetic and comparison operators. If an operand is undefined, so is the result.

/** Checks an operand, which must be a number or undefined. @throws {Failure} `code`, or D1001 if it is not finite. */
function operand(value: unknown, code: "T2001" | "T2002"): number | undefined {
  if (value === undefined || isNumeric(value)) return value;
  throw new Failure(code);
}

type Numeric = (left: unknown, right: unknown) => number | undefined;

/** Creates an operator on two numbers. It throws T2001, T2002 or D1001. */
const arithmetic =
  (calculate: (left: number, right: number) => number): Numeric =>
  (left, right) => {
    const first = operand(left, "T2001");
    const second = operand(right, "T2002");
    return first === undefined || second === undefined ? undefined : calculate(first, second);
  };

export const add = arithmetic((left, right) => left + right);
export const subtract = arithmetic((left, right) => left - right);
export const multiply = arithmetic((left, right) => left * right);
export const divide = arithmetic((left, right) => left / right);
export const remainder = arithmetic((left, right) => left % right);

/** The unary minus. @throws {Failure} D1002 If the value is not a number. */
export function negate(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (!isNumeric(value)) throw new Failure("D1002");
  return -value;
}

const isOrdered = (value: unknown): boolean =>
  value === undefined || typeof value === "string" || typeof value === "number";

/** Returns -1, 0 or 1; undefined if an operand is undefined. @throws {Failure} T2010, T2009 If they can't be compared. */
function compare(left: unknown, right: unknown): number | undefined {
  if (typeof left === "number" && typeof right === "number") return order(left, right);
  if (typeof left === "string" && typeof right === "string") return order(left, right);
  if (!isOrdered(left) || !isOrdered(right)) throw new Failure("T2010");
  if (left === undefined || right === undefined) return undefined;
  throw new Failure("T2009");
}

function order<T extends number | string>(left: T, right: T): number {
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

type Comparison = (left: unknown, right: unknown) => boolean | undefined;

/** Creates an operator on two texts or two numbers. It throws T2009 or T2010. */
const comparison =
  (holds: (order: number) => boolean): Comparison =>
  (left, right) => {
    const found = compare(left, right);
    return found === undefined ? undefined : holds(found);
  };

export const less = comparison((found) => found < 0);
export const lessOrEqual = comparison((found) => found <= 0);
export const greater = comparison((found) => found > 0);
export const greaterOrEqual = comparison((found) => found >= 0);

const isInteger = (value: unknown): value is number => Number.isInteger(value);

/** Maximum length of a range. Above it, JSONata reports a specific error code. */
const LONGEST_RANGE = 1e7;

/** The range operator `..`. Both bounds are included. @throws {Failure} T2003, T2004, D2014, D2015 */
export function range(from: unknown, to: unknown): List | undefined {
  if (from !== undefined && !isInteger(from)) throw new Failure("T2003");
  if (to !== undefined && !isInteger(to)) throw new Failure("T2004");
  if (from === undefined || to === undefined) return undefined;
  const size = to - from + 1;
  if (size <= 0) return undefined;
  if (size > LONGEST_RANGE) throw new Failure("D2014");
  checkItems(size, "a range");
  tick(size);
  const list = sequence();
  // The first bound is not added to 0, because -0 + 0 is 0.
  for (let index = 0; index < size; index += 1) list.push(index === 0 ? from : from + index);
  return list;
}
