/** Validates a body against the description of its members and reports all errors. */

import type { FieldError } from "../http/problem.ts";
import type { Field, FieldType, Fields, Body } from "./field.ts";
import { isObject } from "./field.ts";

/** Adds the errors of one value; `name` is its path in the response (`disks[0].size`). */
type Check = (name: string, value: unknown, errors: FieldError[]) => void;

/** Default maximum length of arrays. Without it, a body of invalid items would produce a response many times its size. */
const maxItems = 1000;

/** Creates a validator that returns all errors of a body. Undescribed members are ignored. */
export function createValidator(fields: Fields): (body: Body) => FieldError[] {
  const check = membersCheck(fields);
  return function checkBody(body) {
    const errors: FieldError[] = [];
    check("", body, errors);
    return errors;
  };
}

function membersCheck(fields: Fields): (prefix: string, body: Body, errors: FieldError[]) => void {
  const checks = Object.entries(fields).map(([name, field]) => ({ name, field, check: fieldCheck(field) }));
  return (prefix, body, errors) => {
    for (const { name, field, check } of checks) {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      const present = Object.hasOwn(body, name) && body[name] !== undefined;
      if (present) check(path, body[name], errors);
      else if (field.required) errors.push({ reason: `${path} is required`, field: path });
    }
  };
}

function fieldCheck(field: Field): Check {
  const check = checksByType[field.type](field);
  return (name, value, errors) => {
    if (value === null && field.nullable) return;
    check(name, value, errors);
  };
}

const checksByType: Readonly<Record<FieldType, (field: Field) => Check>> = {
  string: stringCheck,
  "date-time": stringCheck,
  integer: numberCheck,
  number: numberCheck,
  boolean: () => booleanCheck,
  object: objectCheck,
  strings: (field) => arrayCheck(field, field.items ?? { type: "string" }),
  integers: (field) => arrayCheck(field, field.items ?? { type: "integer" }),
  objects: (field) => arrayCheck(field, { type: "object", ...(field.members && { members: field.members }) }),
};

function booleanCheck(name: string, value: unknown, errors: FieldError[]): void {
  if (typeof value !== "boolean") errors.push({ reason: `${name} must be a boolean`, field: name });
}

function stringCheck(field: Field): Check {
  const { min = 0, max = Infinity, alwaysAllowed: also = [], values } = field;
  const pattern = field.pattern === undefined ? undefined : new RegExp(`^(?:${field.pattern})$`, "u");
  return (name, value, errors) => {
    if (typeof value !== "string") {
      errors.push({ reason: `${name} must be a string`, field: name });
      return;
    }
    if (also.includes(value)) return;
    if (values && !values.includes(value)) {
      errors.push({ reason: `${name} must be one of ${values.join(", ")}`, field: name });
    } else if (value.length < min || value.length > max) {
      errors.push({ reason: `${name} must be ${rangeText(min, max)} characters long`, field: name });
    } else if (pattern && !pattern.test(value)) {
      errors.push({ reason: `${name} must be a valid value`, field: name });
    }
  };
}

function numberCheck({ type, min = -Infinity, max = Infinity }: Field): Check {
  const whole = type === "integer";
  return (name, value, errors) => {
    const fits = typeof value === "number" && (!whole || Number.isSafeInteger(value));
    if (!fits) errors.push({ reason: `${name} must be ${whole ? "an integer" : "a number"}`, field: name });
    else if (value < min || value > max) {
      errors.push({ reason: `${name} must be ${rangeText(min, max)}`, field: name });
    }
  };
}

function objectCheck(field: Field): Check {
  const members = membersCheck(field.members ?? {});
  return (name, value, errors) => {
    if (isObject(value)) members(name, value, errors);
    else errors.push({ reason: `${name} must be an object`, field: name });
  };
}

function arrayCheck({ min = 0, max = maxItems }: Field, each: Field): Check {
  const check = fieldCheck(each);
  return (name, value, errors) => {
    if (!Array.isArray(value)) {
      errors.push({ reason: `${name} must be an array`, field: name });
    } else if (value.length < min || value.length > max) {
      errors.push({ reason: `${name} must have ${rangeText(min, max)} items`, field: name });
    } else value.forEach((item, index) => check(`${name}[${index}]`, item, errors));
  };
}

function rangeText(min: number, max: number): string {
  if (max === Infinity) return `at least ${min}`;
  if (min === -Infinity) return `at most ${max}`;
  return min === max ? `exactly ${max}` : `${min} to ${max}`;
}
