/** The registry of the keys of a field, with functions over all of them. */
import type { z } from "zod";
import type { Json, SourceLocation } from "../../../base/index.ts";
import type { OperandRules } from "../../filters/operand.ts";
import type { FilterField } from "../../filters/translate.ts";
import type { CatalogCopy } from "../../translation-context.ts";
import type { Scalar } from "../../values/value-kind.ts";
import { checkRules } from "../../key-rules.ts";
import { catalog } from "./catalog.ts";
import type {
  ErrorPart,
  FieldKeyContext,
  FieldKeys,
  FieldTexts,
  FilterPart,
  ReadStep,
  SelectPart,
  WriteStep,
  WrittenField,
} from "./field-key.ts";
import { format } from "./format.ts";
import { filters } from "./filters.ts";
import { object } from "./object.ts";
import * as plainKeys from "./plain-keys.ts";
import { source } from "./source.ts";
import { values } from "./values.ts";

/**
 * All families of keys, in the order in which values of responses are converted. Client values are converted in the
 * reverse order.
 *
 * A key of a field is one export of `plain-keys.ts`. Here, clients get each text with a prefix:
 *
 *     function remove(prefix: string, value: unknown): unknown {
 *       if (Array.isArray(value)) return value.map((each) => remove(prefix, each));
 *       return typeof value === "string" && value.startsWith(prefix) ? value.slice(prefix.length) : value;
 *     }
 *
 *     export const prefix = fieldKeys({
 *       schemas: { prefix: about(z.string().min(1).optional(), "The start of each text, for clients only.", "vm-") },
 *       read: ({ prefix: own }) => (own ? [ofText((text) => own + text)] : []),
 *       write: ({ prefix: own }) => (own ? { run: (value) => remove(own, value), needsWhole: false } : undefined),
 *       filter: ({ prefix: own }) => (own ? { translate: (value) => [remove(own, value) as Scalar] } : {}),
 *       classOf: ({ prefix: own }) => (own ? "value" : undefined),
 *       texts: ({ prefix: own }) => (own ? [{ read: `after ${own}` }] : []),
 *     });
 */
const FAMILIES = [source, format, values, catalog, object, filters, ...Object.values(plainKeys)] as const;

/** The intersection of the types of a union. */
type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** The schemas of all keys, by their names in a pack. */
export const fieldSchemas = Object.assign({}, ...FAMILIES.map(({ schemas }) => schemas)) as Intersection<
  (typeof FAMILIES)[number]["schemas"]
>;

/** The families, without the types of the individual keys. */
const ALL: readonly FieldKeys<Readonly<Record<string, z.ZodType>>>[] = FAMILIES;

/** Reports keys of a field that exclude each other, require other keys, or have no effect. */
export function checkField(rule: WrittenField, isInput: boolean, location: SourceLocation): void {
  const isFixed = (rule["read"] ?? rule["const"]) !== undefined;
  if (rule.upstream === undefined && !isFixed && !(isInput && rule["send"] === false))
    location.report('a field needs "upstream", "read" or "const"');
  for (const { rules = {} } of ALL) checkRules(rules, { keys: rule, isInput }, location);
}

/** Compiles the conversions of a value of a v4 object, in the order of execution. */
export const compileReadSteps = (
  rule: WrittenField,
  context: FieldKeyContext,
  location: SourceLocation,
): readonly ReadStep[] => ALL.flatMap(({ read }) => read?.(rule, context, location) ?? []);

/** Compiles the conversions of a value of a client's body, in the order of execution. */
export const compileWriteSteps = (
  rule: WrittenField,
  context: FieldKeyContext,
  location: SourceLocation,
): readonly WriteStep[] => ALL.toReversed().flatMap(({ write }) => write?.(rule, context, location) ?? []);

/** Runs the translations of filter values in sequence. */
const chainTranslations =
  (translations: readonly NonNullable<FilterPart["translate"]>[]) =>
  (value: Scalar, copy: CatalogCopy): readonly Scalar[] | undefined =>
    translations.reduce<readonly Scalar[] | undefined>(
      (given, translate) => {
        const found = given?.map((each) => translate(each, copy));
        return found?.includes(undefined) ? undefined : found?.flatMap((each) => each ?? []);
      },
      [value],
    );

/** Compiles how lists are filtered by a field, for one copy of the catalogs at a time. */
export function compileFilterField(
  rule: WrittenField,
  context: FieldKeyContext,
  location: SourceLocation,
): (copy: CatalogCopy, name: string) => FilterField {
  const parts = ALL.toReversed().flatMap(({ filter }) => filter?.(rule, context, location) ?? []);
  const translations = parts.flatMap(({ translate }) => translate ?? []);
  const translate = chainTranslations(translations);
  const ordered = parts.every((part) => part.ordered !== false);
  const abilities = new Set(parts.map((part) => part.tests ?? (part.translate ? "equality" : "all")));
  const tests = (["equality", "order"] as const).find((ability) => abilities.has(ability)) ?? "all";
  const { translate: _each, ...field } = Object.assign({}, ...parts) as FilterPart;
  const operand = operandRulesOf(rule, context);
  return (copy, name) => ({
    v4: name,
    ...operand,
    ...field,
    ordered,
    tests,
    ...(translations.length > 0 && { translate: (value: Scalar) => translate(value, copy) }),
  });
}

/** The values with which filters compare a field. */
export const operandRulesOf = (rule: WrittenField, context: FieldKeyContext): OperandRules =>
  Object.assign({}, ...ALL.map(({ operand }) => operand?.(rule, context)));

/** How the gateway filters by a field. */
export const selectPartOf = (rule: WrittenField, context: FieldKeyContext): SelectPart =>
  Object.assign({}, ...ALL.map(({ select }) => select?.(rule, context)));

/** Returns the name of a field in errors. */
export const errorPartOf = (rule: WrittenField, context: FieldKeyContext): ErrorPart =>
  Object.assign({}, ...ALL.map(({ error }) => error?.(rule, context)));

/** Whether the client gets a list with the value as its only item. */
export const makesList = (rule: WrittenField): boolean => ALL.some((keys) => keys.makesList?.(rule));

/** Returns how the value is determined, according to the keys. */
export function valueClassOf(rule: WrittenField): "expanded" | "value" | undefined {
  const classes = ALL.flatMap(({ classOf }) => classOf?.(rule) ?? []);
  return classes.find((each) => each === "expanded") ?? classes[0];
}

/** Descriptions of the effects of a field's keys. */
export const fieldTexts = (rule: WrittenField): readonly FieldTexts[] =>
  ALL.flatMap(({ texts }) => texts?.(rule) ?? []);

/** Returns the schema of the value in a response; undefined if the keys do not define it. */
export function describeValue(rule: WrittenField, one: Json | undefined): Json | undefined {
  for (const { openapi } of ALL) {
    const schema = openapi?.(rule, one);
    if (schema !== undefined) return schema;
  }
  return undefined;
}
