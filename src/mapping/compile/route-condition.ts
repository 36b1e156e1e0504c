/** The condition that the pack adds to the filter of a list, in the upstream's form. */
import type { Grammar } from "../../dialect/filter/grammar.ts";
import type { UpstreamFilter } from "../../dialect/filter/filter-writer.ts";
import { resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../schema/route-definition.ts";
import { reportInvalidCondition } from "./filters.ts";
import { isOperand, type ValueKind } from "./value-kinds.ts";

/** The condition that a field has one of the upstream values of a table; undefined if the upstream can't have it. */
function compileChoice(
  field: string,
  kind: ValueKind,
  { writer }: Grammar,
  location: SourceLocation,
): UpstreamFilter | undefined {
  const values = [...kind.v4ValuesByAlpha.values()].flat().filter(isOperand);
  const [first, ...others] = values;
  if (first === undefined) {
    location.report('the value kind has no table of upstream values: "read" as a table, or "same"');
    return undefined;
  }
  const or = writer.key("or");
  if (values.some((value) => !writer.canCompare("eq", value)) || (others.length > 0 && or === undefined)) {
    location.report("the upstream can't filter by one of several values of a field");
    return undefined;
  }
  return or === undefined || others.length === 0
    ? { [field]: first }
    : { [or]: values.map((value) => ({ [field]: value })) };
}

/** Compiles `where` and `where_values` of a route; undefined without both. */
export function compileCondition(
  { where, where_values: choices = {} }: RouteDefinition,
  values: ReadonlyMap<string, ValueKind>,
  dialect: DialectDefinition,
  grammar: Grammar,
  location: SourceLocation,
): UpstreamFilter | undefined {
  if (where) reportInvalidCondition(where, dialect, location.at("where"));
  const conditions: UpstreamFilter[] = where ? [where] : [];
  for (const [field, name] of Object.entries(choices)) {
    const at = location.at("where_values", field);
    const kind = resolveReference(at, "value kind", name, values);
    if (!dialect.upstream.filters) at.report('has no effect: the upstream has no "filters"');
    else conditions.push((kind && compileChoice(field, kind, grammar, at)) ?? {});
  }
  const [first, ...others] = conditions;
  if (others.length === 0) return first;
  const and = grammar.writer.key("and");
  if (and === undefined)
    location.at("where_values").report('several conditions need the operator "and" of the upstream');
  return and === undefined ? first : { [and]: conditions };
}
