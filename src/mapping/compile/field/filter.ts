import type { FilterField } from "../../../dialect/filter/translate.ts";
import type { Scalar } from "../../../dialect/filter/condition.ts";
import type { SelectField, SelectFields } from "../../../dialect/filter/select.ts";
import type { Catalog } from "../catalog.ts";
import type { WriteCompileContext } from "./write.ts";
import type { FieldRule } from "../../schema/definition.ts";
import type { SourceLocation } from "../../load/source-location.ts";
import type { CatalogCopy, CatalogEntry } from "../../translation-context.ts";
import type { ValueKind } from "../value-kinds.ts";

type Translate = (value: Scalar, copy: CatalogCopy) => readonly Scalar[] | undefined;

/** All v4 values that alpha shows as this one. */
function byKind(kind: ValueKind): Translate {
  return (value) => {
    const v4 = kind.v4ValuesByAlpha.get(value);
    return v4 as readonly Scalar[] | undefined;
  };
}

function translation(rule: FieldRule, context: WriteCompileContext): Translate | undefined {
  const catalog = rule.catalog === undefined ? undefined : context.catalogs.get(rule.catalog);
  const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
  if (kind) return byKind(kind);
  if (!catalog) return undefined;
  return (value, copy) => {
    const v4 = typeof value === "string" ? catalog.filterId(value, copy) : undefined;
    return v4 === undefined ? undefined : [v4];
  };
}

/** The fields of a resource that a filter may name, and what they become in v4. */
export function compileFilterFields(
  rules: ReadonlyMap<string, FieldRule>,
  reference: string,
  context: WriteCompileContext,
  placeOf: (field: string) => SourceLocation,
): (copy: CatalogCopy) => ReadonlyMap<string, FilterField> {
  const filterable = [...rules].filter(([, rule]) => rule.filter === true);
  const prepared = filterable.map(([name, rule]) => {
    if (rule.v4 === undefined)
      placeOf(name).report("a field that can be filtered by must say which v4 field it is");
    const kind = rule.as === undefined ? undefined : context.values.get(rule.as);
    if (kind && kind.v4ValuesByAlpha.size === 0)
      placeOf(name).report(`"${rule.as}" is no table: v4 can't filter by what an expression makes`);
    return {
      name,
      rule,
      translate: translation(rule, context),
      catalog: context.catalogs.get(rule.catalog ?? ""),
    };
  });

  const bind = (copy: CatalogCopy): ReadonlyMap<string, FilterField> =>
    new Map(
      prepared.map(({ name, rule, translate, catalog }): [string, FilterField] => [
        name,
        {
          v4: rule.v4 ?? name,
          dateTime: rule.type === "date-time",
          ...(rule.accepts?.includes("reference") && { reference: true, idName: reference }),
          ...(rule.mark !== undefined && { mark: rule.mark }),
          ...(translate && { translate: (value: Scalar) => translate(value, copy) }),
          ...(catalog?.hiddenPrefix !== undefined && { hiddenPrefix: catalog.hiddenPrefix }),
          ordered: !catalog?.renames && rule.as === undefined && rule.mark === undefined,
        },
      ]),
    );

  const bound = new WeakMap<CatalogCopy, ReadonlyMap<string, FilterField>>();
  return (copy) => {
    const fields = bound.get(copy) ?? bind(copy);
    bound.set(copy, fields);
    return fields;
  };
}

/**
 * The fields that the gateway filters its own copy of a catalog by: all that alpha shows, and the opposites
 * that some clients know.
 */
export function compileSelectFields(
  rules: ReadonlyMap<string, FieldRule>,
  catalog: Catalog | undefined,
): SelectFields<CatalogEntry> {
  const shown = [...rules].map(([name, { type }]): [string, SelectField<CatalogEntry>] => [
    name,
    { value: ({ object }) => object[name], dateTime: type === "date-time" },
  ]);
  const opposites = Object.entries(catalog?.opposites ?? {}).map(
    ([name, of]): [string, SelectField<CatalogEntry>] => [
      name,
      { value: ({ object }) => object[of] === false },
    ],
  );
  return new Map([...shown, ...opposites]);
}
