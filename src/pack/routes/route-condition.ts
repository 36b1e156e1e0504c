/** The condition that the pack adds to the filter of a list, in the upstream's form. */
import type { Grammar } from "../filters/grammar.ts";
import type { UpstreamFilter } from "../filters/filter-writer.ts";
import { isExactNumber, isObject, resolveReference, type SourceLocation } from "../../base/index.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import {
  compileNameGetter,
  InvalidPathValueError,
  NAME_IN_BRACES,
  reportUnknownName,
} from "../calls/endpoint.ts";
import { reportInvalidCondition } from "../filters/filter-rules.ts";
import { compilePathValue, type PathParameterRules } from "../paths/path-parameters.ts";
import { isOperand, type ValueKind } from "../values/value-kind.ts";

/** Compiles the condition that a field has one of a table's upstream values; undefined if the upstream can't express it. */
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

/** Values by their names in braces. */
type Values = Readonly<Record<string, unknown>>;

/** Returns a part of a condition with its values; undefined if the part is constant. */
type Fill = ((values: Values) => unknown) | undefined;

/** The allowed names in braces, and the rules of path parameters. */
interface Names {
  readonly names: readonly string[];
  readonly rules: PathParameterRules;
}

/** Reads the value of a name in braces. @throws {InvalidPathValueError} if it is missing, or not a single value */
function compileName(name: string): (values: Values) => string | number | boolean {
  const get = compileNameGetter(name);
  return (values) => {
    const value = get(values);
    if (isExactNumber(value)) return value.rawJSON;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
    throw new InvalidPathValueError(`no value for {${name}} of a condition`);
  };
}

/** Compiles a text with names in braces. If the text is only a name, the type of its value is kept. */
function compileText(text: string, { names, rules }: Names, location: SourceLocation): Fill {
  const parts = text.split(NAME_IN_BRACES);
  if (parts.length === 1) return undefined;
  const pieces = parts.map((part, index) => {
    if (index % 2 === 0) return () => part;
    reportUnknownName(part, names, location);
    return compileName(part);
  });
  const [before, only, after] = parts;
  if (parts.length > 3 || only === undefined || before !== "" || after !== "")
    return (values) => pieces.map((piece) => piece(values)).join("");
  const read = compileName(only);
  const toValue = compilePathValue(rules[only]?.type);
  return (values) => toValue(read(values));
}

/** Compiles the names in braces in the values of a condition. Its keys are fields of the upstream. */
function compileValues(value: unknown, names: Names, location: SourceLocation): Fill {
  if (typeof value === "string") return compileText(value, names, location);
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  const entries = Object.entries(value).flatMap(([key, member]) => {
    const fill = compileValues(member, names, location.at(Array.isArray(value) ? Number(key) : key));
    return fill ? [[key, fill] as const] : [];
  });
  if (entries.length === 0) return undefined;
  return (values) => {
    const filled = Object.fromEntries(entries.map(([key, fill]) => [key, fill(values)]));
    return Array.isArray(value) ? Object.assign([...value], filled) : { ...value, ...filled };
  };
}

/** Compiles `where` and `where_values` of a route. @param available The allowed names in braces in `where`. */
export function compileCondition(
  { where, where_values: choices = {} }: RouteDefinition,
  values: ReadonlyMap<string, ValueKind>,
  dialect: DialectDefinition,
  grammar: Grammar,
  available: Names,
  location: SourceLocation,
) {
  if (where) reportInvalidCondition(where, dialect, location.at("where"));
  const fill = compileValues(where, available, location.at("where"));
  const chosen: UpstreamFilter[] = [];
  for (const [field, name] of Object.entries(choices)) {
    const at = location.at("where_values", field);
    const kind = resolveReference(at, "value kind", name, values);
    if (!dialect.upstream.filters) at.report('has no effect: the upstream has no "filters"');
    else chosen.push((kind && compileChoice(field, kind, grammar, at)) ?? {});
  }
  const and = grammar.writer.key("and");
  if (and === undefined && chosen.length + (where ? 1 : 0) > 1)
    location.at("where_values").report('several conditions need the operator "and" of the upstream');
  const join = (first: UpstreamFilter | undefined): UpstreamFilter | undefined => {
    const [only, ...others] = first ? [first, ...chosen] : chosen;
    return others.length === 0 || and === undefined ? only : { [and]: [only, ...others] };
  };
  return {
    /** The condition of the list, in the upstream's form, as written in the pack; undefined if missing. */
    where: join(where),
    /**
     * Replaces the names in braces by their values; undefined if missing.
     *
     * @throws {InvalidPathValueError} if the response that a name refers to does not contain the value
     */
    fillWhere: fill && ((each: Values) => join(fill(each) as UpstreamFilter) ?? {}),
  };
}
