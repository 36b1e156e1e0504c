/** Compiles the value kinds of a pack. */
import { isStringText, type SourceLocation, stringFromJson, toJsonText } from "../../base/index.ts";
import type { Scopes } from "../credentials/scopes.ts";
import { failureAsValue } from "../expressions/compile-expression.ts";
import type { ValueKindDefinition } from "../schema/pack-definition.ts";
import type { Scalar, ValueKind } from "../values/value-kind.ts";
import {
  compileTables,
  readByExpression,
  readByTable,
  someItem,
  writeByExpression,
  writeByTable,
} from "./value-sides.ts";

/** Creates a function that finds the value in a table that a text means: in paths and queries, all values are texts. */
function findText(table: ReadonlyMap<unknown, unknown>): (text: unknown) => unknown {
  const values = new Map([...table.keys()].map((value) => [String(value), value]));
  return (text) => (typeof text === "string" ? (values.get(text) ?? text) : text);
}

/** All v4 values of each alpha value. */
const allV4Values = (alphaByV4: ReadonlyMap<unknown, unknown>): Map<unknown, unknown[]> =>
  new Map(
    [...Map.groupBy(alphaByV4, ([, alpha]) => alpha)].map(([alpha, pairs]) => [
      alpha,
      pairs.map(([v4]) => v4),
    ]),
  );

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
  const { read, write, otherwise } = definition;
  if (definition.scopes) {
    if (Object.keys(definition).length > 1) location.report('"scopes" excludes all other keys');
    return scopesKind(scopes);
  }
  reportNullTests(definition, location);
  const tables = compileTables(definition);
  const { alphaByV4, v4ByAlpha, toAlpha, toV4 } = tables;
  if (definition.unknown && (v4ByAlpha.size === 0 || typeof write === "string"))
    location
      .at("unknown")
      .report('"unknown" needs a table of the client\'s values: "read", "write" or "same"');
  const { idToAlpha, ...readSide } =
    typeof read === "string"
      ? readByExpression(location.at("read"), read, args)
      : readByTable(tables, definition);
  const { idToV4, ...writeSide } =
    typeof write === "string"
      ? writeByExpression(location.at("write"), write, args)
      : writeByTable(tables, definition);
  const haveTables = typeof read !== "string" && typeof write !== "string";
  const v4ValuesByAlpha = allV4Values(alphaByV4);
  return {
    ...readSide,
    ...writeSide,
    ...(v4ValuesByAlpha.size > 0 && {
      filterValues: (value: Scalar) =>
        value === otherwise ? [] : (v4ValuesByAlpha.get(value) as readonly Scalar[] | undefined),
    }),
    ofText: { alpha: findText(v4ByAlpha), v4: findText(alphaByV4) },
    ids: idToAlpha &&
      idToV4 && {
        toAlpha: (v4Id) => translateId(() => idToAlpha(v4Id)),
        toV4: (alphaId) => translateId(() => idToV4(alphaId)),
        v4Ids: haveTables ? Array.from(v4ByAlpha.values(), String) : undefined,
      },
    v4ValuesByAlpha,
    keepsOrder: definition.keeps_order ?? false,
    errorField: definition.error_field,
    isLostInWrite: haveTables ? someItem((alpha) => toAlpha(toV4(alpha)) !== alpha) : undefined,
  };
}
