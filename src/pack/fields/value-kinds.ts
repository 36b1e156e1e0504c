import type { Scalar } from "../filters/condition.ts";
import {
  canonicalString,
  fromJsonText,
  isStringText,
  type JsonText,
  printJson,
  type SourceLocation,
  stringFromJson,
  toJsonText,
} from "../../base/index.ts";
import { type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { Scopes } from "../credentials/scopes.ts";
import type { ValueKindDefinition } from "../schema/pack-definition.ts";
import { compileExpressionAt, failureAsValue } from "../load/compile-expression.ts";

/** A kind of value that alpha and v4 represent differently. `args` come from the field that uses it. */
export interface ValueKind {
  /** Creates the translation v4 → alpha of a value that is not null, as JSON text. */
  readonly reader: (args: Args) => {
    readonly read: (text: string) => MaybePromise<JsonText>;
    readonly mayBeAsync: boolean;
  };
  /** The result may be an {@link UnknownValue}. */
  readonly write: (value: unknown, args: Args) => MaybePromise<unknown>;
  /** The value of the table that a text of a path or a query is, a number for example; any other value unchanged. */
  readonly ofText: { readonly alpha: (text: unknown) => unknown; readonly v4: (text: unknown) => unknown };
  /** Looks a v4 value up in the table; undefined if the table does not have it. */
  readonly lookup: (value: unknown) => unknown;
  /** The translation of ids; undefined if the kind does not have both directions. */
  readonly ids: IdTranslation | undefined;
  /** All v4 values of every alpha value; empty without a table. */
  readonly v4ValuesByAlpha: ReadonlyMap<unknown, readonly unknown[]>;
  /**
   * Returns the v4 values of an alpha value in a filter: empty if they are not all known, because `otherwise` gives it as well,
   * undefined if it has none. Undefined if the kind has neither a table nor a compiled `write`.
   */
  readonly filterValues: ((value: Scalar, args: Args) => readonly Scalar[] | undefined) | undefined;
  /** Whether of two values the translation of the larger one is larger. */
  readonly keepsOrder: boolean;
  readonly errorField: string | undefined;
  /** Whether a v4 value has the alpha value of another one; undefined if that is not known: an expression. */
  readonly isLostInRead: ((v4: unknown) => boolean) | undefined;
  /** Whether v4 gets the value of another alpha value; undefined if that is not known. */
  readonly isLostInWrite: ((alpha: unknown) => boolean) | undefined;
}

/** The translation of ids, which are texts. An id without a translation is undefined. */
export interface IdTranslation {
  readonly toAlpha: (v4Id: string) => string | undefined;
  readonly toV4: (alphaId: string) => string | undefined;
  /** All v4 ids in the order of the table; undefined for expressions, which translate any text. */
  readonly v4Ids: readonly string[] | undefined;
}

/** The result of a write for a value that the table of a kind does not have, if the kind rejects such values. */
export class UnknownValue {
  /** What clients read. */
  readonly reason: string;

  constructor(known: Iterable<unknown>) {
    this.reason = `Must be one of ${[...known].join(", ")}.`;
  }
}

/** Arguments of a value kind by name. */
export type Args = Readonly<Record<string, unknown>>;

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

/** Finds the value of a table that a text is: in paths and queries all values are texts. */
function findText(table: ReadonlyMap<unknown, unknown>): (text: unknown) => unknown {
  const values = new Map([...table.keys()].map((value) => [String(value), value]));
  return (text) => (typeof text === "string" ? (values.get(text) ?? text) : text);
}

/** Translates by a table of JSON texts, so that values are neither parsed nor printed. */
function readByTable(values: ReadonlyMap<unknown, unknown>, otherwise: unknown): ValueKind["reader"] {
  const texts = new Map([...values].map(([v4, alpha]) => [printJson(v4), toJsonText(alpha)]));
  const other = toJsonText(otherwise);
  const readOther = (text: string): JsonText => (other === undefined ? text : other);
  const read = (text: string): JsonText => {
    const found = texts.get(text);
    const alpha = found === undefined ? texts.get(canonicalText(text)) : found;
    return alpha === undefined ? readOther(text) : alpha;
  };
  return () => ({ read, mayBeAsync: false });
}

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
  // `check --laws` interprets all expressions, also those that compile: they have no reason.
  if (expression.fallback !== undefined) return { write, filterValues: undefined };
  return {
    write,
    // An expression that fails on the client's value gives it no upstream value.
    filterValues(value, given) {
      const written = failureAsValue(() => write(value, given));
      return isOperand(written) ? [written] : undefined;
    },
  };
}

/** Whether a value is one that fields are compared with, other than null. */
export const isOperand = (value: unknown): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";
/** Whether two texts have the same scopes, in any order. */
const haveSameScopes = (one: string, other: string): boolean => {
  const [words, others] = [one, other].map((text) => new Set(text.split(/[\s,]+/).filter(Boolean)));
  return words?.symmetricDifference(others ?? words).size === 0;
};

/** The kind of texts with scopes. */
const scopesKind = (scopes: Scopes): ValueKind => ({
  reader: () => ({
    read: (text) => (isStringText(text) ? toJsonText(scopes.toAlpha(stringFromJson(text))) : text),
    mayBeAsync: false,
  }),
  write: (value) => (typeof value === "string" ? scopes.toV4(value).join(" ") || undefined : value),
  ofText: { alpha: (text) => text, v4: (text) => text },
  lookup: () => undefined,
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

/** Translates an id; undefined where that fails, gives no text, or is not known yet. */
function translateId(translate: () => unknown): string | undefined {
  const id = failureAsValue(translate);
  return typeof id === "string" ? id : undefined;
}

/** Compiles the translation of ids. One direction may be a table, and the other one an expression. */
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
    write: written?.write ?? toV4,
    ofText: { alpha: findText(v4ByAlpha), v4: findText(forward) },
    lookup: (value) => forward.get(value),
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
        : (v4) => {
            if (rejectsUnknown && !forward.has(v4)) return true;
            const alpha = alphaOf(v4);
            return (backwards.has(alpha) ? backwards.get(alpha) : alpha) !== v4;
          },
    isLostInWrite:
      typeof read === "string" || typeof write === "string"
        ? undefined
        : (alpha) => alphaOf(toV4(alpha)) !== alpha,
  };
}

/** Applies a kind to a value. Null and undefined remain as they are. */
export const applyValueKind =
  (apply: ValueKind["write"], args: Args) =>
  (value: MaybePromise<unknown>): MaybePromise<unknown> =>
    thenMaybe(value, (given) => (given === undefined || given === null ? given : apply(given, args)));
