/** Filters of both dialects: the grammar, and how each list reads its filter from a query. */
import { errorText, type SourceLocation } from "../../base/index.ts";
import { fieldTemplates, fillName, otherParameters } from "./filter-definition.ts";
import { reportInvalidFilters } from "./filter-rules.ts";
import { createGrammar, type Grammar } from "./grammar.ts";
import { QueryFilter, type QueryField } from "./query-filter.ts";
import { parseScalar } from "../paths/query.ts";
import { filterName, isFilterable } from "../fields/keys/filters.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import type { Resource } from "../routes/resource.ts";
import { NO_CATALOGS } from "../translation-context.ts";

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

/** The query field for negated names of a catalog. */
const BOOLEAN: QueryField = {
  type: "boolean",
  expected: "of type boolean",
  read: (text) => parseScalar(text, "boolean"),
};

/**
 * Returns the fields by which a list can be filtered, with their values in a query.
 *
 * @param isWhole whether the gateway itself filters the list, so that all fields can be used
 */
export function listFields(
  isWhole: boolean,
  { selectFields, members, queryFields }: Resource,
): ReadonlyMap<string, QueryField> {
  const names = isWhole
    ? [...selectFields(NO_CATALOGS).keys()]
    : [...members].flatMap(([name, rule]) => (isFilterable(rule) ? [name] : []));
  return new Map(names.map((name) => [name, queryFields.get(name) ?? BOOLEAN]));
}

/** Whether the gateway reads the whole list, and filters it itself. */
export const isWholeList = ({ catalog, aggregate }: RouteDefinition): boolean =>
  catalog !== undefined || aggregate !== undefined;

/** Compiles how a list reads its filter from the query. Undefined if filters are not in the query. */
export function compileQueryFilter(
  definition: RouteDefinition,
  resource: Resource,
  { client: { filters } }: DialectDefinition,
  isParameter: (name: string) => boolean,
  location: SourceLocation,
): QueryFilter | undefined {
  if (!filters || filters.header !== undefined || definition.response !== "list") return undefined;
  const isOther = (name: string): boolean => resource.members.has(name) && !isParameter(name);
  const filter = new QueryFilter(filters, listFields(isWholeList(definition), resource), isOther);
  for (const name of [...filter.parameters.keys(), ...filter.others])
    if (isParameter(name))
      location.report({
        message: `"${name}" is a parameter of filters and of "query" or "pagination"`,
        hint: 'name it in one place: "filter: true" of a field makes its parameter',
      });
  return filter;
}

/** Returns the upstream's parameters that compare a field, each with the rule of the field. */
export const filterParameters = ({ members }: Resource, { upstream: { filters } }: DialectDefinition) =>
  [...members.values()].flatMap((rule) => {
    const field = filterName(rule);
    if (field === undefined || !filters) return [];
    return fieldTemplates(filters).map((form) => ({ ...form, name: fillName(form.template, field), rule }));
  });

/** Returns the upstream's parameters for the filter of a list. */
export function upstreamFilterNames(
  definition: RouteDefinition,
  resource: Resource,
  dialect: DialectDefinition,
): string[] {
  const { client, upstream } = dialect;
  const isFiltered = client.filters ?? definition.default_filter ?? definition.default_order;
  if (!upstream.filters || !isFiltered || definition.response !== "list" || isWholeList(definition))
    return [];
  const parameters = filterParameters(resource, dialect).filter(({ isOther }) => !isOther);
  return [...parameters.map(({ name }) => name), ...otherParameters(upstream.filters)];
}

/** Returns all names that a condition of a list may have in the upstream's query; `filter` is the JSON of the header. */
export function conditionNames(
  definition: RouteDefinition,
  resource: Resource,
  dialect: DialectDefinition,
): string[] {
  const { filters } = dialect.upstream;
  if (!filters) return [];
  if (filters.header !== undefined) return ["filter"];
  const fixed = Object.keys({ ...definition.where, ...definition.where_values });
  const templates = fieldTemplates(filters);
  return [
    ...upstreamFilterNames(definition, resource, dialect),
    ...fixed.flatMap((field) => templates.map(({ template }) => fillName(template, field))),
  ];
}
