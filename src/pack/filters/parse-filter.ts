import { isExactNumber, isObject, parseJson } from "../../base/index.ts";
import type { Condition, Conditions, FieldCondition, Filter, Test, WholeObject } from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import type { Operator } from "./filter-definition.ts";
import { throwFilterError } from "./filter-error.ts";
import type { Grammar } from "./grammar.ts";

/** Maximum number of characters. Common servers accept headers up to 8 KB, so alpha never got longer ones. */
export const maxLength = 8192;

/** Maximum nesting of groups. People write two or three levels, and programs can flatten deeper ones. */
export const maxDepth = 10;

/** Maximum number of tests, groups and empty objects. Each costs v4's database a comparison per row. */
export const maxNodes = 200;

/** Each level is an object in an array. The rest is for the top level, the operators, and a whole object as value. */
const maxJsonDepth = 2 * maxDepth + 8;

/** The state of the parser: the grammar, and the number of nodes so far. */
interface ParserState {
  readonly grammar: Grammar;
  nodes: number;
}

/**
 * Parses the filter of a client. `{}` is a filter without conditions.
 *
 * Fields and their values are not checked here, but where the filter is translated or applied.
 *
 * @param text The text of the filter header.
 * @throws {HttpError} 400 With a reason that names the invalid key.
 */
export function parseFilter(text: string, grammar: Grammar): Filter {
  const source = readFilterObject(text, headerOf(grammar));
  const state = { grammar, nodes: 0 };
  const order: [string, unknown, Operator][] = [];
  const others: [string, unknown][] = [];
  for (const [key, value] of Object.entries(source)) {
    const operator = grammar.operators.get(key);
    if (operator === "order_by" || operator === "order" || operator === "search")
      order.push([key, value, operator]);
    else others.push([key, value]);
  }
  return { conditions: others.map((entry) => readCondition(entry, 0, state)), ...readOrder(order) };
}

const headerOf = ({ header }: Grammar): string => header ?? "the filter";

function readFilterObject(text: string, header: string): WholeObject {
  if (text.length > maxLength) throwFilterError(header, `is longer than ${maxLength} characters.`);
  const value = readJson(text, header);
  return isObject(value) ? value : throwFilterError(header, "must hold one JSON object.");
}

function readJson(text: string, header: string): unknown {
  try {
    return parseJson(text, { maxDepth: maxJsonDepth });
  } catch (error) {
    return error instanceof RangeError
      ? throwFilterError(header, tooDeep)
      : throwFilterError(header, "must be one JSON object; this is not JSON.");
  }
}

const tooDeep = `nests deeper than ${maxDepth} levels.`;

function readOrder(entries: readonly [string, unknown, Operator][]): Omit<Filter, "conditions"> {
  const found = new Map<Operator, { key: string; value: unknown }>();
  for (const [key, value, operator] of entries) {
    const other = found.get(operator);
    if (other) throwFilterError(key, `and ${other.key} mean the same; send one of them.`);
    found.set(operator, { key, value });
  }
  const [by, direction, search] = [found.get("order_by"), found.get("order"), found.get("search")];
  if (search && typeof search.value !== "string") throwFilterError(search.key, "takes a string.");
  const searched = search ? { search: search.value as string } : {};
  if (!by)
    return direction ? throwFilterError(direction.key, "needs a field to order by.", "sort") : searched;
  if (typeof by.value !== "string") return throwFilterError(by.key, "takes the name of a field.", "sort");
  if (!direction) return { order: [{ field: by.value }], ...searched };
  if (direction.value !== "asc" && direction.value !== "desc")
    throwFilterError(direction.key, 'takes "asc" or "desc".', "sort");
  return { order: [{ field: by.value, descending: direction.value === "desc" }], ...searched };
}

function readCondition([key, value]: [string, unknown], depth: number, state: ParserState): Condition {
  if (!isOperator(key, state.grammar)) return readFieldCondition(key, value, state);
  const operator = readOperator(key, state.grammar);
  if (operator === "order_by" || operator === "order" || operator === "search")
    return throwFilterError(key, "is allowed at the top level only.");
  if (operator !== "and" && operator !== "or")
    return throwFilterError(key, "stands inside the object of a field.");
  if (!Array.isArray(value)) return throwFilterError(key, "takes an array of filter objects.");
  countNode(state);
  return { kind: operator, members: value.map((member) => readMember(key, member, depth + 1, state)) };
}

function readMember(key: string, member: unknown, depth: number, state: ParserState): Conditions {
  if (depth > maxDepth) throwFilterError(headerOf(state.grammar), tooDeep);
  if (!isObject(member)) return throwFilterError(key, "takes an array of filter objects.");
  const entries = Object.entries(member);
  if (entries.length === 0) countNode(state);
  return entries.map((entry) => readCondition(entry, depth, state));
}

function readFieldCondition(field: string, value: unknown, state: ParserState): FieldCondition {
  if (Array.isArray(value)) return throwFilterError(field, "cannot be compared with an array.");
  if (!isObject(value)) return createEquality(field, readScalar(field, value), state);
  const entries = Object.entries(value);
  if (entries.length === 0) throwFilterError(field, "has an empty object for a value.");
  const operators = entries.filter(([key]) => isOperator(key, state.grammar));
  if (operators.length === 0) return createEquality(field, value, state);
  if (operators.length < entries.length) throwFilterError(field, "mixes operators with other keys.");
  return { kind: "field", field, tests: operators.map((entry) => readTest(field, entry, state)) };
}

function createEquality(field: string, value: Scalar | WholeObject, state: ParserState): FieldCondition {
  countNode(state);
  return { kind: "field", field, tests: [{ operator: "eq", value }] };
}

function readTest(field: string, [key, value]: [string, unknown], state: ParserState): Test {
  countNode(state);
  const operator = readOperator(key, state.grammar);
  switch (operator) {
    case "neq":
      return { operator, value: readScalar(field, value) };
    case "contains":
      return typeof value === "string"
        ? { operator, value }
        : throwFilterError(key, `on ${field} takes a string.`);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return readComparison(field, operator, value);
    default:
      return throwFilterError(key, `cannot stand inside the object of a field.`);
  }
}

function readComparison(field: string, operator: "gt" | "gte" | "lt" | "lte", given: unknown): Test {
  const value = readScalar(field, given);
  if (typeof value === "number" || typeof value === "string") return { operator, value };
  return throwFilterError(field, "is compared with something that has no order.");
}

/** Rejects numbers that JavaScript can't represent exactly: a filter on a rounded id would return another list. */
function readScalar(field: string, value: unknown): Scalar {
  if (isExactNumber(value)) return throwFilterError(field, "is compared with a number of too many digits.");
  if (
    value === null ||
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean"
  ) {
    return value;
  }
  return throwFilterError(field, "is compared with something that is not a single value.");
}

function countNode(state: ParserState): void {
  state.nodes += 1;
  if (state.nodes > maxNodes)
    throwFilterError(headerOf(state.grammar), `holds more than ${maxNodes} conditions.`);
}

function isOperator(key: string, { prefix }: Grammar): boolean {
  return prefix !== "" && key.startsWith(prefix);
}

function readOperator(key: string, { operators }: Grammar): Operator {
  return operators.get(key) ?? throwFilterError(key, "is not an operator of a filter.");
}
