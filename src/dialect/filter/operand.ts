/** What a field takes to be compared with, wherever the comparing is done. */

import { normaliseDateTime } from "../date-time.ts";
import type { Scalar, Test, WholeObject } from "./condition.ts";
import { throwFilterError } from "./filter-error.ts";

export interface OperandRules {
  /** The values are date-times: they are compared with date-times, in the dialects' form. */
  readonly dateTime?: boolean;
  /** A whole object may stand for its id. */
  readonly reference?: boolean;
  /** The name of the member that is the id of such an object. */
  readonly idName?: string;
}

/**
 * The value that a test of the field `name` compares with.
 *
 * @throws {Refusal} 400 when the field can't be compared with it.
 */
export function operandOf(test: Test, name: string, rules: OperandRules): Scalar {
  if (test.operator === "contains") return test.value;
  if (test.operator === "eq" || test.operator === "neq") return equalityOperand(test.value, name, rules);
  if (rules.dateTime) return dateTimeOperand(test.value, name);
  return typeof test.value === "number"
    ? test.value
    : throwFilterError(name, "is compared with numbers only.");
}

function equalityOperand(value: Scalar | WholeObject, name: string, rules: OperandRules): Scalar {
  const scalar = isScalar(value) ? value : idOf(value, name, rules);
  return rules.dateTime && scalar !== null ? dateTimeOperand(scalar, name) : scalar;
}

/** Only the id counts; what else such an object says may be out of date. */
function idOf(object: WholeObject, name: string, { reference, idName }: OperandRules): Scalar {
  if (!reference || idName === undefined) return throwFilterError(name, "cannot be compared with an object.");
  const id = object[idName];
  if (typeof id === "string" || typeof id === "number") return id;
  return throwFilterError(name, `is compared with an object that has no ${idName}.`);
}

function dateTimeOperand(value: Scalar, name: string): string {
  const dateTime = typeof value === "string" ? normaliseDateTime(value) : undefined;
  return dateTime ?? throwFilterError(name, "is compared with date-times only, e.g. 2017-01-01T00:00:00.");
}

function isScalar(value: Scalar | WholeObject): value is Scalar {
  return value === null || typeof value !== "object";
}
