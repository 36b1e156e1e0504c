import { ByteMap } from "../../dialect/json/byte-map.ts";
import { normaliseDateTime } from "../../dialect/date-time.ts";
import { cursorAt, itemsOf, rawTextAt, type Cursor } from "../../dialect/json/scan.ts";
import {
  isArrayText,
  isStringText,
  toJsonText,
  fromJsonText,
  type JsonText,
} from "../../dialect/json/text.ts";
import { allOf, thenMaybe, type MaybePromise } from "../../jsonata/index.ts";
import type { WriteCompileContext } from "../compile/field/write.ts";
import type { FieldRule } from "../schema/definition.ts";
import { resolveReference, type SourceLocation } from "../load/source-location.ts";
import type { ReadContext } from "../translation-context.ts";

/** From the text of what v4 has to the text of what alpha shows. The whole v4 object stands between `start` and `end`. */
export type ValueFunction = (
  text: string,
  reading: ReadContext,
  cursor: Cursor,
  start: number,
  end: number,
) => MaybePromise<JsonText>;

/** One thing that happens to a value on its way. To nothing, be it null or missing, nothing happens. */
export interface ValueStep {
  readonly run: ValueFunction;
  /** Whether its own result may come later; that of another object's reader may too, and is not counted here. */
  readonly mayBeAsync: boolean;
  /** What is known already to become of the text between two places, as UTF-8. */
  readonly cachedText?: (
    bytes: Uint8Array,
    start: number,
    end: number,
    reading: ReadContext,
  ) => Uint8Array | undefined;
  /** Whether it leaves such a text as it is. */
  readonly isUnchanged?: (bytes: Uint8Array, start: number, end: number) => boolean;
}

/** As long as the form itself with its quotes: there is no fraction and no zone to take off. */
const NORMAL_LENGTH = '"YYYY-MM-DDTHH:MM:SS"'.length;

function dateTime(text: string): JsonText {
  if (text.length === NORMAL_LENGTH || !isStringText(text)) return text;
  const value = fromJsonText(text) as string;
  return toJsonText(normaliseDateTime(value) ?? value);
}

const dateTimeStep: ValueStep = {
  run: dateTime,
  mayBeAsync: false,
  isUnchanged: (_bytes, start, end) => end - start === NORMAL_LENGTH,
};

/** Texts that are kept with what became of them: short ones, since rows have few of these and have them often. */
const LONGEST_KEPT = 24;
const MOST_KEPT = 1000;

/** What a kind makes of a text depends on nothing but the text. */
function byKind(
  rule: FieldRule,
  name: string,
  context: WriteCompileContext,
  place: SourceLocation,
): ValueStep[] {
  const kind = resolveReference(place.at("as"), "value kind", name, context.values);
  if (!kind) return [];
  const { read, mayBeAsync: late } = kind.reader(rule.args ?? {});
  const kept = new ByteMap();
  function keep(text: string, made: MaybePromise<JsonText>): MaybePromise<JsonText> {
    if (typeof made !== "string" || text.length > LONGEST_KEPT) return made;
    if (kept.size === MOST_KEPT) kept.clear();
    kept.set(Buffer.from(text), Buffer.from(made));
    return made;
  }
  const run: ValueFunction = (text) => keep(text, read(text));
  return [{ run, mayBeAsync: late, cachedText: (bytes, start, end) => kept.find(bytes, start, end) }];
}

function byCatalog(
  rule: FieldRule,
  name: string,
  context: WriteCompileContext,
  place: SourceLocation,
): ValueStep[] {
  const catalog = resolveReference(place.at("catalog"), "catalog", name, context.catalogs);
  if (!catalog) return [];
  if (rule.brief) {
    const idOf: ValueFunction = (text) =>
      isStringText(text) ? toJsonText(catalog.alphaId(fromJsonText(text) as string)) : text;
    return [{ run: idOf, mayBeAsync: false }];
  }
  const { expand, expandAll, cachedText, mayBeAsync } = catalog;
  const run: ValueFunction = (text, reading, cursor, start, end) =>
    isArrayText(text)
      ? expandAll(itemsOf(text), reading)
      : expand(text, () => rawTextAt(cursor, start, end), reading);
  return [{ run, mayBeAsync, cachedText }];
}

function byObject(name: string, context: WriteCompileContext, place: SourceLocation): ValueStep {
  resolveReference(place.at("object"), "object", name, context.resources);
  const one = (text: string, reading: ReadContext): MaybePromise<JsonText> =>
    context.readers.get(name)?.(cursorAt(text), reading);
  const run: ValueFunction = (text, reading) => {
    if (!isArrayText(text)) return one(text, reading);
    return thenMaybe(
      allOf(itemsOf(text), (item) => one(item, reading)),
      (items) => `[${items.join(",")}]`,
    );
  };
  return { run, mayBeAsync: false };
}

/** What happens to a value after it was found, in this order. */
export function compileValueSteps(
  rule: FieldRule,
  context: WriteCompileContext,
  place: SourceLocation,
): ValueStep[] {
  return [
    ...(rule.type === "date-time" ? [dateTimeStep] : []),
    ...(rule.as === undefined ? [] : byKind(rule, rule.as, context, place)),
    ...(rule.catalog === undefined ? [] : byCatalog(rule, rule.catalog, context, place)),
    ...(rule.object === undefined ? [] : [byObject(rule.object, context, place)]),
  ];
}
