/** Alpha filter → v4 filter: which fields a client may filter by, and what their values are in v4. */
import type { Scalar } from "../../../dialect/filter/condition.ts";
import type { SelectField, SelectFields } from "../../../dialect/filter/select.ts";
import type { FilterField } from "../../../dialect/filter/translate.ts";
import type { FieldRule } from "../../schema/definition.ts";
import type { CatalogCopy, CatalogEntry } from "../../translation-context.ts";
import type { Catalog } from "../catalog.ts";
import type { CompileFields, FieldContext } from "./context.ts";

/** The v4 values that a filter value stands for; `undefined` where there is none. */
type TranslateValue = (value: Scalar, copy: CatalogCopy) => readonly Scalar[] | undefined;

function compileValue(rule: FieldRule, context: FieldContext): TranslateValue | undefined {
  const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
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
    if (rule.v4 === undefined)
      locationOf(name).report("a field that can be filtered by must say which v4 field it is");
    const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
    const isComplete = rule.as !== undefined && !locationOf(name).isRemoved(rule.as);
    if (isComplete && kind?.v4ValuesByAlpha.size === 0)
      locationOf(name).report(`"${rule.as}" has no table: v4 can't filter by the result of an expression`);
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
          v4: rule.v4 ?? name,
          dateTime: rule.type === "date-time",
          ...(rule.accepts?.includes("reference") && { reference: true, idName: context.reference }),
          ...(rule.mark !== undefined && { boundaryField: rule.mark }),
          ...(translate && { translate: (value: Scalar) => translate(value, copy) }),
          ...(catalog?.hiddenPrefix !== undefined && { hiddenPrefix: catalog.hiddenPrefix }),
          ordered: !catalog?.renames && rule.as === undefined && rule.mark === undefined,
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
  const plain = [...rules].map(([name, { type }]): [string, SelectField<CatalogEntry>] => [
    name,
    { value: ({ object }) => object[name], dateTime: type === "date-time" },
  ]);
  const negated = Object.entries(catalog?.opposites ?? {}).map(
    ([name, field]): [string, SelectField<CatalogEntry>] => [
      name,
      { value: ({ object }) => object[field] === false },
    ],
  );
  return new Map([...plain, ...negated]);
}
