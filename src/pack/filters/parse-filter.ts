/** Parses the filter in a client's header: one JSON object. */
import { isExactNumber, isObject, parseJson } from "../../base/index.ts";
import {
  needsOrder,
  type Condition,
  type Conditions,
  type FieldCondition,
  type Filter,
  type Test,
  type WholeObject,
} from "./condition.ts";
import { isOperand, type Scalar } from "../values/value-kind.ts";
import { isComparison, type Operator } from "./filter-definition.ts";
import { throwFilterError } from "./filter-error.ts";
import type { Grammar } from "./grammar.ts";

/** Maximum number of characters. Common servers accept headers up to 8 KB, so longer filters never reached alpha. */
export const maxLength = 8192;

/** Maximum nesting of groups. People write two or three levels, and programs can flatten deeper ones. */
export const maxDepth = 10;

/** Maximum number of tests, groups and empty objects. Each costs v4's database one comparison per row. */
export const maxNodes = 200;

/**
 * Each level is an object in an array. The remaining levels are for the top level, the operators, and a whole object as
 * value.
 */
const maxJsonDepth = 2 * maxDepth + 8;

/** The state of the parser: the grammar, the name of the header, and the number of nodes so far. */
interface ParserState {
  readonly grammar: Grammar;
  readonly header: string;
  nodes: number;
}

/** Whether an operator at the top level is not a condition. */
const isOfList = (operator: Operator | undefined): operator is "order_by" | "order" | "search" =>
  operator === "order_by" || operator === "order" || operator === "search";

/**
 * Parses the filter of a client. `{}` is a filter without conditions.
 *
 * Fields and their values are checked later, when the filter is translated or applied.
 *
 * @param text The text of the filter header.
 * @throws {HttpError} 400 The reason contains the invalid key.
 */
export function parseFilter(text: string, grammar: Grammar): Filter {
  const { header = "the filter" } = grammar;
  const state: ParserState = { grammar, header, nodes: 0 };
  const entries = Object.entries(readFilterObject(text, header));
  const isOther = ([key]: [string, unknown]): boolean => isOfList(grammar.operators.get(key));
  const conditions = entries.filter((entry) => !isOther(entry));
  return {
    conditions: conditions.map((entry) => readCondition(entry, 0, state)),
    ...readOrder(entries.filter(isOther), grammar),
  };
}

const tooDeep = `nests deeper than ${maxDepth} levels.`;

function readFilterObject(text: string, header: string): WholeObject {
  if (text.length > maxLength) throwFilterError(header, `is longer than ${maxLength} characters.`);
  let value: unknown;
  try {
    value = parseJson(text, { maxDepth: maxJsonDepth });
  } catch (error) {
    const isDeep = error instanceof RangeError;
    throwFilterError(header, isDeep ? tooDeep : "must be one JSON object; this is not JSON.");
  }
  return isObject(value) ? value : throwFilterError(header, "must hold one JSON object.");
}

/** Reads the order of the list, and the text to search for. */
function readOrder(
  entries: readonly [string, unknown][],
  { operators }: Grammar,
): Pick<Filter, "order" | "search"> {
  const found = new Map<Operator | undefined, { key: string; value: unknown }>();
  for (const [key, value] of entries) {
    const operator = operators.get(key);
    const other = found.get(operator);
    if (other) throwFilterError(key, `and ${other.key} mean the same; send one of them.`);
    found.set(operator, { key, value });
  }
  const [by, direction, search] = [found.get("order_by"), found.get("order"), found.get("search")];
  if (search && typeof search.value !== "string") throwFilterError(search.key, "takes a string.");
  const searched = search && { search: String(search.value) };
  if (!by)
    return direction
      ? throwFilterError(direction.key, "needs a field to order by.", "sort")
      : { ...searched };
  if (typeof by.value !== "string") return throwFilterError(by.key, "takes the name of a field.", "sort");
  if (direction && direction.value !== "asc" && direction.value !== "desc")
    throwFilterError(direction.key, 'takes "asc" or "desc".', "sort");
  const descending = direction && { descending: direction.value === "desc" };
  return { order: [{ field: by.value, ...descending }], ...searched };
}

function readCondition([key, value]: [string, unknown], depth: number, state: ParserState): Condition {
  if (!isOperator(key, state)) return readFieldCondition(key, value, state);
  const operator = readOperator(key, state);
  if (isOfList(operator)) return throwFilterError(key, "is allowed at the top level only.");
  if (operator !== "and" && operator !== "or")
    return throwFilterError(key, "stands inside the object of a field.");
  if (!Array.isArray(value)) return throwFilterError(key, "takes an array of filter objects.");
  countNode(state);
  return { kind: operator, members: value.map((member) => readMember(key, member, depth + 1, state)) };
}

function readMember(key: string, member: unknown, depth: number, state: ParserState): Conditions {
  if (depth > maxDepth) throwFilterError(state.header, tooDeep);
  if (!isObject(member)) return throwFilterError(key, "takes an array of filter objects.");
  const entries = Object.entries(member);
  if (entries.length === 0) countNode(state);
  return entries.map((entry) => readCondition(entry, depth, state));
}

function readFieldCondition(field: string, value: unknown, state: ParserState): FieldCondition {
  if (Array.isArray(value)) return throwFilterError(field, "cannot be compared with an array.");
  const entries = isObject(value) ? Object.entries(value) : [];
  if (isObject(value) && entries.length === 0) throwFilterError(field, "has an empty object for a value.");
  const operators = entries.filter(([key]) => isOperator(key, state));
  if (operators.length > 0) {
    if (operators.length < entries.length) throwFilterError(field, "mixes operators with other keys.");
    return { kind: "field", field, tests: operators.map((entry) => readTest(field, entry, state)) };
  }
  const operand = isObject(value) ? value : readScalar(field, value);
  countNode(state);
  return { kind: "field", field, tests: [{ operator: "eq", value: operand }] };
}

function readTest(field: string, [key, given]: [string, unknown], state: ParserState): Test {
  countNode(state);
  const operator = readOperator(key, state);
  if (!isComparison(operator)) return throwFilterError(key, `cannot stand inside the object of a field.`);
  if (operator === "contains" && typeof given !== "string")
    throwFilterError(key, `on ${field} takes a string.`);
  const value = readScalar(field, given);
  if (needsOrder(operator) && typeof value !== "number" && typeof value !== "string")
    throwFilterError(field, "is compared with something that has no order.");
  return { operator, value };
}

/** Rejects numbers that JavaScript can't represent exactly: a filter on a rounded id would return a different list. */
function readScalar(field: string, value: unknown): Scalar {
  if (isExactNumber(value)) return throwFilterError(field, "is compared with a number of too many digits.");
  if (value === null || isOperand(value)) return value;
  return throwFilterError(field, "is compared with something that is not a single value.");
}

function countNode(state: ParserState): void {
  state.nodes += 1;
  if (state.nodes > maxNodes) throwFilterError(state.header, `holds more than ${maxNodes} conditions.`);
}

const isOperator = (key: string, { grammar: { prefix } }: ParserState): boolean =>
  prefix !== "" && key.startsWith(prefix);

const readOperator = (key: string, { grammar: { operators } }: ParserState): Operator =>
  operators.get(key) ?? throwFilterError(key, "is not an operator of a filter.");
