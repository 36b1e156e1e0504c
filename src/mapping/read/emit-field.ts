import { textOfValue, type Text } from "../../dialect/json-text.ts";
import type { Expression, MaybeLater } from "../../expression/index.ts";
import type { FieldContext } from "../field.ts";
import type { FieldRule } from "../definition.ts";
import { networkAddress as networkOf } from "../ip-address.ts";
import { expressionAt, type Place } from "../place.ts";
import type { Reading } from "../reading.ts";
import type { Source } from "./source.ts";
import { stepsOf } from "./steps.ts";
import type { WantedPlaces } from "./wanted.ts";

/** The function of one resource while it is written. */
export interface Unit {
  readonly source: Source;
  readonly wanted: WantedPlaces;
  /** Whether the text of the whole v4 object is needed. */
  needsRow: boolean;
}

/** JavaScript that gives the text of a field, or a promise of it where that is `late`. */
export interface FieldCode {
  readonly js: string;
  readonly late: boolean;
}

/** The input of an expression: an object of the members that it reads. */
function emitInput({ reads }: Expression, unit: Unit): string {
  if (reads === "all") {
    unit.needsRow = true;
    return "valueOfText(row)";
  }
  const members = [...reads].map(
    (name) => `${JSON.stringify(name)}: valueOfText(${unit.wanted.variable([name])})`,
  );
  return `{ ${members.join(", ")} }`;
}

const READ_VARIABLES = ["value", "with", "values", "networkOf", "sent", "scopesOf"];

/** What stands in v4, or what an expression makes of it. */
function emitSource(rule: FieldRule, context: FieldContext, place: Place, unit: Unit): FieldCode {
  if (rule.const !== undefined) return { js: literal(textOfValue(rule.const)), late: false };
  const found = rule.v4 === undefined ? "undefined" : unit.wanted.variable(rule.v4.split("."));
  if (rule.read === undefined) return { js: found, late: false };
  const expression = expressionAt(place.at("read"), rule.read, READ_VARIABLES);
  const { lookup: values, scopesOf } = context;
  const print = (input: unknown, value: unknown, reading: Reading): MaybeLater<Text> =>
    expression.print(input, { value, with: reading.with, sent: reading.sent, values, networkOf, scopesOf });
  const value = expression.variables.has("value") ? `valueOfText(${found})` : "undefined";
  return {
    js: `${unit.source.constant(print)}(${emitInput(expression, unit)}, ${value}, reading)`,
    late: expression.engine === "interpreted",
  };
}

/** A text in JavaScript. */
const literal = (text: Text): string => (text === undefined ? "undefined" : JSON.stringify(text));

/** Writes the way of one field from v4 to alpha. A value that is missing in v4 is `or`, else null. */
export function emitField(rule: FieldRule, context: FieldContext, place: Place, unit: Unit): FieldCode {
  const { source } = unit;
  const code = stepsOf(rule, context, place).reduce<FieldCode>(
    ({ js, late }, { run, needsRow, late: becomesLate }) => {
      if (needsRow) unit.needsRow = true;
      const row = needsRow ? "row" : '""';
      const after = (text: string): string => `${source.constant(run)}(${text}, ${row}, reading)`;
      const text = source.name("text");
      const written = late ? `whenDone(${js}, (${text}) => ${after(text)})` : after(js);
      return { js: written, late: late || becomesLate };
    },
    emitSource(rule, context, place, unit),
  );
  return code;
}

/** The text of a field where there is nothing. */
export const neutralText = ({ or }: FieldRule): string => textOfValue(or) ?? "null";
