/** The values that fields are compared with. */
import { normalizeDateTime } from "../fields/keys/date-time.ts";
import { isEquality, type Test } from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { throwFilterError } from "./filter-error.ts";

/** Rules about the values that a field can be compared with. They apply both to v4 and to the gateway as the filtering side. */
export interface OperandRules {
  /** Whether the values are date-times: they are compared with date-times in the form of both dialects. */
  readonly dateTime?: boolean;
  /** Whether a whole object may be sent instead of its id. */
  readonly reference?: boolean;
  /** The member that contains the id of such an object. */
  readonly idName?: string;
}

/**
 * Returns the value that a test compares a field with.
 *
 * @param name Alpha name of the field, for errors.
 * @throws {HttpError} 400 If the field can't be compared with the value.
 */
export function readOperand({ operator, value: given }: Test, name: string, rules: OperandRules): Scalar {
  const value = typeof given === "object" && given !== null ? idOf(given, name, rules) : given;
  if (operator === "contains") return value;
  if (rules.dateTime && (value !== null || !isEquality(operator))) {
    const dateTime = typeof value === "string" ? normalizeDateTime(value) : undefined;
    return dateTime ?? throwFilterError(name, "is compared with date-times only, e.g. 2017-01-01T00:00:00.");
  }
  return isEquality(operator) || typeof value === "number"
    ? value
    : throwFilterError(name, "is compared with numbers only.");
}

/** Returns the id of an object. Its other members are ignored, because they may be out of date. */
function idOf(
  object: Readonly<Record<string, unknown>>,
  name: string,
  { reference, idName }: OperandRules,
): Scalar {
  if (!reference || idName === undefined) return throwFilterError(name, "cannot be compared with an object.");
  const id = object[idName];
  if (typeof id === "string" || typeof id === "number") return id;
  return throwFilterError(name, `is compared with an object that has no ${idName}.`);
}
