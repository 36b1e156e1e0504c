/** Filters of both dialects: the grammar, and how each list reads its filter from a query. */
import { errorText, isObject, type SourceLocation } from "../../base/index.ts";
import { FIELD, fillName, spellingsOf, type FilterDefinition } from "./filter-definition.ts";
import type { UpstreamFilter } from "./filter-writer.ts";
import { createGrammar, type Grammar } from "./grammar.ts";
import { QueryFilter, type QueryField } from "./query-filter.ts";
import { formsOf } from "./sort-parameter.ts";
import { parseScalar } from "../routes/query.ts";
import { filterName, isFilterable, type FieldRule } from "../fields/field-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import type { Resource } from "../load/resource.ts";
import { NO_CATALOGS } from "../translation-context.ts";
import { isOperand } from "../fields/value-kinds.ts";

/** Keys that only one of the two forms has. */
const QUERY_KEYS = ["parameter", "in", "sort"] as const;
const HEADER_OPERATORS = ["and", "or", "order_by", "order"] as const;

/** Operators whose spelling has no field. */
const WITHOUT_FIELD: ReadonlySet<string> = new Set([...HEADER_OPERATORS, "search"]);

/** Reports the forms of an order that are the same, or lack a part. */
function reportInvalidSort(
  definition: NonNullable<FilterDefinition["sort"]>,
  location: SourceLocation,
): void {
  const { ascending, descending } = formsOf(definition);
  if (ascending === descending) location.report('"ascending" and "descending" are the same');
  const isField = definition.direction === undefined;
  for (const [key, form] of [
    ["ascending", ascending],
    ["descending", descending],
  ] as const) {
    if (form.includes(FIELD) !== isField)
      location
        .at(key)
        .report(
          isField
            ? `needs the place of the field: "-${FIELD}"`
            : `has no field: "direction" has the direction alone`,
        );
    if (definition.multiple === "comma" && form.includes(","))
      location.at(key).report('has a comma, which separates fields: "multiple: comma"');
  }
  if (!isField && definition.multiple !== undefined)
    location.at("multiple").report('has no effect: with "direction" a list is ordered by one field');
}

/** Reports keys of a side's filters that contradict each other. @returns Whether their form is clear. */
function reportInvalidFilters(definition: FilterDefinition, location: SourceLocation): boolean {
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
  const templates = [
    ["parameter", location.at("parameter"), parameter],
    ["in", location.at("in", "parameter"), choice?.parameter],
    ...Object.entries(operators).flatMap(([operator, spellings]) =>
      WITHOUT_FIELD.has(operator)
        ? []
        : spellingsOf(spellings).map((each) => [operator, location.at("operators", operator), each] as const),
    ),
  ] as const;
  const seen = new Map<string, string>();
  for (const [operator, at, template] of templates) {
    if (template === undefined) continue;
    if (template.split(FIELD).length !== 2)
      at.report({
        message: "needs the place of the field, once",
        hint: `${operator}: "${FIELD}[${operator}]"`,
      });
    const other = seen.get(template);
    // Several values of one parameter need no name of their own.
    if (other !== undefined && !(other === "parameter" && operator === "in"))
      at.report(`"${other}" has the same parameter`);
    seen.set(template, operator);
  }
  if (sort) reportInvalidSort(sort, location.at("sort"));
  return true;
}

/** Reports a condition of the pack that the upstream can't have. */
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

/** Compiles the filter grammar. Reports its problems at the operators. */
export function compileGrammar({ client, upstream }: DialectDefinition, location: SourceLocation): Grammar {
  const withoutClient = createGrammar({ operators: {} }, upstream.filters);
  if (upstream.filters) reportInvalidFilters(upstream.filters, location.at("upstream", "filters"));
  if (!client.filters) return withoutClient;
  const at = location.at("client", "filters");
  if (client.filters.header !== undefined && client.filters.unknown === "ignore")
    at.at("unknown").report("has no effect: a filter in a header by an unknown field is always a 400");
  if (!reportInvalidFilters(client.filters, at)) return withoutClient;
  try {
    return createGrammar(client.filters, upstream.filters);
  } catch (error) {
    at.at("operators").report(errorText(error));
    return withoutClient;
  }
}

/** Negated names of a catalog. */
const BOOLEAN: QueryField = {
  type: "boolean",
  expected: "of type boolean",
  read: (text) => parseScalar(text, "boolean"),
};

