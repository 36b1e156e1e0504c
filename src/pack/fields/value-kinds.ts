/** Compiles the value kinds of a pack. */
import {
  canonicalString,
  fromJsonText,
  isArrayText,
  isStringText,
  itemsOf,
  type JsonText,
  printJson,
  type SourceLocation,
  stringFromJson,
  toJsonText,
} from "../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { Scopes } from "../credentials/scopes.ts";
import type { ValueKindDefinition } from "../schema/pack-definition.ts";
import { compileExpressionAt, failureAsValue } from "../expressions/compile-expression.ts";
import {
  type IdTranslation,
  isOperand,
  UnknownValue,
  type ValueKind,
  type Scalar,
} from "../values/value-kind.ts";

type Side = ValueKindDefinition["read"];

const table = (side: Side, same: readonly string[]): Map<unknown, unknown> =>
  new Map<unknown, unknown>([
    ...same.map((value) => [value, value] as const),
    ...(typeof side === "object" ? side : []),
  ]);

/** Inverts a table. If several v4 values have the same alpha value, the first one is used. */
function invert(forward: ReadonlyMap<unknown, unknown>): Map<unknown, unknown> {
  const backwards = new Map<unknown, unknown>();
  for (const [v4, alpha] of forward) if (!backwards.has(alpha)) backwards.set(alpha, v4);
  return backwards;
}

const sources = (forward: ReadonlyMap<unknown, unknown>): Map<unknown, unknown[]> =>
  new Map(
    [...Map.groupBy(forward, ([, alpha]) => alpha)].map(([alpha, pairs]) => [alpha, pairs.map(([v4]) => v4)]),
  );

/** Equal texts and equal numbers have the same text. */
const canonicalText = (text: string): string =>
  /^-?\d+[.eE]/.test(text) ? printJson(fromJsonText(text)) : canonicalString(text);

/** Creates a function that finds the value in a table that a text means: in paths and queries, all values are texts. */
function findText(table: ReadonlyMap<unknown, unknown>): (text: unknown) => unknown {
  const values = new Map([...table.keys()].map((value) => [String(value), value]));
  return (text) => (typeof text === "string" ? (values.get(text) ?? text) : text);
}

/** Translates JSON texts by a table, so that values are neither parsed nor printed. */
function readByTable(values: ReadonlyMap<unknown, unknown>, otherwise: unknown): ValueKind["reader"] {
  const texts = new Map([...values].map(([v4, alpha]) => [printJson(v4), toJsonText(alpha)]));
  const other = toJsonText(otherwise);
  const readOther = (text: string): JsonText => (other === undefined ? text : other);
  const readOne = (text: string): JsonText => {
    const found = texts.get(text);
    const alpha = found === undefined ? texts.get(canonicalText(text)) : found;
    return alpha === undefined ? readOther(text) : alpha;
  };
  const readItem = (text: string): JsonText => (text === "null" ? text : read(text));
  const read = (text: string): JsonText =>
    isArrayText(text) ? `[${itemsOf(text).map(readItem).join(",")}]` : readOne(text);
  return () => ({ read, mayBeAsync: false });
}

/** Creates a translation by a table. In a list, it translates each item that is not null. */
const mapItems =
  (translate: (value: unknown) => unknown) =>
  (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map((item: unknown) => (item === null ? item : mapItems(translate)(item)))
      : translate(value);

/** Creates a test that a value, or one item of a list, must meet. */
const someItem =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) ? value.some((item: unknown) => item !== null && someItem(test)(item)) : test(value);

function readByExpression(
  location: SourceLocation,
  source: string,
  args: readonly string[],
): Pick<ValueKind, "reader"> & { readonly isCompiled: boolean } {
  const expression = compileExpressionAt(location, source, ["value", ...args]);
  const mayBeAsync = expression.engine === "interpreted";
  return {
    isCompiled: expression.fallback === undefined,
    reader(given) {
      const print = (text: string): MaybePromise<JsonText> => {
        const value = fromJsonText(text);
        return expression.print(value, { ...given, value });
      };
      return { read: print, mayBeAsync };
    },
  };
}

