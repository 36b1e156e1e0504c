/** Alpha filter → v4 filter: which fields a client may filter by, and what their values are in v4. */
import type { Scalar } from "../../../dialect/filter/condition.ts";
import type { SelectField, SelectFields } from "../../../dialect/filter/select.ts";
import type { FilterField } from "../../../dialect/filter/translate.ts";
import type { FieldRule } from "../../schema/field-definition.ts";
import type { CatalogCopy, CatalogEntry } from "../../translation-context.ts";
import type { Catalog } from "../catalog.ts";
import type { CompileFields, FieldContext } from "./context.ts";

/** The v4 values that a filter value stands for; `undefined` where there is none. */
type TranslateValue = (value: Scalar, copy: CatalogCopy) => readonly Scalar[] | undefined;

function compileValue(rule: FieldRule, context: FieldContext): TranslateValue | undefined {
  const kind = rule.values === undefined ? undefined : context.values.get(rule.values);
  if (kind) return (value) => kind.v4ValuesByAlpha.get(value) as readonly Scalar[] | undefined;
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
  const filterable = [...rules].filter(([, rule]) => rule.filter === true);
  const prepared = filterable.map(([name, rule]) => {
    if (rule.upstream === undefined)
      locationOf(name).report('a field that can be filtered by needs "upstream"');
    const kind = rule.values === undefined ? undefined : context.values.get(rule.values);
    const isComplete = rule.values !== undefined && !locationOf(name).isRemoved(rule.values);
    if (isComplete && kind?.v4ValuesByAlpha.size === 0)
      locationOf(name).report(
        `"${rule.values}" has no table: the upstream can't filter by the result of an expression`,
      );
    return {
      name,
      rule,
      translate: compileValue(rule, context),
      catalog: context.catalogs.get(rule.catalog ?? ""),
    };
  });

  const bindCopy = (copy: CatalogCopy): ReadonlyMap<string, FilterField> =>
    new Map(
      prepared.map(({ name, rule, translate, catalog }): [string, FilterField] => [
        name,
        {
          v4: rule.upstream ?? name,
          dateTime: rule.format === "date-time",
          ...(rule.accepts?.includes("object") && { reference: true, idName: context.id }),
          ...(rule.boundary !== undefined && { boundaryField: rule.boundary }),
          ...(translate && { translate: (value: Scalar) => translate(value, copy) }),
          ...(catalog?.hiddenPrefix !== undefined && { hiddenPrefix: catalog.hiddenPrefix }),
          ordered: !catalog?.renames && rule.values === undefined && rule.boundary === undefined,
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
): SelectFields<CatalogEntry> {
  const plain = [...rules].map(([name, { format }]): [string, SelectField<CatalogEntry>] => [
    name,
    { value: ({ object }) => object[name], dateTime: format === "date-time" },
  ]);
  const negated = Object.entries(catalog?.opposites ?? {}).map(
    ([name, field]): [string, SelectField<CatalogEntry>] => [
      name,
      { value: ({ object }) => object[field] === false },
    ],
  );
  return new Map([...plain, ...negated]);
}
