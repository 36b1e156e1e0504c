import { Failure } from "./failure.ts";
import { sequence, type List } from "./sequence.ts";
import { isNumeric } from "./values.ts";
import { checkItems, tick } from "./guard.ts";

// Arithmetic and comparison operators. If an operand is undefined, the result is undefined.

/** Whether both operands are defined. @throws {Failure} T2001, T2002 If one of them is not a number. */
function bothNumbers(left: unknown, right: unknown, position: number): boolean {
  if (left !== undefined && !isNumeric(left, position)) throw new Failure("T2001", position);
  if (right !== undefined && !isNumeric(right, position)) throw new Failure("T2002", position);
  return left !== undefined && right !== undefined;
}

type Numeric = (left: unknown, right: unknown, position: number) => number | undefined;

/** The operator `+`. @throws {Failure} T2001, T2002, D1001 */
export const add: Numeric = (left, right, position) =>
  bothNumbers(left, right, position) ? (left as number) + (right as number) : undefined;

/** The operator `-`. @throws {Failure} T2001, T2002, D1001 */
export const subtract: Numeric = (left, right, position) =>
  bothNumbers(left, right, position) ? (left as number) - (right as number) : undefined;

/** The operator `*`. @throws {Failure} T2001, T2002, D1001 */
export const multiply: Numeric = (left, right, position) =>
  bothNumbers(left, right, position) ? (left as number) * (right as number) : undefined;

/** The operator `/`. @throws {Failure} T2001, T2002, D1001 */
export const divide: Numeric = (left, right, position) =>
  bothNumbers(left, right, position) ? (left as number) / (right as number) : undefined;

/** The operator `%`. @throws {Failure} T2001, T2002, D1001 */
export const remainder: Numeric = (left, right, position) =>
  bothNumbers(left, right, position) ? (left as number) % (right as number) : undefined;

/** The unary minus. @throws {Failure} D1002 If the value is not a number. */
export function negate(value: unknown, position: number): number | undefined {
  if (value === undefined) return undefined;
  if (!isNumeric(value)) throw new Failure("D1002", position);
  return -value;
}

const isOrdered = (value: unknown): boolean =>
  value === undefined || typeof value === "string" || typeof value === "number";

/** Whether both operands are defined. @throws {Failure} T2010, T2009 If they can't be compared. */
function comparable(left: unknown, right: unknown, position: number): boolean {
  if (!isOrdered(left) || !isOrdered(right)) throw new Failure("T2010", position);
  if (left === undefined || right === undefined) return false;
  if (typeof left !== typeof right) throw new Failure("T2009", position);
  return true;
}

type Comparison = (left: unknown, right: unknown, position: number) => boolean | undefined;

/** The operator `<`. @throws {Failure} T2009, T2010 */
export const less: Comparison = (left, right, position) =>
  comparable(left, right, position) ? (left as number) < (right as number) : undefined;

/** The operator `<=`. @throws {Failure} T2009, T2010 */
export const lessOrEqual: Comparison = (left, right, position) =>
  comparable(left, right, position) ? (left as number) <= (right as number) : undefined;

/** The operator `>`. @throws {Failure} T2009, T2010 */
export const greater: Comparison = (left, right, position) =>
  comparable(left, right, position) ? (left as number) > (right as number) : undefined;

/** The operator `>=`. @throws {Failure} T2009, T2010 */
export const greaterOrEqual: Comparison = (left, right, position) =>
  comparable(left, right, position) ? (left as number) >= (right as number) : undefined;

/** JSONata has a code of its own above this length. */
const LONGEST_RANGE = 1e7;

/** The range operator `..`. Both bounds are included. @throws {Failure} T2003, T2004, D2014, D2015 */
export function range(from: unknown, to: unknown, position: number): List | undefined {
  if (from !== undefined && !Number.isInteger(from)) throw new Failure("T2003", position);
  if (to !== undefined && !Number.isInteger(to)) throw new Failure("T2004", position);
  if (from === undefined || to === undefined) return undefined;
  const first = from as number;
  const size = (to as number) - first + 1;
  if (size <= 0) return undefined;
  if (size > LONGEST_RANGE) throw new Failure("D2014", position);
  checkItems(size, "a range", position);
  tick(size);
  const list = sequence();
  // The first bound is not added to 0, because -0 + 0 is 0.
  for (let index = 0; index < size; index += 1) list.push(index === 0 ? first : first + index);
  return list;
}
