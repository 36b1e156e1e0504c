import { ByteTable } from "../../dialect/byte-table.ts";
import { normaliseDateTime } from "../../dialect/date-time.ts";
import { begins, itemsOf, textAt, type Cursor } from "../../dialect/json-scan.ts";
import { isArrayText, isStringText, textOfValue, valueOfText, type Text } from "../../dialect/json-text.ts";
import { allOf, whenDone, type MaybeLater } from "../../expression/index.ts";
import type { FieldContext } from "../field.ts";
import type { FieldRule } from "../definition.ts";
import { refer, type Place } from "../place.ts";
import type { Reading } from "../reading.ts";

/** From the text of what v4 has to the text of what alpha shows. The whole v4 object stands between `start` and `end`. */
export type Run = (
  text: string,
  reading: Reading,
  cursor: Cursor,
  start: number,
  end: number,
) => MaybeLater<Text>;

/** One thing that happens to a value on its way. To nothing, be it null or missing, nothing happens. */
export interface Step {
  readonly run: Run;
  /** Whether its own result may come later; that of another object's reader may too, and is not counted here. */
  readonly late: boolean;
  /** What is known already to become of the text between two places, as UTF-8. */
  readonly known?: (
    bytes: Uint8Array,
    start: number,
    end: number,
    reading: Reading,
  ) => Uint8Array | undefined;
  /** Whether it leaves such a text as it is. */
  readonly same?: (bytes: Uint8Array, start: number, end: number) => boolean;
}

/** As long as the form itself with its quotes: there is no fraction and no zone to take off. */
const NORMAL_LENGTH = '"YYYY-MM-DDTHH:MM:SS"'.length;

function dateTime(text: string): Text {
  if (text.length === NORMAL_LENGTH || !isStringText(text)) return text;
  const value = valueOfText(text) as string;
  return textOfValue(normaliseDateTime(value) ?? value);
}

const dateTimeStep: Step = {
  run: dateTime,
  late: false,
  same: (_bytes, start, end) => end - start === NORMAL_LENGTH,
};

/** Texts that are kept with what became of them: short ones, since rows have few of these and have them often. */
const LONGEST_KEPT = 24;
const MOST_KEPT = 1000;

/** What a kind makes of a text depends on nothing but the text. */
function byKind(rule: FieldRule, name: string, context: FieldContext, place: Place): Step[] {
  const kind = refer(place.at("as"), "value kind", name, context.values);
  if (!kind) return [];
  const { read, late } = kind.reader(rule.args ?? {});
  const kept = new ByteTable();
  function keep(text: string, made: MaybeLater<Text>): MaybeLater<Text> {
    if (typeof made !== "string" || text.length > LONGEST_KEPT) return made;
    if (kept.size === MOST_KEPT) kept.clear();
    kept.set(Buffer.from(text), Buffer.from(made));
    return made;
  }
  const run: Run = (text) => keep(text, read(text));
  return [{ run, late, known: (bytes, start, end) => kept.find(bytes, start, end) }];
}

function byCatalog(rule: FieldRule, name: string, context: FieldContext, place: Place): Step[] {
  const catalog = refer(place.at("catalog"), "catalog", name, context.catalogs);
  if (!catalog) return [];
  if (rule.brief) {
    const idOf: Run = (text) =>
      isStringText(text) ? textOfValue(catalog.alphaId(valueOfText(text) as string)) : text;
    return [{ run: idOf, late: false }];
  }
  const { expand, expandAll, known, late } = catalog;
  const run: Run = (text, reading, cursor, start, end) =>
    isArrayText(text)
      ? expandAll(itemsOf(text), reading)
      : expand(text, () => textAt(cursor, start, end), reading);
  return [{ run, late, known }];
}

function byObject(name: string, context: FieldContext, place: Place): Step {
  refer(place.at("object"), "object", name, context.resources);
  const one = (text: string, reading: Reading): MaybeLater<Text> =>
    context.readers.get(name)?.(begins(text), reading);
  const run: Run = (text, reading) => {
    if (!isArrayText(text)) return one(text, reading);
    return whenDone(
      allOf(itemsOf(text), (item) => one(item, reading)),
      (items) => `[${items.join(",")}]`,
    );
  };
  return { run, late: false };
}

/** What happens to a value after it was found, in this order. */
export function stepsOf(rule: FieldRule, context: FieldContext, place: Place): Step[] {
  return [
    ...(rule.type === "date-time" ? [dateTimeStep] : []),
    ...(rule.as === undefined ? [] : byKind(rule, rule.as, context, place)),
    ...(rule.catalog === undefined ? [] : byCatalog(rule, rule.catalog, context, place)),
    ...(rule.object === undefined ? [] : [byObject(rule.object, context, place)]),
  ];
}
