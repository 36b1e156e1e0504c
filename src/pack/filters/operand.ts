import { normalizeDateTime } from "../fields/keys/date-time.ts";
import type { Test, WholeObject } from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import { throwFilterError } from "./filter-error.ts";

/** The values with which a field can be compared. The same rules apply whether v4 or the gateway filters. */
export interface OperandRules {
  /** The values are date-times: they are compared with date-times in the form of both dialects. */
  readonly dateTime?: boolean;
  /** A whole object may be given in place of its id. */
  readonly reference?: boolean;
  /** The member with the id of such an object. */
  readonly idName?: string;
}

/**
 * Returns the value with which a test compares a field.
 *
 * @param name Alpha name of the field, for errors.
 * @throws {HttpError} 400 If the field can't be compared with the value.
 */
export function readOperand(test: Test, name: string, rules: OperandRules): Scalar {
  if (test.operator === "contains") return test.value;
  if (test.operator === "eq" || test.operator === "neq") return readEqualityOperand(test.value, name, rules);
  if (rules.dateTime) return readDateTimeOperand(test.value, name);
  return typeof test.value === "number"
    ? test.value
    : throwFilterError(name, "is compared with numbers only.");
}

function readEqualityOperand(value: Scalar | WholeObject, name: string, rules: OperandRules): Scalar {
  const scalar = isScalar(value) ? value : idOf(value, name, rules);
  return rules.dateTime && scalar !== null ? readDateTimeOperand(scalar, name) : scalar;
}

/** Returns the id of an object. Its other members are ignored, because they may be out of date. */
function idOf(object: WholeObject, name: string, { reference, idName }: OperandRules): Scalar {
  if (!reference || idName === undefined) return throwFilterError(name, "cannot be compared with an object.");
  const id = object[idName];
  if (typeof id === "string" || typeof id === "number") return id;
  return throwFilterError(name, `is compared with an object that has no ${idName}.`);
}

function readDateTimeOperand(value: Scalar, name: string): string {
  const dateTime = typeof value === "string" ? normalizeDateTime(value) : undefined;
  return dateTime ?? throwFilterError(name, "is compared with date-times only, e.g. 2017-01-01T00:00:00.");
}

function isScalar(value: Scalar | WholeObject): value is Scalar {
  return value === null || typeof value !== "object";
}
