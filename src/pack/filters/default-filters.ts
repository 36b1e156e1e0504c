/** The default filter and order of each list, and the values that mean no filter. */
import { errorText, type SourceLocation, suggestionFor } from "../../base/index.ts";
import type { Condition, Conditions, Filter, Order } from "./condition.ts";
import { createFilterWriter } from "./filter-writer.ts";
import type { UpstreamFilter } from "./filter-writer.ts";
import type { FilterDefaults } from "./filter-defaults.ts";
import type { Grammar } from "./grammar.ts";
import type { QueryField } from "./query-filter.ts";
import { selectRows } from "./select.ts";
import { translateFilter } from "./translate.ts";
import { parseScalar } from "../paths/query.ts";
import { filterRuleOf } from "../fields/keys/filters.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { RouteDefinition } from "../routes/route-definition.ts";
import { NO_CATALOGS } from "../translation-context.ts";
import { isWholeList, listFields } from "./filters.ts";
import type { Resource } from "../routes/resource.ts";
import type { Scalar, ValueKind } from "../values/value-kind.ts";

/** Reports values for no filter that have another meaning, or that the upstream can't get. */
export function reportInvalidFilterRules(
  { fields, inputs = {} }: ResourceDefinition,
  values: ReadonlyMap<string, ValueKind>,
  { upstream }: DialectDefinition,
  location: SourceLocation,
): void {
  const writer = createFilterWriter(upstream.filters);
  for (const [key, rules] of Object.entries({ fields, inputs })) {
    for (const [name, rule] of Object.entries(rules)) {
      const { all, upstream_all: upstreamAll } = filterRuleOf(rule) ?? {};
      const kind = values.get(rule.values ?? "");
      const at = location.at(key, name, "filter");
      if (all !== undefined && (kind?.v4ValuesByAlpha.has(all) || isOfType(all, rule.type)))
        at.at("all").report(`"${all}" is a value of the field: clients could not filter by it`);
      if (upstreamAll === undefined) continue;
      if (kind && [...kind.v4ValuesByAlpha.values()].flat().includes(upstreamAll))
        at.at("upstream_all").report(`"${upstreamAll}" is a value of the upstream's field`);
      if (rule.boundary !== undefined)
        at.at("upstream_all").report('the upstream can\'t filter by this field: it has a "boundary"');
      else if (!writer.canCompare("eq", upstreamAll))
        at.at("upstream_all").report("has no effect: the upstream can't compare a field with a value");
    }
  }
}

/** Whether a text is a value of a type. For strings every text is, but a filter never contains all of them. */
const isOfType = (text: string, type: FieldRule["type"]): boolean =>
  type !== undefined && type !== "string" && parseScalar(text, type) !== undefined;

/** The conditions of `default_filter` by field. */
function compileDefaultFilter(
  definition: RouteDefinition,
  { members }: Resource,
  fields: ReadonlyMap<string, QueryField>,
  location: SourceLocation,
): Map<string, Condition> {
  const conditions = new Map<string, Condition>();
  for (const [name, value] of Object.entries(definition.default_filter ?? {})) {
    const at = location.at(name);
    const field = fields.get(name);
    if (!field) {
      const hint = suggestionFor(name, [...fields.keys()]);
      at.reportKey({ message: `the list can't be filtered by "${name}"`, hint });
      continue;
    }
    const { all } = filterRuleOf(members.get(name) ?? {}) ?? {};
    const tests = [value].flat().flatMap((each): Conditions[] => {
      const isKnown = each !== all && field.read(String(each)) !== undefined;
      if (isKnown) return [[{ kind: "field", field: name, tests: [{ operator: "eq", value: each }] }]];
      at.report(each === all ? `"${all}" means no filter: leave the field out` : `must be ${field.expected}`);
      return [];
    });
    const [[first] = []] = tests;
    if (first) conditions.set(name, tests.length === 1 ? first : { kind: "or", members: tests });
  }
  return conditions;
}

const KEYS = ["default_filter", "default_order"] as const;

/** Reports a default that can't be translated. */
function reportFailure(location: SourceLocation, translate: () => unknown): void {
  try {
    translate();
  } catch (error) {
    location.report(`can't be translated: ${errorText(error)}`);
  }
}

/**
 * Compiles the default filter and order of a list.
 *
 * @param where The condition of the route.
 */
export function compileFilterDefaults(
  definition: RouteDefinition,
  resource: Resource,
  { client, upstream }: DialectDefinition,
  grammar: Grammar,
  where: UpstreamFilter | undefined,
  location: SourceLocation,
): {
  /** The default filter that completes the client's filter. Undefined without one. */
  readonly filterDefaults: FilterDefaults | undefined;
  /** The upstream's values for fields by which a list is not filtered, by the upstream's names. */
  readonly unfiltered: ReadonlyMap<string, Scalar>;
} {
  const { default_order: orders = {}, response } = definition;
  const conditionFields = new Set(Object.keys({ ...definition.where, ...definition.where_values }));
  if (response !== "list") {
    for (const key of KEYS)
      if (definition[key]) location.at(key).report(`"${key}" needs a route that responds with a list`);
    return { filterDefaults: undefined, unfiltered: new Map() };
  }
  const rules = [...resource.members].map(([name, rule]) => [name, filterRuleOf(rule)] as const);
  const unfiltered = new Map(
    rules.flatMap(([, rule]) =>
      rule?.upstream === undefined || rule.upstream_all === undefined || conditionFields.has(rule.upstream)
        ? []
        : [[rule.upstream, rule.upstream_all] as const],
    ),
  );
  const isWhole = isWholeList(definition);
  const fields = listFields(isWhole, resource);
  const [filterAt, orderAt] = [location.at("default_filter"), location.at("default_order")];
  const conditions = compileDefaultFilter(definition, resource, fields, filterAt);
  const order = Object.entries(orders).flatMap(([field, direction]): Order[] => {
    if (fields.has(field)) return [{ field, descending: direction === "descending" }];
    const hint = suggestionFor(field, [...fields.keys()]);
    orderAt.at(field).reportKey({ message: `the list can't be sorted by "${field}"`, hint });
    return [];
  });
  if (isWhole || upstream.filters) {
    const translate = (each: Filter): unknown =>
      isWhole
        ? selectRows([], each, resource.selectFields(NO_CATALOGS))
        : translateFilter(each, resource.filterFields(NO_CATALOGS), grammar, where);
    // The ids of catalogs are known when they have been loaded.
    const withoutCatalog = [...conditions].filter(
      ([name]) => resource.members.get(name)?.catalog === undefined,
    );
    reportFailure(filterAt, () =>
      translate({ conditions: withoutCatalog.map(([, condition]) => condition) }),
    );
    reportFailure(orderAt, () => translate({ conditions: [], order }));
  } else
    for (const key of KEYS)
      if (definition[key]) location.at(key).report('has no effect: the upstream has no "filters"');
  const all = new Map(rules.flatMap(([name, rule]) => (rule?.all === undefined ? [] : [[name, rule.all]])));
  const isEmpty = (client.filters ? all.size : 0) + conditions.size + order.length === 0;
  return { filterDefaults: isEmpty ? undefined : { all, conditions, order }, unfiltered };
}
