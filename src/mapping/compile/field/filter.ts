/** Alpha filter → v4 filter: which fields a client may filter by, and what their values are in v4. */
import type { Scalar } from "../../../dialect/filter/condition.ts";
import type { QueryField } from "../../../dialect/filter/query-filter.ts";
import type { SelectField, SelectFields } from "../../../dialect/filter/select.ts";
import type { FilterField } from "../../../dialect/filter/translate.ts";
import { parseScalar, type ValueType } from "../../../dialect/query.ts";
import { filterName, filterRuleOf, isFilterable, type FieldRule } from "../../schema/field-definition.ts";
import type { CatalogCopy, CatalogEntry } from "../../translation-context.ts";
import type { Catalog } from "../compile-catalog.ts";
import { compileGetter } from "../member-paths.ts";
import type { CompileFields, FieldContext } from "./field-context.ts";

/** Returns the v4 values that mean the same as a filter value; undefined if v4 has no such value. */
type TranslateValue = (value: Scalar, copy: CatalogCopy) => readonly Scalar[] | undefined;

function compileValue(rule: FieldRule, context: FieldContext): TranslateValue | undefined {
  const kind = rule.values === undefined ? undefined : context.values.get(rule.values);
  if (kind?.filterValues) return (value) => kind.filterValues?.(value, rule.arguments ?? {});
  const catalog = rule.catalog === undefined ? undefined : context.catalogs.get(rule.catalog);
  if (!catalog) return undefined;
  return (value, copy) => {
    const v4 = typeof value === "string" ? catalog.filterId(value, copy) : undefined;
    return v4 === undefined ? undefined : [v4];
  };
}

/** Compiles the filter direction. The result is cached for each catalog copy, since catalog ids depend on it. */
export const compileFilter: CompileFields<(copy: CatalogCopy) => ReadonlyMap<string, FilterField>> = (
  rules,
  context,
  locationOf,
) => {
  const filterable = [...rules].filter(([, rule]) => isFilterable(rule));
  const prepared = filterable.map(([name, rule]) => {
    if (filterName(rule) === undefined)
      locationOf(name).report('a field that can be filtered by needs "upstream"');
    const kind = rule.values === undefined ? undefined : context.values.get(rule.values);
    const isComplete = rule.values !== undefined && !locationOf(name).isRemoved(rule.values);
    if (isComplete && kind && !kind.filterValues)
      locationOf(name).report(
        `"${rule.values}" has no table in "read" and no JSONata in "write" that can be compiled: a filter needs the upstream's value`,
      );
    return {
      name,
      rule,
      kind,
      translate: compileValue(rule, context),
      catalog: context.catalogs.get(rule.catalog ?? ""),
    };
  });

  const bindCopy = (copy: CatalogCopy): ReadonlyMap<string, FilterField> =>
    new Map(
      prepared.map(({ name, rule, kind, translate, catalog }): [string, FilterField] => [
        name,
        {
          // The boundary is found in objects of the upstream.
          v4: (rule.boundary === undefined ? filterName(rule) : rule.upstream) ?? name,
          dateTime: rule.format === "date-time",
          ...(rule.accepts?.includes("object") && { reference: true, idName: context.id }),
          ...(rule.boundary !== undefined && { boundaryField: rule.boundary }),
          ...(translate && { translate: (value: Scalar) => translate(value, copy) }),
          ...(catalog?.hiddenPrefix !== undefined && { hiddenPrefix: catalog.hiddenPrefix }),
          ...(kind?.keepsOrder && { keepsOrder: true }),
          ordered:
            !catalog?.renames &&
            (rule.values === undefined || kind?.keepsOrder === true) &&
            rule.boundary === undefined,
        },
      ]),
    );

  const fieldsByCopy = new WeakMap<CatalogCopy, ReadonlyMap<string, FilterField>>();
  return (copy) => {
    const fields = fieldsByCopy.get(copy) ?? bindCopy(copy);
    fieldsByCopy.set(copy, fields);
    return fields;
  };
};

/**
 * The fields by which the gateway filters its own copy of a catalog: every field that alpha shows, and the negated
 * names (`opposites`) that some clients use.
 */
export function compileSelectFields(
  rules: ReadonlyMap<string, FieldRule>,
  catalog: Catalog | undefined,
  { filtersInQuery: isText }: Pick<FieldContext, "filtersInQuery">,
): SelectFields<CatalogEntry> {
  const plain = [...rules].map(([name, { format }]): [string, SelectField<CatalogEntry>] => {
    const get = compileGetter(name);
    return [name, { value: ({ object }) => get(object), dateTime: format === "date-time", isText }];
  });
  const negated = Object.entries(catalog?.opposites ?? {}).map(
    ([name, field]): [string, SelectField<CatalogEntry>] => [
      name,
      { value: ({ object }) => object[field] === false },
    ],
  );
  return new Map([...plain, ...negated]);
}

/** The types of values that clients filter by, where a query has them as text. */
function compileQueryField(rule: FieldRule, context: FieldContext): QueryField {
  const { all } = filterRuleOf(rule) ?? {};
  const field = compileValues(rule, context);
  if (all === undefined) return field;
  return {
    ...field,
    expected: `${field.expected}, or ${all}`,
    read: (text) => (text === all ? all : field.read(text)),
  };
}

function compileValues(rule: FieldRule, { values }: FieldContext): QueryField {
  const kind = values.get(rule.values ?? "");
  const byText = new Map([...(kind?.v4ValuesByAlpha.keys() ?? [])].map((value) => [String(value), value]));
  if (byText.size > 0)
    return {
      type: "string",
      values: [...byText.values()] as Scalar[],
      expected: `one of ${[...byText.keys()].join(", ")}`,
      read: (text) => byText.get(text) as Scalar | undefined,
    };
  const type: ValueType = rule.boundary === undefined ? (rule.type ?? "string") : "boolean";
  return { type, expected: `of type ${type}`, read: (text) => parseScalar(text, type) };
}

/** Compiles the fields of filters in a query. Negated names of a catalog are boolean. */
export const compileQueryFields = (
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
): ReadonlyMap<string, QueryField> =>
  new Map([...rules].map(([name, rule]) => [name, compileQueryField(rule, context)]));
