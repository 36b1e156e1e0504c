/** Alpha filter → v4 filter: the fields that a client may filter by, and their values in v4. */
import type { Scalar } from "../values/value-kind.ts";
import type { QueryField } from "../filters/query-filter.ts";
import type { SelectField, SelectFields } from "../filters/select.ts";
import type { FilterField } from "../filters/translate.ts";
import { isObject } from "../../base/index.ts";
import { compileFilterField, operandRulesOf, selectPartOf } from "./keys/field-keys.ts";
import { filterRuleOf, isFilterable } from "./keys/filters.ts";
import { parseScalar, type ValueType } from "../paths/query.ts";
import type { FieldRule } from "./field-definition.ts";
import type { CatalogCopy, CatalogEntry } from "../translation-context.ts";
import type { Catalog } from "../calls/compile-catalog.ts";
import { compileGetter } from "../values/member-paths.ts";
import type { CompileFields, FieldContext } from "./field-context.ts";

/** Compiles the filter direction. The result is cached for each catalog copy, since catalog ids depend on it. */
export const compileFilter: CompileFields<(copy: CatalogCopy) => ReadonlyMap<string, FilterField>> = (
  rules,
  context,
  locationOf,
) => {
  const fields = [...rules].flatMap(([name, rule]) =>
    isFilterable(rule) ? [[name, compileFilterField(rule, context, locationOf(name))] as const] : [],
  );
  return cacheByCopy((copy) => new Map(fields.map(([name, bind]) => [name, bind(copy, name)])));
};

/** Calls a function once for each catalog copy. */
function cacheByCopy<Fields>(bindCopy: (copy: CatalogCopy) => Fields): (copy: CatalogCopy) => Fields {
  const byCopy = new WeakMap<CatalogCopy, Fields>();
  return (copy) => {
    const fields = byCopy.get(copy) ?? bindCopy(copy);
    byCopy.set(copy, fields);
    return fields;
  };
}

/** Replaces an object, or each object in a list, by its id. Other values stay unchanged. */
function idsOf(value: unknown, id: string): unknown {
  if (Array.isArray(value)) return value.map((item) => idsOf(item, id));
  return isObject(value) ? value[id] : value;
}

/**
 * Compiles the fields by which the gateway itself filters rows: every field of alpha's responses, and the negated names
 * (`opposites`) of a catalog that some clients use. An object that a field refers to is compared by its id.
 */
export function compileSelectFields(
  rules: ReadonlyMap<string, FieldRule>,
  catalog: Catalog | undefined,
  context: FieldContext,
): (copy: CatalogCopy) => SelectFields<CatalogEntry> {
  const { filters } = context.dialect.client;
  // In a query, all values are texts.
  const isText = filters !== undefined && filters.header === undefined;
  const plain = [...rules].map(([name, rule]) => {
    const get = compileGetter(name);
    const { hasId, translate } = selectPartOf(rule, context);
    const value: SelectField<CatalogEntry>["value"] = hasId
      ? ({ object }) => idsOf(get(object), context.id)
      : ({ object }) => get(object);
    return { name, translate, field: { value, isText, ...operandRulesOf(rule, context) } };
  });
  const negated = Object.entries(catalog?.opposites ?? {}).map(
    ([name, field]): [string, SelectField<CatalogEntry>] => [
      name,
      { value: ({ object }) => object[field] === false },
    ],
  );
  return cacheByCopy((copy) => {
    const bound = plain.map(({ name, translate, field }): [string, SelectField<CatalogEntry>] => [
      name,
      translate ? { ...field, translate: (value) => translate(value, copy) } : field,
    ]);
    return new Map([...bound, ...negated]);
  });
}

/** Returns the types of the values that clients filter by, because a query contains them as text. */
function compileQueryField(rule: FieldRule, { values }: FieldContext): QueryField {
  const kind = values.get(rule.values ?? "");
  const byText = new Map([...(kind?.v4ValuesByAlpha.keys() ?? [])].map((value) => [String(value), value]));
  const type: ValueType = rule.boundary === undefined ? (rule.type ?? "string") : "boolean";
  const field: QueryField =
    byText.size > 0
      ? {
          type: "string",
          values: [...byText.values()] as Scalar[],
          expected: `one of ${[...byText.keys()].join(", ")}`,
          read: (text) => byText.get(text) as Scalar | undefined,
        }
      : { type, expected: `of type ${type}`, read: (text) => parseScalar(text, type) };
  const { all } = filterRuleOf(rule) ?? {};
  if (all === undefined) return field;
  return {
    ...field,
    expected: `${field.expected}, or ${all}`,
    read: (text) => (text === all ? all : field.read(text)),
  };
}

/** Compiles the fields of filters in a query. Negated names of a catalog are boolean. */
export const compileQueryFields = (
  rules: ReadonlyMap<string, FieldRule>,
  context: FieldContext,
): ReadonlyMap<string, QueryField> =>
  new Map([...rules].map(([name, rule]) => [name, compileQueryField(rule, context)]));
