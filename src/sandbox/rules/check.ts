/** Checks a body against the description of its members, and says everything that is wrong with it. */

import type { Fault } from "../http/problem.ts";
import type { Field, Fields, FieldType } from "./field.ts";

export type Body = Readonly<Record<string, unknown>>;

/** The faults of one value; `name` is how the answer names it (dotted, `disks[0].size`). */
type Check = (name: string, value: unknown, faults: Fault[]) => void;

/** Where no other bound is declared: a body full of bad items must not make an answer many times its size. */
const mostItems = 1000;

/** Prepares the check of a body: all faults, none when it is right. Members that are not described are ignored. */
export function checking(fields: Fields): (body: Body) => Fault[] {
  const check = membersCheck(fields);
  return function checkBody(body) {
    const faults: Fault[] = [];
    check("", body, faults);
    return faults;
  };
}

function membersCheck(fields: Fields): Check {
  const checks = Object.entries(fields).map(([name, field]) => ({ name, field, check: fieldCheck(field) }));
  return (prefix, value, faults) => {
    const body = value as Body;
    for (const { name, field, check } of checks) {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      const present = Object.hasOwn(body, name) && body[name] !== undefined;
      if (present) check(path, body[name], faults);
      else if (field.required) faults.push({ reason: `${path} is required`, field: path });
    }
  };
}

function fieldCheck(field: Field): Check {
  const check = checksByType[field.type](field);
  return (name, value, faults) => {
    if (value === null && field.nullable) return;
    check(name, value, faults);
  };
}

const checksByType: Readonly<Record<FieldType, (field: Field) => Check>> = {
  string: stringCheck,
  "date-time": stringCheck,
  integer: numberCheck,
  number: numberCheck,
  boolean: () => booleanCheck,
  object: objectCheck,
  strings: (field) => arrayCheck(field, field.each ?? { type: "string" }),
  integers: (field) => arrayCheck(field, field.each ?? { type: "integer" }),
  objects: (field) => arrayCheck(field, { type: "object", ...(field.members && { members: field.members }) }),
};

function booleanCheck(name: string, value: unknown, faults: Fault[]): void {
  if (typeof value !== "boolean") faults.push({ reason: `${name} must be a boolean`, field: name });
}

function stringCheck(field: Field): Check {
  const { min = 0, max = Infinity, also = [], values } = field;
  const pattern = field.pattern === undefined ? undefined : new RegExp(`^(?:${field.pattern})$`, "u");
  return (name, value, faults) => {
    if (typeof value !== "string") {
      faults.push({ reason: `${name} must be a string`, field: name });
      return;
    }
    if (also.includes(value)) return;
    if (values && !values.includes(value)) {
      faults.push({ reason: `${name} must be one of ${values.join(", ")}`, field: name });
    } else if (value.length < min || value.length > max) {
      faults.push({ reason: `${name} must be ${span(min, max)} characters long`, field: name });
    } else if (pattern && !pattern.test(value)) {
      faults.push({ reason: `${name} must be a valid value`, field: name });
    }
  };
}

function numberCheck({ type, min = -Infinity, max = Infinity }: Field): Check {
  const whole = type === "integer";
  return (name, value, faults) => {
    const fits = typeof value === "number" && (!whole || Number.isSafeInteger(value));
    if (!fits) faults.push({ reason: `${name} must be ${whole ? "an integer" : "a number"}`, field: name });
    else if (value < min || value > max) {
      faults.push({ reason: `${name} must be ${span(min, max)}`, field: name });
    }
  };
}

function objectCheck(field: Field): Check {
  const members = membersCheck(field.members ?? {});
  return (name, value, faults) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      faults.push({ reason: `${name} must be an object`, field: name });
    } else members(name, value, faults);
  };
}

function arrayCheck({ min = 0, max = mostItems }: Field, each: Field): Check {
  const check = fieldCheck(each);
  return (name, value, faults) => {
    if (!Array.isArray(value)) {
      faults.push({ reason: `${name} must be an array`, field: name });
    } else if (value.length < min || value.length > max) {
      faults.push({ reason: `${name} must have ${span(min, max)} items`, field: name });
    } else value.forEach((item, index) => check(`${name}[${index}]`, item, faults));
  };
}

function span(min: number, max: number): string {
  if (max === Infinity) return `at least ${min}`;
  if (min === -Infinity) return `at most ${max}`;
  return min === max ? `exactly ${max}` : `${min} to ${max}`;
}