function writeByExpression(
  location: SourceLocation,
  source: string,
  args: readonly string[],
): Pick<ValueKind, "write" | "filterValues"> {
  const expression = compileExpressionAt(location, source, ["value", ...args]);
  const write: ValueKind["write"] = (value, given) => expression.evaluate(value, { ...given, value });
  // Tests interpret even expressions that could be compiled. These have no reason.
  if (expression.fallback !== undefined) return { write, filterValues: undefined };
  return {
    write,
    // If an expression fails on the client's value, the value has no upstream value.
    filterValues(value, given) {
      const written = failureAsValue(() => write(value, given));
      return isOperand(written) ? [written] : undefined;
    },
  };
}

/** Whether two texts contain the same scopes, in any order. */
const haveSameScopes = (one: string, other: string): boolean => {
  const [words, others] = [one, other].map((text) => new Set(text.split(/[\s,]+/).filter(Boolean)));
  return words?.symmetricDifference(others ?? words).size === 0;
};

/** Creates the value kind of texts with scopes. */
const scopesKind = (scopes: Scopes): ValueKind => ({
  reader: () => ({
    read: (text) => (isStringText(text) ? toJsonText(scopes.toAlpha(stringFromJson(text))) : text),
    mayBeAsync: false,
  }),
  write: (value) => (typeof value === "string" ? scopes.toV4(value).join(" ") || undefined : value),
  ofText: { alpha: (text) => text, v4: (text) => text },
  lookup: undefined,
  ids: undefined,
  v4ValuesByAlpha: new Map(),
  filterValues: undefined,
  keepsOrder: false,
  errorField: undefined,
  isLostInRead: (v4) =>
    typeof v4 === "string" && !haveSameScopes(scopes.toV4(scopes.toAlpha(v4)).join(" "), v4),
  isLostInWrite: (alpha) =>
    typeof alpha === "string" && !haveSameScopes(scopes.toAlpha(scopes.toV4(alpha).join(" ")), alpha),
});

/** Translates an id; undefined if the translation fails, does not return a text, or is a promise. */
function translateId(translate: () => unknown): string | undefined {
  const id = failureAsValue(translate);
  return typeof id === "string" ? id : undefined;
}

/** Compiles the translation of ids. One direction may be a table, and the other an expression. */
function compileIds(
  { read, write }: ValueKindDefinition,
  [forward, v4ByAlpha]: readonly ReadonlyMap<unknown, unknown>[],
  reader: ReturnType<ValueKind["reader"]>,
  written: ValueKind["write"] | undefined,
): IdTranslation | undefined {
  const isTable = typeof read !== "string" && written === undefined;
  if (typeof read === "string" ? write === undefined : forward?.size === 0) return undefined;
  const values = [forward, v4ByAlpha].flatMap((table) => [...(table ?? [])].flat());
  if (values.some((value) => typeof value !== "string")) return undefined;
  return {
    toAlpha: (v4Id) =>
      translateId(() =>
        typeof read === "string" ? thenMaybe(reader.read(printJson(v4Id)), fromJsonText) : forward?.get(v4Id),
      ),
    toV4: (alphaId) => translateId(() => (written ? written(alphaId, {}) : v4ByAlpha?.get(alphaId))),
    v4Ids: isTable ? Array.from(v4ByAlpha?.values() ?? [], String) : undefined,
  };
}

/** Returns `$values` for expressions; undefined if the kind may be asynchronous. An undefined value stays undefined. */
const lookupOf = ({ read }: ReturnType<ValueKind["reader"]>, isCompiled: boolean): ValueKind["lookup"] =>
  isCompiled
    ? (value) =>
        value === undefined || value === null
          ? undefined
          : thenMaybe(read(printJson(value)), (text) => (text === undefined ? text : fromJsonText(text)))
    : undefined;

