/** Reports contradictions in the filters of a pack. */
import { isObject, type SourceLocation } from "../../base/index.ts";
import { FIELD, fieldTemplates, type FilterDefinition, type SortDefinition } from "./filter-definition.ts";
import type { UpstreamFilter } from "./filter-writer.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import { isOperand } from "../values/value-kind.ts";

/** Keys that only exist in one of the two forms. */
const QUERY_KEYS = ["parameter", "in", "sort"] as const;
const HEADER_OPERATORS = ["and", "or", "order_by", "order"] as const;

/** Reports the forms of an order that are identical, or do not contain the field. */
function reportInvalidSort(
  { ascending, descending, multiple }: SortDefinition,
  location: SourceLocation,
): void {
  if (ascending === descending) location.report('"ascending" and "descending" are the same');
  for (const [key, form] of Object.entries({ ascending, descending })) {
    if (!form.includes(FIELD)) location.at(key).report(`needs the place of the field: "-${FIELD}"`);
    if (multiple === "comma" && form.includes(","))
      location.at(key).report('has a comma, which separates fields: "multiple: comma"');
  }
}

/** Reports keys of a side's filters that contradict each other. @returns whether the form is unambiguous */
export function reportInvalidFilters(definition: FilterDefinition, location: SourceLocation): boolean {
  const { header, parameter, operators, in: choice, sort } = definition;
  if (header !== undefined) {
    const key = QUERY_KEYS.find((each) => definition[each] !== undefined);
    if (key === undefined) return true;
    location.at(key).report(`"${key}" belongs to filters in the query, and "header" to those in a header`);
    return false;
  }
  if (parameter === undefined && choice === undefined && !sort && Object.keys(operators).length === 0)
    location.report({
      message: "the place of filters is missing",
      hint: `header: X-Filter, or parameter: "${FIELD}"`,
    });
  for (const operator of HEADER_OPERATORS)
    if (operators[operator] !== undefined)
      location.at("operators", operator).report({
        message: `a query has no operator "${operator}"`,
        hint: operator.startsWith("order") ? 'see "sort"' : "all parameters must hold",
      });
  const seen = new Map<string, string>();
  for (const { operator, template } of fieldTemplates(definition)) {
    const key = operator === "eq" ? "parameter" : operator;
    const isOperator = operator !== "eq" && operator !== "in";
    const at = isOperator
      ? location.at("operators", key)
      : location.at(...(operator === "in" ? ["in", "parameter"] : ["parameter"]));
    if (template.split(FIELD).length !== 2)
      at.report({
        message: "needs the place of the field, once",
        hint: `${key}: "${FIELD}${isOperator ? `[${key}]` : ""}"`,
      });
    const other = seen.get(template);
    // If one parameter contains several values, `in` needs no different name.
    if (other !== undefined && !(other === "parameter" && key === "in"))
      at.report(`"${other}" has the same parameter`);
    seen.set(template, key);
  }
  if (sort) reportInvalidSort(sort, location.at("sort"));
  return true;
}

/** Reports a condition of the pack that the upstream can't express. */
export function reportInvalidCondition(
  condition: UpstreamFilter,
  { upstream }: DialectDefinition,
  location: SourceLocation,
): void {
  const { filters } = upstream;
  if (!filters) return location.report('has no effect: the upstream has no "filters"');
  if (filters.header !== undefined) return;
  for (const [field, value] of Object.entries(condition)) {
    const operands = isObject(value) ? Object.entries(value) : [[filters.parameter ?? "", value] as const];
    for (const [template, operand] of operands)
      if (!template.includes(FIELD) || !isOperand(operand))
        location.at(field).report({
          message: "a condition in a query is a field with a value, or with parameters and their values",
          hint: `{ kind: public, price: { "${FIELD}[gte]": 5 } }`,
        });
  }
}
