/** The two directions of a value kind: each is a table or an expression. */
import {
  canonicalString,
  fromJsonText,
  isArrayText,
  itemsOf,
  type JsonText,
  printJson,
  type SourceLocation,
  toJsonText,
} from "../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import { compileExpressionAt, failureAsValue } from "../expressions/compile-expression.ts";
import type { ValueKindDefinition } from "../schema/pack-definition.ts";
import { isOperand, UnknownValue, type ValueKind } from "../values/value-kind.ts";

/** The direction v4 → alpha. */
interface ReadSide extends Pick<ValueKind, "reader" | "lookup" | "isLostInRead"> {
  /** Translates an id. Undefined if that takes time, or if the table has something else than texts. */
  readonly idToAlpha: ((v4Id: string) => unknown) | undefined;
}

/** The direction alpha → v4. */
interface WriteSide extends Pick<ValueKind, "write" | "filterValues"> {
  readonly idToV4: ((alphaId: string) => unknown) | undefined;
}

/** The tables of a kind. A direction with an expression has only the values of `same`. */
interface Tables {
  readonly alphaByV4: ReadonlyMap<unknown, unknown>;
  readonly v4ByAlpha: ReadonlyMap<unknown, unknown>;
  readonly toAlpha: (v4: unknown) => unknown;
  /** The result may be an {@link UnknownValue}. */
  readonly toV4: (alpha: unknown) => unknown;
}

const readTable = (
  written: ValueKindDefinition["read"],
  same: readonly string[],
): ReadonlyMap<unknown, unknown> =>
  new Map<unknown, unknown>([
    ...same.map((value) => [value, value] as const),
    ...(typeof written === "object" ? written : []),
  ]);

/** Inverts a table. If several v4 values have the same alpha value, the first one is used. */
function invert(alphaByV4: ReadonlyMap<unknown, unknown>): ReadonlyMap<unknown, unknown> {
  const v4ByAlpha = new Map<unknown, unknown>();
  for (const [v4, alpha] of alphaByV4) if (!v4ByAlpha.has(alpha)) v4ByAlpha.set(alpha, v4);
  return v4ByAlpha;
}

export function compileTables({ same = [], read, write, otherwise, unknown }: ValueKindDefinition): Tables {
  const alphaByV4 = readTable(read, same);
  const v4ByAlpha = write === undefined ? invert(alphaByV4) : readTable(write, same);
  const unknownValue = new UnknownValue(v4ByAlpha.keys());
  return {
    alphaByV4,
    v4ByAlpha,
    toAlpha(v4) {
      if (alphaByV4.has(v4)) return alphaByV4.get(v4);
      return otherwise === undefined ? v4 : otherwise;
    },
    toV4(alpha) {
      if (v4ByAlpha.has(alpha)) return v4ByAlpha.get(alpha);
      return unknown === "reject" ? unknownValue : alpha;
    },
  };
}

const haveOnlyTexts = (table: ReadonlyMap<unknown, unknown>): boolean =>
  [...table].flat().every((value) => typeof value === "string");

/** Equal texts and equal numbers have the same text. */
const canonicalText = (text: string): string =>
  /^-?\d+[.eE]/.test(text) ? printJson(fromJsonText(text)) : canonicalString(text);

/** Translates JSON texts by a table, so that values are neither parsed nor printed. */
function readTexts(values: ReadonlyMap<unknown, unknown>, otherwise: unknown): ValueKind["reader"] {
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
export const someItem =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) ? value.some((item: unknown) => item !== null && someItem(test)(item)) : test(value);

/** A table v4 → alpha. */
export function readByTable(
  { alphaByV4, toAlpha }: Tables,
  { otherwise, unknown }: ValueKindDefinition,
): ReadSide {
  const firstV4 = invert(alphaByV4);
  return {
    reader: readTexts(alphaByV4, otherwise),
    lookup: (value) =>
      value === undefined || value === null || alphaByV4.has(value) ? alphaByV4.get(value) : otherwise,
    isLostInRead: someItem((v4) => {
      if (unknown === "reject" && !alphaByV4.has(v4)) return true;
      const alpha = toAlpha(v4);
      return (firstV4.has(alpha) ? firstV4.get(alpha) : alpha) !== v4;
    }),
    idToAlpha: alphaByV4.size > 0 && haveOnlyTexts(alphaByV4) ? (v4Id) => alphaByV4.get(v4Id) : undefined,
  };
}

/** A table alpha → v4, or the inverted one. */
export const writeByTable = (
  { v4ByAlpha, toV4 }: Tables,
  { read, write }: ValueKindDefinition,
): WriteSide => {
  const isInvertedExpression = typeof read === "string" && write === undefined;
  const translatesIds = !isInvertedExpression && haveOnlyTexts(v4ByAlpha);
  return {
    write: mapItems(toV4),
    filterValues: undefined,
    idToV4: translatesIds ? (alphaId) => v4ByAlpha.get(alphaId) : undefined,
  };
};

/** An expression v4 → alpha. */
export function readByExpression(
  location: SourceLocation,
  source: string,
  args: readonly string[],
): ReadSide {
  const expression = compileExpressionAt(location, source, ["value", ...args]);
  const mayBeAsync = expression.engine === "interpreted";
  const reader: ValueKind["reader"] = (given) => {
    const print = (text: string): MaybePromise<JsonText> => {
      const value = fromJsonText(text);
      return expression.print(value, { ...given, value });
    };
    return { read: print, mayBeAsync };
  };
  const { read } = reader({});
  const translate = (value: unknown): unknown => thenMaybe(read(printJson(value)), fromJsonText);
  // Tests interpret even expressions that could be compiled. These have no reason.
  const isCompiled = expression.fallback === undefined;
  return {
    reader,
    lookup: isCompiled
      ? (value) => (value === undefined || value === null ? undefined : translate(value))
      : undefined,
    isLostInRead: undefined,
    idToAlpha: isCompiled ? translate : undefined,
  };
}

/** An expression alpha → v4. */
export function writeByExpression(
  location: SourceLocation,
  source: string,
  args: readonly string[],
): WriteSide {
  const expression = compileExpressionAt(location, source, ["value", ...args]);
  const write: ValueKind["write"] = (value, given) => expression.evaluate(value, { ...given, value });
  if (expression.fallback !== undefined) return { write, filterValues: undefined, idToV4: undefined };
  return {
    write,
    // If an expression fails on the client's value, the value has no upstream value.
    filterValues(value, given) {
      const written = failureAsValue(() => write(value, given));
      return isOperand(written) ? [written] : undefined;
    },
    idToV4: (alphaId) => write(alphaId, {}),
  };
}
