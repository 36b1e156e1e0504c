/** Says a client's filter in v4's words. What can't be said exactly is refused: never another list than asked for. */

import { printJson } from "../json/parse.ts";
import type { Condition, Conditions, FieldCondition, Filter, Scalar, Test } from "./condition.ts";
import type { Grammar } from "./grammar.ts";
import { operandOf } from "./operand.ts";
import type { OperandRules } from "./operand.ts";
import { throwFilterError } from "./filter-error.ts";

/** One alpha field that v4 can filter by. */
export interface FilterField extends OperandRules {
  readonly v4: string;
  /**
   * For fields whose values differ: the v4 values that mean one alpha value, or `undefined` when there are none.
   * Only equality and its opposite can be said of such a field. Null is no value and goes on as null.
   */
  readonly translate?: (value: Scalar) => readonly Scalar[] | undefined;
  /**
   * A v4 number that the objects are counted by, where the field holds for all of them up to one and for none after
   * it, and v4 can't filter by the field itself.
   */
  readonly mark?: string;
  /** The number of that one object. */
  readonly at?: number;
  /** v4 values that begin so are shown as null; no other value contains it. */
  readonly hiddenPrefix?: string;
  /** False where v4 would sort differently, because its values do. @default true */
  readonly ordered?: boolean;
}

/** By alpha's name; what is not in it can't be filtered by. */
export type FilterFields = ReadonlyMap<string, FilterField>;

/** A v4 filter object. */
type V4Object = Readonly<Record<string, unknown>>;

/** One key of a v4 filter object with its value. */
type Part = readonly [key: string, value: unknown];

/**
 * Writes the v4 header for a filter, in printable ASCII (RFC 9110 5.5 leaves everything else open to doubt).
 *
 * @param extra a v4 condition of the gateway's own, ANDed to the client's.
 * @returns `undefined` when there is nothing to filter or order by.
 * @throws {Refusal} 400 when v4 can't filter so.
 */
export function translateFilter(
  filter: Filter,
  fields: FilterFields,
  grammar: Grammar,
  extra: object = {},
): string | undefined {
  const client = translateConditions(filter.conditions, fields, grammar);
  const [first = {}, ...others] = [client, extra].filter((object) => Object.keys(object).length > 0);
  const conditions = others.length === 0 ? first : { [grammar.v4.and]: [first, ...others] };
  const whole = { ...conditions, ...translateOrder(filter, fields, grammar) };
  return Object.keys(whole).length === 0 ? undefined : printAscii(whole);
}

function translateOrder({ orderBy, descending }: Filter, fields: FilterFields, { v4 }: Grammar): V4Object {
  if (orderBy === undefined) return {};
  const field = fields.get(orderBy);
  if (!field || field.ordered === false) return throwFilterError(orderBy, "cannot be ordered by.");
  const by = { [v4.order_by]: field.v4 };
  return descending === undefined ? by : { ...by, [v4.order]: descending ? "desc" : "asc" };
}

function translateConditions(conditions: Conditions, fields: FilterFields, grammar: Grammar): V4Object {
  return join(
    conditions.flatMap((condition) => translateCondition(condition, fields, grammar)),
    grammar,
  );
}

/** One object where no key comes twice, so that a simple filter looks in v4 as it looked in alpha. */
function join(parts: readonly Part[], { v4 }: Grammar): V4Object {
  const keys = new Set(parts.map(([key]) => key));
  if (keys.size === parts.length) return Object.fromEntries(parts);
  return { [v4.and]: parts.map((part) => Object.fromEntries([part])) };
}

function translateCondition(condition: Condition, fields: FilterFields, grammar: Grammar): readonly Part[] {
  if (condition.kind === "field") return translateField(condition, fields, grammar);
  const members = condition.members.map((member) => translateConditions(member, fields, grammar));
  return [[grammar.v4[condition.kind], members]];
}

/** One part for each test: v4's document knows an object with one operator only. */
function translateField(
  { field: name, tests }: FieldCondition,
  fields: FilterFields,
  grammar: Grammar,
): readonly Part[] {
  const field = fields.get(name);
  if (!field) return throwFilterError(name, "cannot be filtered by.");
  return tests.map((test) => translateTest(test, name, field, grammar));
}

/** Below the mark or above it. */
function translateMarked(test: Test, name: string, mark: string, at: number, { v4 }: Grammar): Part {
  const { operator, value } = test;
  if ((operator !== "eq" && operator !== "neq") || typeof value !== "boolean")
    return throwFilterError(name, "can be compared with true and false alone.");
  return [mark, { [(operator === "eq") === value ? v4.lte : v4.gt]: at }];
}

/** Null is what v4 has as null, and what alpha hides. v4 has no operator for the opposite of the second. */
function translateNull(
  operator: Test["operator"],
  name: string,
  v4Name: string,
  hiddenPrefix: string,
  { v4 }: Grammar,
): Part {
  if (operator !== "eq") return throwFilterError(name, "cannot be compared with null by this operator.");
  return [v4.or, [{ [v4Name]: null }, { [v4Name]: { [v4.contains]: hiddenPrefix } }]];
}

function translateTest(test: Test, name: string, field: FilterField, grammar: Grammar): Part {
  if (field.mark !== undefined) return translateMarked(test, name, field.mark, field.at ?? 0, grammar);
  const { operator } = test;
  const operand = (value: Scalar) => (operator === "eq" ? value : { [grammar.v4[operator]]: value });
  if (field.translate && operator !== "eq" && operator !== "neq") {
    return throwFilterError(grammar.alpha[operator], `cannot be used on ${name}.`);
  }
  const value = operandOf(test, name, field);
  if (value === null && field.hiddenPrefix !== undefined)
    return translateNull(operator, name, field.v4, field.hiddenPrefix, grammar);
  if (!field.translate || value === null) return [field.v4, operand(value)];
  const [first, ...others] = field.translate(value) ?? [];
  if (first === undefined) return throwFilterError(name, "has no such value.");
  if (others.length === 0) return [field.v4, operand(first)];
  const alternatives = [first, ...others].map((value) => ({ [field.v4]: operand(value) }));
  return [operator === "eq" ? grammar.v4.or : grammar.v4.and, alternatives];
}

function printAscii(value: unknown): string {
  return printJson(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
