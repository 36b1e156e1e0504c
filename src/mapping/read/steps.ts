import { normaliseDateTime } from "../../dialect/date-time.ts";
import {
  begins,
  isArrayText,
  isStringText,
  itemsOf,
  textOfValue,
  valueOfText,
  type Text,
} from "../../dialect/json-text.ts";
import { all, whenDone, type MaybeLater } from "../../expression/index.ts";
import type { FieldContext } from "../field.ts";
import type { FieldRule } from "../definition.ts";
import { refer, type Place } from "../place.ts";
import type { Reading } from "../reading.ts";

/** From the text of what v4 has to the text of what alpha shows; `row` is the text of the whole v4 object. */
export type Run = (text: Text, row: string, reading: Reading) => MaybeLater<Text>;

/** One thing that happens to a value on its way. */
export interface Step {
  readonly run: Run;
  /** Whether its result may come later. */
  readonly late: boolean;
  readonly needsRow: boolean;
}

const step = (run: Run, late = false, needsRow = false): Step => ({ run, late, needsRow });

/** As long as the form itself with its quotes: there is no fraction and no zone to take off. */
const NORMAL_LENGTH = '"YYYY-MM-DDTHH:MM:SS"'.length;

function dateTime(text: Text): Text {
  if (text === null || text === undefined || text.length === NORMAL_LENGTH || !isStringText(text))
    return text;
  const value = valueOfText(text) as string;
  return textOfValue(normaliseDateTime(value) ?? value);
}

function byKind(rule: FieldRule, name: string, context: FieldContext, place: Place): Step[] {
  const kind = refer(place.at("as"), "value kind", name, context.values);
  if (!kind) return [];
  const { read, late } = kind.reader(rule.args ?? {});
  // Null and missing are no value of any kind.
  return [step((text) => (text === null || text === undefined ? text : read(text)), late)];
}

function byCatalog(rule: FieldRule, name: string, context: FieldContext, place: Place): Step[] {
  const catalog = refer(place.at("catalog"), "catalog", name, context.catalogs);
  if (!catalog) return [];
  if (rule.brief) {
    const idOf: Run = (text) =>
      typeof text === "string" && isStringText(text)
        ? textOfValue(catalog.alphaId(valueOfText(text) as string))
        : text;
    return [step(idOf)];
  }
  const { expand, expandAll, late } = catalog;
  const run: Run = (text, row, reading) =>
    text !== null && text !== undefined && isArrayText(text)
      ? expandAll(itemsOf(text), reading)
      : expand(text, row, reading);
  return [step(run, late, true)];
}

function byObject(name: string, context: FieldContext, place: Place): Step {
  refer(place.at("object"), "object", name, context.resources);
  const one = (text: string, reading: Reading): MaybeLater<Text> =>
    context.readers.get(name)?.(begins(text), reading);
  const run: Run = (text, _row, reading) => {
    if (text === null || text === undefined) return null;
    if (!isArrayText(text)) return one(text, reading);
    return whenDone(all(itemsOf(text).map((item) => one(item, reading))), (items) => `[${items.join(",")}]`);
  };
  return step(run, true);
}

const inArray: Run = (text) => (text === null || text === undefined ? "[]" : `[${text}]`);

/** What happens to a value after it was found, in this order. */
export function stepsOf(rule: FieldRule, context: FieldContext, place: Place): Step[] {
  return [
    ...(rule.type === "date-time" ? [step(dateTime)] : []),
    ...(rule.as === undefined ? [] : byKind(rule, rule.as, context, place)),
    ...(rule.catalog === undefined ? [] : byCatalog(rule, rule.catalog, context, place)),
    ...(rule.object === undefined ? [] : [byObject(rule.object, context, place)]),
    ...(rule.array === true ? [step(inArray)] : []),
  ];
}
