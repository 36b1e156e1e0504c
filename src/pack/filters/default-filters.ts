/** The default filter and order of each list, and the values that mean that there is no filter. */
import { errorText, type SourceLocation, suggestionFor } from "../../base/index.ts";
import { fieldNames, type Condition, type Conditions, type Filter, type Order } from "./condition.ts";
import { forParameter, throwFilterError } from "./filter-error.ts";
import { createFilterWriter, type UpstreamFilter } from "./filter-writer.ts";
import type { Grammar } from "./grammar.ts";
import { selectRows } from "./select.ts";
import { translateFilter } from "./translate.ts";
import { parseScalar } from "../paths/query.ts";
import { filterRuleOf } from "../fields/keys/filters.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";
import type { RouteDefinition } from "../keys/route-keys.ts";
import { NO_CATALOGS } from "../translation-context.ts";
import { isWholeList, listFields } from "./filters.ts";
import type { Resource } from "../routes/resource.ts";
import type { Scalar, ValueKind } from "../values/value-kind.ts";

/** The filter and order of one list if the client sends none, in the client's names and values. */
export interface FilterDefaults {
  /** The value of each field that means that there is no filter. */
  readonly all: ReadonlyMap<string, Scalar>;
  /** The default conditions by field. They apply if the client's filter does not contain the field. */
  readonly conditions: ReadonlyMap<string, Condition>;
  /** The default order. If empty, the upstream decides. */
  readonly order: readonly Order[];
}

/** Removes conditions that are true for every row: those with a value that means that there is no filter. */
function removeAll(conditions: Conditions, all: FilterDefaults["all"]): Conditions {
  return conditions.flatMap((condition): Conditions => {
    if (condition.kind !== "field") {
      const members = condition.members.map((member) => removeAll(member, all));
      const isEmptied = members.map(
        (member, index) => member.length === 0 && condition.members[index]?.length !== 0,
      );
      if (condition.kind === "or") return isEmptied.includes(true) ? [] : [{ ...condition, members }];
      const others = members.filter((_member, index) => !isEmptied[index]);
      return others.length === 0 && members.length > 0 ? [] : [{ ...condition, members: others }];
    }
    const value = all.get(condition.field);
    const found = condition.tests.find((test) => test.value === value && test.operator !== "contains");
    if (value === undefined || !found) return [condition];
    if (found.operator !== "eq")
      forParameter(condition.parameter, () =>
        throwFilterError(condition.field, `cannot be compared with "${value}" by this operator.`),
      );
    return [];
  });
}

/**
 * Completes the filter of a client.
 *
 * @throws {HttpError} 400 if an operator is used with a value that means that there is no filter
 */
export function completeFilter(filter: Filter, { all, conditions, order }: FilterDefaults): Filter {
  const given = new Set(conditions.size === 0 ? [] : fieldNames(filter.conditions));
  const missing = [...conditions].flatMap(([field, condition]) => (given.has(field) ? [] : [condition]));
  return {
    ...filter,
    conditions: [...(all.size === 0 ? filter.conditions : removeAll(filter.conditions, all)), ...missing],
    ...(!filter.order?.length && order.length > 0 && { order }),
  };
}

/** Whether a text is a value of a type. Every text is a valid string, but a filter can never list all of them. */
const isOfType = (text: string, type: FieldRule["type"]): boolean =>
  type !== undefined && type !== "string" && parseScalar(text, type) !== undefined;

/** Reports values for "no filter" that have a second meaning, or that can't be sent to the upstream. */
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

/** Compiles the conditions of `default_filter` by field, and the fields of `default_order`. */
function compileDefaults(
  { default_filter: filter = {}, default_order: orders = {} }: RouteDefinition,
  resource: Resource,
  isWhole: boolean,
  location: SourceLocation,
): Pick<FilterDefaults, "conditions" | "order"> {
  const fields = listFields(isWhole, resource);
  const report = (name: string, what: string, at: SourceLocation): void =>
    at.reportKey({
      message: `the list can't be ${what} by "${name}"`,
      hint: suggestionFor(name, [...fields.keys()]),
    });
  const conditions = new Map<string, Condition>();
  for (const [name, value] of Object.entries(filter)) {
    const at = location.at("default_filter", name);
    const field = fields.get(name);
    if (!field) {
      report(name, "filtered", at);
      continue;
    }
    const { all } = filterRuleOf(resource.members.get(name) ?? {}) ?? {};
    const isKnown = (each: Scalar): boolean => each !== all && field.read(String(each)) !== undefined;
    for (const each of [value].flat().filter((one) => !isKnown(one)))
      at.report(each === all ? `"${all}" means no filter: leave the field out` : `must be ${field.expected}`);
    const tests = [value].flat().filter(isKnown);
    const members = tests.map((each): Conditions => [
      { kind: "field", field: name, tests: [{ operator: "eq", value: each }] },
    ]);
    const [[first] = []] = members;
    if (first) conditions.set(name, members.length === 1 ? first : { kind: "or", members });
  }
  const order = Object.entries(orders).map(([field, direction]) => {
    if (!fields.has(field)) report(field, "sorted", location.at("default_order", field));
    return { field, descending: direction === "descending" };
  });
  return { conditions, order: order.filter(({ field }) => fields.has(field)) };
}

const KEYS = ["default_filter", "default_order"] as const;

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
  /** The default filter that completes the client's filter. Undefined if missing. */
  readonly filterDefaults: FilterDefaults | undefined;
  /** The upstream's values for fields by which a list is not filtered, by the upstream's names. */
  readonly unfiltered: ReadonlyMap<string, Scalar>;
} {
  if (definition.response !== "list") return { filterDefaults: undefined, unfiltered: new Map() };
  const rules = [...resource.members].map(([name, rule]) => ({ name, ...filterRuleOf(rule) }));
  const isCondition = (name: string): boolean =>
    Object.hasOwn({ ...definition.where, ...definition.where_values }, name);
  const unfiltered = rules.flatMap(({ upstream: name, upstream_all: value }) =>
    name === undefined || value === undefined || isCondition(name) ? [] : [[name, value] as const],
  );
  const isWhole = isWholeList(definition);
  const { conditions, order } = compileDefaults(definition, resource, isWhole, location);
  /** Reports a default that can't be translated. */
  const check = (key: (typeof KEYS)[number], filter: Filter): void => {
    try {
      if (isWhole) selectRows([], filter, resource.selectFields(NO_CATALOGS));
      else if (upstream.filters) translateFilter(filter, resource.filterFields(NO_CATALOGS), grammar, where);
      else if (definition[key]) location.at(key).report('has no effect: the upstream has no "filters"');
    } catch (error) {
      location.at(key).report(`can't be translated: ${errorText(error)}`);
    }
  };
  // The ids of a catalog are only known after it was loaded.
  const known = [...conditions].filter(([name]) => resource.members.get(name)?.catalog === undefined);
  check("default_filter", { conditions: known.map(([, condition]) => condition) });
  check("default_order", { conditions: [], order });
  const all = new Map(rules.flatMap(({ name, all: value }) => (value === undefined ? [] : [[name, value]])));
  const isEmpty = (client.filters ? all.size : 0) + conditions.size + order.length === 0;
  return {
    filterDefaults: isEmpty ? undefined : { all, conditions, order },
    unfiltered: new Map(unfiltered),
  };
}
