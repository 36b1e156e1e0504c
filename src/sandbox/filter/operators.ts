/**
 * The operators that stand inside a field: what value each takes, and which field values it picks
 * (document 1, Filtering and sorting). Letters count as they are written: nothing is folded.
 */

import type { FieldType } from "../rules/field.ts";

export type ValueTest = (value: unknown) => boolean;

export interface Operator {
  readonly takes: string;
  readonly accepts: (operand: unknown, type: FieldType) => boolean;
  readonly test: (operand: unknown) => ValueTest;
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";

/** Compares like with like only: a number never stands before or after a string or null. */
function comparing(holds: (difference: number) => boolean): Operator {
  return {
    takes: "a number, or a date-time on a date-time field",
    accepts: (operand, type) => typeof operand === "number" || (type === "date-time" && isDateTime(operand)),
    test: (operand) => {
      if (typeof operand === "number") return (value) => typeof value === "number" && holds(value - operand);
      const time = String(operand).replace(/Z$/, "");
      // Date-times of one form sort as text.
      return (value) => typeof value === "string" && holds(value < time ? -1 : Number(value > time));
    },
  };
}

function isDateTime(operand: unknown): boolean {
  return typeof operand === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?$/.test(operand);
}

export const operators: Readonly<Record<string, Operator>> = {
  "+gt": comparing((difference) => difference > 0),
  "+gte": comparing((difference) => difference >= 0),
  "+lt": comparing((difference) => difference < 0),
  "+lte": comparing((difference) => difference <= 0),
  "+contains": {
    takes: "a string",
    accepts: (operand) => typeof operand === "string",
    test: (operand) => (value) => textOf(value).includes(operand as string),
  },
  "+neq": {
    takes: "a string, a number, a boolean or null",
    accepts: isScalar,
    test: (operand) => (value) => value !== operand,
  },
};

/** A number is searched as it is written; null holds no string but the empty one. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Equality: what a plain value in a filter asks for. */
export function equals(operand: unknown): ValueTest {
  return (value) => value === operand;
}