/** Matches tests in an expression for values that never occur. */
const NULL_TEST = /\$value\s*!?=\s*null\b|\bnull\s*!?=\s*\$value\b|\$exists\(\s*\$value\s*\)/;

/** Reports an expression that tests whether there is a value: if there is none, a value kind does not run. */
function reportNullTests({ read, write }: ValueKindDefinition, location: SourceLocation): void {
  for (const [key, source] of [
    ["read", read],
    ["write", write],
  ] as const) {
    const found = typeof source === "string" ? NULL_TEST.exec(source) : null;
    if (found)
      location.at(key).report(
        {
          message: "a value kind does not run where there is no value, so $value is never null",
          hint: 'use "default" of the field, or "read", which always runs',
        },
        found.index,
      );
  }
}

/** Compiles one value kind. @param args Names of the arguments that fields pass to it. */
export function compileValueKind(
  definition: ValueKindDefinition,
  args: readonly string[],
  scopes: Scopes,
  location: SourceLocation,
): ValueKind {
  const { same = [], read, write, otherwise, unknown } = definition;
  if (definition.scopes) {
    if (Object.keys(definition).length > 1) location.report('"scopes" excludes all other keys');
    return scopesKind(scopes);
  }
  reportNullTests(definition, location);
  const forward = table(read, same);
  const backwards = invert(forward);
  const v4ByAlpha = write === undefined ? backwards : table(write, same);
  const alphaOf = (v4: unknown): unknown =>
    forward.has(v4) ? forward.get(v4) : otherwise === undefined ? v4 : otherwise;
  const rejectsUnknown = unknown === "reject";
  if (rejectsUnknown && (v4ByAlpha.size === 0 || typeof write === "string"))
    location
      .at("unknown")
      .report('"unknown" needs a table of the client\'s values: "read", "write" or "same"');
  const unknownValue = new UnknownValue(v4ByAlpha.keys());
  const toV4 = (alpha: unknown): unknown =>
    v4ByAlpha.has(alpha) ? v4ByAlpha.get(alpha) : rejectsUnknown ? unknownValue : alpha;
  const v4ValuesByAlpha = sources(forward);
  const written =
    typeof write === "string" ? writeByExpression(location.at("write"), write, args) : undefined;
  const { reader, isCompiled = true } =
    typeof read === "string"
      ? readByExpression(location.at("read"), read, args)
      : { reader: readByTable(forward, otherwise) };
  const isAsync = !isCompiled || (written && !written.filterValues);
  return {
    reader,
    write: written?.write ?? mapItems(toV4),
    ofText: { alpha: findText(v4ByAlpha), v4: findText(forward) },
    lookup:
      typeof read === "string"
        ? lookupOf(reader({}), isCompiled)
        : (value) =>
            value === undefined || value === null || forward.has(value) ? forward.get(value) : otherwise,
    ids: isAsync ? undefined : compileIds(definition, [forward, v4ByAlpha], reader({}), written?.write),
    v4ValuesByAlpha,
    filterValues:
      v4ValuesByAlpha.size > 0
        ? (value) =>
            value === otherwise ? [] : (v4ValuesByAlpha.get(value) as readonly Scalar[] | undefined)
        : written?.filterValues,
    keepsOrder: definition.keeps_order ?? false,
    errorField: definition.error_field,
    isLostInRead:
      typeof read === "string"
        ? undefined
        : someItem((v4) => {
            if (rejectsUnknown && !forward.has(v4)) return true;
            const alpha = alphaOf(v4);
            return (backwards.has(alpha) ? backwards.get(alpha) : alpha) !== v4;
          }),
    isLostInWrite:
      typeof read === "string" || typeof write === "string"
        ? undefined
        : someItem((alpha) => alphaOf(toV4(alpha)) !== alpha),
  };
}
