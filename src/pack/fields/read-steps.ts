import {
  ByteMap,
  cursorAt,
  isArrayText,
  isStringText,
  itemsOf,
  type JsonText,
  normalizeDateTime,
  paddedText,
  type PaddedText,
  rawTextAt,
  resolveReference,
  type SourceLocation,
  stringFromJson,
  toJsonText,
} from "../../base/index.ts";
import { mapMaybe, type MaybePromise, thenMaybe } from "../../jsonata/index.ts";
import type { FieldRule } from "./field-definition.ts";
import { evaluateFor } from "../load/compile-expression.ts";
import type { LossSink, ReadContext } from "../translation-context.ts";
import { cacheStubs, type ExpandWithCache, type ReadStepFunction } from "./stub-cache.ts";
import type { FieldContext } from "./field-context.ts";

/** One conversion of a value. It is not called for a value that is null or missing. */
export interface ReadStep {
  readonly run: ReadStepFunction;
  /** Whether `run` may return a promise. Readers of nested objects may as well, and are not counted here. */
  readonly mayBeAsync: boolean;
  /** The cached result for the value between two offsets, as UTF-8. */
  readonly cachedText?: (
    bytes: Uint8Array,
    start: number,
    end: number,
    reading: ReadContext,
  ) => PaddedText | undefined;
  /** Replaces `run` for a value of the v4 object. The members that the result depends on, other than the value. */
  readonly expand?: { readonly run: ExpandWithCache; readonly members: readonly string[] };
  /** Whether the step would return this value as it is. */
  readonly isUnchanged?: (bytes: Uint8Array, start: number, end: number) => boolean;
}

/** A date-time of this length, quotes included, has no fraction and no zone to remove. */
const NORMAL_LENGTH = '"YYYY-MM-DDTHH:MM:SS"'.length;

function dateTime(text: string): JsonText {
  if (text.length === NORMAL_LENGTH || !isStringText(text)) return text;
  const value = stringFromJson(text);
  return toJsonText(normalizeDateTime(value) ?? value);
}

const dateTimeStep: ReadStep = {
  run: dateTime,
  mayBeAsync: false,
  isUnchanged: (_bytes, start, end) => end - start === NORMAL_LENGTH,
};

/** Results of short values are cached: rows of a list repeat few of them. An IPv6 network with quotes has up to 45 bytes. */
export const MAX_CACHED_LENGTH = 48;
export const MAX_CACHED_VALUES = 1000;

/** The result of a value kind depends on the value alone, so it can be cached. */
function byKind(rule: FieldRule, name: string, context: FieldContext, location: SourceLocation): ReadStep[] {
  const kind = resolveReference(location.at("values"), "value kind", name, context.values);
  if (!kind) return [];
  const { read, mayBeAsync } = kind.reader(rule.arguments ?? {});
  const { origin } = location;
  const cache = new ByteMap();
  function cacheResult(text: string, result: MaybePromise<JsonText>): MaybePromise<JsonText> {
    if (typeof result !== "string" || text.length > MAX_CACHED_LENGTH) return result;
    if (cache.size === MAX_CACHED_VALUES) cache.clear();
    cache.set(Buffer.from(text), paddedText(result));
    return result;
  }
  const run: ReadStepFunction = (text) =>
    cacheResult(
      text,
      evaluateFor(origin, () => read(text)),
    );
  return [{ run, mayBeAsync, cachedText: (bytes, start, end) => cache.find(bytes, start, end) }];
}

function byCatalog(
  rule: FieldRule,
  name: string,
  context: FieldContext,
  location: SourceLocation,
): ReadStep[] {
  const catalog = resolveReference(location.at("catalog"), "catalog", name, context.catalogs);
  if (!catalog) return [];
  if (rule.id_only) {
    const idOf: ReadStepFunction = (text) =>
      isStringText(text) ? toJsonText(catalog.alphaId(stringFromJson(text))) : text;
    return [{ run: idOf, mayBeAsync: false }];
  }
  const { expand, expandAll, cachedText, mayBeAsync, stubMembers: members } = catalog;
  const run: ReadStepFunction = (text, reading, cursor, start, end) =>
    isArrayText(text)
      ? expandAll(itemsOf(text), reading)
      : expand(text, () => rawTextAt(cursor, start, end), reading);
  return [
    { run, mayBeAsync, cachedText, ...(members && { expand: { run: cacheStubs(catalog, run), members } }) },
  ];
}

/** Names losses of a nested object by the field that holds it. */
const prefixLosses = (field: string, lost: LossSink): LossSink => ({
  add: (loss) => lost.add(`${field}.${loss}`),
  has: (loss) => lost.has(`${field}.${loss}`),
});

function byObject(name: string, context: FieldContext, location: SourceLocation): ReadStep {
  resolveReference(location.at("object"), "object", name, context.resources);
  const { field = "" } = location.origin;
  const readOne = (text: string, reading: ReadContext): MaybePromise<JsonText> => {
    const { lost } = reading;
    const mayLose = lost !== undefined && context.mayLose(name);
    return context.readers.get(name)?.(
      cursorAt(text),
      mayLose ? { ...reading, lost: prefixLosses(field, lost) } : reading,
    );
  };
  const run: ReadStepFunction = (text, reading) => {
    if (!isArrayText(text)) return readOne(text, reading);
    return thenMaybe(
      mapMaybe(itemsOf(text), (item) => readOne(item, reading)),
      (items) => `[${items.join(",")}]`,
    );
  };
  return { run, mayBeAsync: false };
}

/** Compiles the conversions of a value of a v4 object, in the order in which they run. */
export function compileReadSteps(
  rule: FieldRule,
  context: FieldContext,
  location: SourceLocation,
): ReadStep[] {
  return [
    ...(rule.format === "date-time" ? [dateTimeStep] : []),
    ...(rule.values === undefined ? [] : byKind(rule, rule.values, context, location)),
    ...(rule.catalog === undefined ? [] : byCatalog(rule, rule.catalog, context, location)),
    ...(rule.object === undefined ? [] : [byObject(rule.object, context, location)]),
  ];
}