/** The fields by which a list can be filtered, with the values that they have in a query. Where the gateway itself filters, all fields are. */
export function listFields(
  { catalog, aggregate }: RouteDefinition,
  { selectFields, members, queryFields }: Resource,
): ReadonlyMap<string, QueryField> {
  const names =
    catalog || aggregate
      ? [...selectFields(NO_CATALOGS).keys()]
      : [...members].flatMap(([name, rule]) => (isFilterable(rule) ? [name] : []));
  return new Map(names.map((name) => [name, queryFields.get(name) ?? BOOLEAN]));
}

/** Compiles how a list reads its filter from the query; undefined if it has none there. */
export function compileQueryFilter(
  definition: RouteDefinition,
  resource: Resource,
  { client }: DialectDefinition,
  isParameter: (name: string) => boolean,
  location: SourceLocation,
): QueryFilter | undefined {
  const { filters } = client;
  if (!filters || filters.header !== undefined || definition.response !== "list") return undefined;
  const fields = listFields(definition, resource);
  const isOther = (name: string): boolean => resource.members.has(name) && !isParameter(name);
  const filter = new QueryFilter(filters, fields, isOther);
  for (const name of [...filter.parameters.keys(), ...filter.others])
    if (isParameter(name))
      location.report(`"${name}" is a parameter of filters and of "query" or "pagination"`);
  return filter;
}

/** The upstream's parameters of the filter of a list. */
export function upstreamFilterNames(
  definition: RouteDefinition,
  resource: Resource,
  { client, upstream }: DialectDefinition,
): string[] {
  const { filters } = upstream;
  if (!filters || filters.header !== undefined || definition.response !== "list") return [];
  if (!client.filters && !definition.default_filter && !definition.default_order) return [];
  if (definition.catalog || definition.aggregate) return [];
  const { parameter, in: choice, operators, sort } = filters;
  const fields = [...resource.members.values()].flatMap((rule) => filterName(rule) ?? []);
  const templates = Object.entries(operators).flatMap(([is, spellings]) =>
    WITHOUT_FIELD.has(is) ? [] : spellingsOf(spellings).slice(0, 1),
  );
  const all = [parameter, choice?.parameter, ...templates].filter((template) => template !== undefined);
  return [
    ...fields.flatMap((field) => all.map((template) => fillName(template, field))),
    ...[sort?.parameter, sort?.direction, spellingsOf(operators.search)[0]].filter(
      (name) => name !== undefined,
    ),
  ];
}

/** The upstream's parameters that compare a field, each with the rule of the field. */
export function filterParameters(
  { members }: Resource,
  { upstream: { filters } }: DialectDefinition,
): (readonly [name: string, rule: FieldRule])[] {
  if (!filters || filters.header !== undefined) return [];
  const { parameter, in: choice, operators } = filters;
  const templates = [parameter, choice?.parameter, ...Object.values(operators).flatMap(spellingsOf)];
  return [...members.values()].flatMap((rule) =>
    templates.flatMap((template) => {
      const field = filterName(rule);
      return field === undefined || template === undefined
        ? []
        : [[fillName(template, field), rule] as const];
    }),
  );
}

/** All names under which a condition of a list may be in the upstream's query; `filter` is the JSON of its header. */
export function conditionNames(
  definition: RouteDefinition,
  resource: Resource,
  dialect: DialectDefinition,
): string[] {
  const { filters } = dialect.upstream;
  if (!filters) return [];
  if (filters.header !== undefined) return ["filter"];
  const { parameter, in: choice, operators } = filters;
  const templates = [parameter, choice?.parameter, ...Object.values(operators).flatMap(spellingsOf)];
  const fixed = Object.keys({ ...definition.where, ...definition.where_values });
  return [
    ...upstreamFilterNames(definition, resource, dialect),
    ...fixed.flatMap((field) =>
      templates.flatMap((template) => (template === undefined ? [] : fillName(template, field))),
    ),
  ];
}

/** The parameters of filters whose text has several values, separated by commas. */
export function separatedNames(resource: Resource, { upstream: { filters } }: DialectDefinition): string[] {
  const choice = filters?.in;
  if (choice?.multiple !== "comma") return [];
  return [...resource.members.values()]
    .flatMap((rule) => filterName(rule) ?? [])
    .map((field) => fillName(choice.parameter, field));
}
