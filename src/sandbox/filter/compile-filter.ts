/**
 * Compiles an `X-Filter` header to one predicate and one sort order
 * (V-028).
 */

import { isObject } from "../fields/field.ts";
import type { FieldError } from "../http/problem.ts";
import { Problem } from "../http/problem.ts";
import type { Order, ValueTest } from "./filter-operators.ts";
import { equals, operators, readOrder } from "./filter-operators.ts";
import type { Item, Filterable, FilterableField } from "./filterable-fields.ts";

type Test = (item: Item) => boolean;
type Members = Readonly<Record<string, unknown>>;

interface Filter {
  /** The test of an item; undefined if every item matches. */
  readonly matches?: Test;
  /** The requested order; undefined if the collection keeps its own order. */
  readonly order?: Order;
}

const orderMembers = new Set(["+order_by", "+order"]);

/**
 * @param header The header as received; undefined if missing.
 * @throws {Problem} 400 with all errors of the filter, each with the field `X-Filter`.
 */
export function compileFilter(header: string | undefined, filterable: Filterable): Filter {
  if (header === undefined) return {};
  const errors: string[] = [];
  const filter = read(header, filterable, errors);
  if (errors.length === 0) return filter;
  throw new Problem(
    400,
    errors.map((reason): FieldError => ({ reason, field: "X-Filter" })),
  );
}

function read(header: string, filterable: Filterable, errors: string[]): Filter {
  const members = parse(header);
  if (!members) {
    errors.push(`Could not apply filter: X-Filter must be one JSON object, at most ${deepest} levels deep`);
    return {};
  }
  const conditions = Object.entries(members).filter(([name]) => !orderMembers.has(name));
  const order = readOrder(members, filterable, errors);
  const matches =
    conditions.length > 0 && all(conditions.map((member) => condition(member, filterable, errors)));
  return { ...(matches && { matches }), ...(order && { order }) };
}

/** Maximum nesting depth. The documented "arbitrary depth" would exhaust the stack. */
const deepest = 400;

function parse(header: string): Members | undefined {
  if (nesting(header) > deepest) return undefined;
  try {
    const value: unknown = JSON.parse(header);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function nesting(json: string): number {
  let [depth, most] = [0, 0];
  for (const [bracket] of json.replaceAll(/"(?:[^"\\]|\\.)*"?/g, "").matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    most = Math.max(most, depth);
  }
  return most;
}

function condition([name, value]: [string, unknown], filterable: Filterable, errors: string[]): Test {
  if (name === "+and" || name === "+or") return combination(name, value, filterable, errors);
  const field = filterable.get(name);
  if (!field) {
    errors.push(
      name.startsWith("+")
        ? `Unable to apply filter: ${name} is not an operator here`
        : `Unable to apply filter: ${name} is not filterable`,
    );
    return never;
  }
  const test = valueTest(name, value, field, errors);
  const { read } = field;
  return (item) => test(read(item));
}

function combination(name: "+and" | "+or", value: unknown, filterable: Filterable, errors: string[]): Test {
  if (!Array.isArray(value) || !value.every(isObject)) {
    errors.push(`Unable to apply filter: ${name} takes an array of filter objects`);
    return never;
  }
  const tests = value.map((each) =>
    all(Object.entries(each).map((member) => condition(member, filterable, errors))),
  );
  return name === "+and" ? all(tests) : (item) => tests.some((test) => test(item));
}

/** Compiles the condition of a field: a plain value, or an object of operators that must all match. */
function valueTest(name: string, value: unknown, field: FilterableField, errors: string[]): ValueTest {
  if (Array.isArray(value)) {
    errors.push(`Unable to apply filter: ${name} takes a value or an object of operators`);
    return never;
  }
  if (!isObject(value)) return elementwise(equals(value), field, false);
  const tests = Object.entries(value).map((member) => operation(name, member, field, errors));
  if (tests.length === 0) errors.push(`Unable to apply filter: ${name} names no operator`);
  return all(tests);
}

function operation(
  name: string,
  [word, operand]: [string, unknown],
  field: FilterableField,
  errors: string[],
): ValueTest {
  if (word === "+and" || word === "+or") return choice(name, word, operand, field, errors);
  const operator = Object.hasOwn(operators, word) ? operators[word] : undefined;
  if (!operator) {
    errors.push(`Unable to apply filter: ${word} is not an operator of ${name}`);
    return never;
  }
  if (!operator.accepts(operand, field.type)) {
    errors.push(`Unable to apply filter: ${word} of ${name} takes ${operator.takes}`);
    return never;
  }
  return elementwise(operator.test(operand), field, word === "+neq");
}

/** The alternatives of one field, plain values or operators: `{"when": {"+or": ["…", {"+gt": "…"}]}}`. */
function choice(
  name: string,
  word: "+and" | "+or",
  operand: unknown,
  field: FilterableField,
  errors: string[],
): ValueTest {
  if (!Array.isArray(operand)) {
    errors.push(`Unable to apply filter: ${word} of ${name} takes an array`);
    return never;
  }
  const tests = operand.map((each: unknown) => valueTest(name, each, field, errors));
  return word === "+and" ? all(tests) : (value) => tests.some((test) => test(value));
}

/** An array field matches if one element matches; with `+neq`, if every element differs. */
function elementwise(test: ValueTest, field: FilterableField, every: boolean): ValueTest {
  if (field.type !== "strings" && field.type !== "integers") return test;
  return (value) => Array.isArray(value) && (every ? value.every(test) : value.some(test));
}

function all<T>(tests: readonly ((value: T) => boolean)[]): (value: T) => boolean {
  if (tests.length === 1 && tests[0]) return tests[0];
  return (value) => tests.every((test) => test(value));
}

function never(): boolean {
  return false;
}
