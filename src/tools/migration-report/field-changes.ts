import type { FieldRule } from "../../mapping/schema/definition.ts";
import type { Pack } from "../../mapping/pack.ts";
import { classOf } from "../../mapping/summary.ts";
import type { FieldChange, ValuePair } from "./model.ts";

/** Which way a value travels: alpha's client reads it in answers, or writes it in bodies and filters. */
export type Direction = "read" | "write";

export interface ChangeContext {
  readonly pack: Pack;
  readonly direction: Direction;
  /** v4 calls of extra reads, by the names that expressions give them. */
  readonly besides: ReadonlyMap<string, string>;
}

const word = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
/** Code within a sentence stands in backticks. */
const code = (text: string): string => `\`${text}\``;
const literal = (value: unknown): string => code(JSON.stringify(value));
const oneLine = (expression: string): string => expression.trim().replaceAll(/\s+/g, " ");

/** The words of a table that differ; of a kind that is no table, none. */
function tablePairs(kind: string, { pack, direction }: ChangeContext): ValuePair[] {
  const { read, write } = pack.dialect.values[kind] ?? {};
  const own = direction === "write" && typeof write === "object" ? write : undefined;
  if (own) return pairs(Object.entries(own).map(([alpha, v4]) => [v4, alpha]));
  return typeof read === "object" ? pairs(Object.entries(read)) : [];
}

const pairs = (entries: readonly (readonly [unknown, unknown])[]): ValuePair[] =>
  entries
    .map(([v4, alpha]) => ({ alpha: word(alpha), v4: word(v4) }))
    .filter(({ alpha, v4 }) => alpha !== v4);

/** Ids that a catalog has other words for. */
function catalogPairs(name: string, { pack }: ChangeContext): ValuePair[] {
  const catalog = pack.resources.get(name)?.catalog;
  return pairs((catalog?.fixedIds ?? []).map((id) => [id, catalog?.alphaId(id) ?? id]));
}

/** What every v4 value becomes that does not stand in the table. */
function otherwise(kind: string, { pack, direction }: ChangeContext): string[] {
  const rest = pack.dialect.values[kind]?.otherwise;
  return rest === undefined || direction === "write"
    ? []
    : [`What alpha had no word for was shown as ${literal(rest)}.`];
}

function besidesOf({ read = "" }: FieldRule, { besides }: ChangeContext): string[] {
  const named = [...read.matchAll(/\$with\.(\w+)/g)].flatMap(([, name = ""]) => besides.get(name) ?? []);
  return [...new Set(named)];
}

function expanded(catalog: string, { pack, direction }: ChangeContext): string {
  const [call] = pack.resources.get(catalog)?.catalog?.calls ?? [];
  const list = call ? ` ${code(`GET ${pack.dialect.v4.prefix}${call.path}`)} lists them.` : "";
  return direction === "write"
    ? `The id of a ${catalog} in v4.${list}`
    : `v4 gives the id alone, where alpha gave the whole ${catalog}.${list}`;
}

function sentences(name: string, rule: FieldRule, context: ChangeContext): string[] {
  const { pack, direction } = context;
  const calls = besidesOf(rule, context);
  const { v4, as, catalog, or, const: fixed } = rule;
  if (fixed !== undefined)
    return [
      `Alpha always said ${literal(fixed)}${rule.loss === undefined ? "; v4 has no such field" : `: ${rule.loss}`}.`,
    ];
  const told = [
    ...(calls.length > 0 ? [`v4 has it in another call: ${calls.map(code).join(", ")}.`] : []),
    ...(calls.length === 0 && v4 === undefined ? ["v4 has no such field; alpha's was computed."] : []),
    ...(catalog === undefined ? [] : [expanded(catalog, context)]),
    ...(as === undefined ? [] : [valueSentence(as, context), ...otherwise(as, context)]),
    ...(rule.array === true && direction === "read" ? ["One value, where alpha had a list of one."] : []),
    ...(or !== undefined && or !== null && direction === "read"
      ? [`May be null or missing, where alpha had ${literal(or)}.`]
      : []),
  ];
  const computed = direction === "read" ? rule.read : rule.write;
  if (told.length === 0 && computed !== undefined)
    return [direction === "read" ? "Alpha's value was computed from v4's." : "v4's value was computed."];
  if (told.length > 0 || v4 === undefined || v4 === name) return told;
  return [pack.resources.has(rule.object ?? "") ? `Renamed; an object (${rule.object}).` : "Renamed."];
}

function valueSentence(kind: string, context: ChangeContext): string {
  if (tablePairs(kind, context).length > 0) return "Some values are called otherwise.";
  return typeof context.pack.dialect.values[kind]?.[context.direction] === "string"
    ? "The value has another form."
    : "The value was taken over where alpha had a word for it.";
}

function formulaOf(rule: FieldRule, { pack, direction }: ChangeContext): string | null {
  const own = direction === "read" ? rule.read : rule.write;
  const kind = pack.dialect.values[rule.as ?? ""]?.[direction];
  const formula = own ?? (typeof kind === "string" ? kind : undefined);
  return formula === undefined ? null : oneLine(formula);
}

/** What a field means in v4; undefined where that is the same under the same name. */
export function fieldChange(name: string, rule: FieldRule, context: ChangeContext): FieldChange | undefined {
  const change = sentences(name, rule, context).join(" ");
  const loss = context.direction === "read" ? (rule.loss ?? null) : null;
  const formula = formulaOf(rule, context);
  if (change === "" && loss === null && formula === null) return undefined;
  const { as, catalog, write } = rule;
  const translated = [as, catalog, write].some((key) => key !== undefined);
  return {
    field: name,
    v4: rule.v4 ?? null,
    class: context.direction === "write" && translated ? "value" : classOf(name, rule),
    change,
    values: [
      ...(as === undefined ? [] : tablePairs(as, context)),
      ...(catalog === undefined ? [] : catalogPairs(catalog, context)),
    ],
    formula,
    loss,
  };
}
