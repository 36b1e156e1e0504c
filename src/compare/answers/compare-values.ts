/** Compares two JSON values: one difference per field and kind, whatever the number of rows that have it. */
import { cutText, isObject } from "../../base/index.ts";
import type { Difference, DifferenceKind } from "../counts/comparison.ts";
import { areSame, isOtherFormat, jsonType } from "./value-format.ts";

/** What is said about two scalars of one type that are not the same: how they differ, or null if they may. */
export type JudgeScalar = (field: string, old: unknown, other: unknown) => DifferenceKind | null;

/** A list whose rows are aligned by a member. */
export interface ListRule {
  /** The field that is the list; empty for the whole body. */
  readonly field: string;
  /** The keys that lead to the object in a row. */
  readonly rowPath: readonly string[];
  /** Members that may identify a row, the best one first. */
  readonly idNames: readonly string[];
  /** The fields that the list is ordered by; empty: by others. Undefined: its order does not count. */
  readonly order: readonly string[] | undefined;
}

/** How two values are compared. */
export interface ValueRules {
  /** The list of a route that has one. */
  readonly list?: ListRule | undefined;
  /** The member that identifies an object in any other list. */
  readonly idName: string;
  /** Gives the ids of one object in several spellings the same text. */
  readonly toIdText: (id: unknown) => string;
  readonly judge: JudgeScalar;
}

/** More differences of one answer say nothing new. */
const MAX_DIFFERENCES = 100;
/** Characters of all rows that are compared as texts. What is nested deeply has its text in that of each level. */
const MAX_TEXT = 3_000_000;
/** Characters of a value in a difference. */
const MAX_VALUE = 2000;
/** Characters of a field. Names of members may come from anybody. */
const MAX_FIELD = 300;

/** How two scalars differ where nothing is known about the field. */
export const judgePlainly: JudgeScalar = (_field, old, other) =>
  isOtherFormat(old, other) ? "format" : "value";

/** A text that is the same for equal JSON values, whatever the order of their members. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  let text = "{";
  for (const name of Object.keys(value).sort())
    text += `${JSON.stringify(name)}:${canonicalText(value[name])},`;
  return `${text}}`;
}

const print = (value: unknown): string | undefined =>
  value === undefined ? undefined : cutText(JSON.stringify(value), MAX_VALUE).toWellFormed();

/** The name of a member below a field. */
export const joinField = (field: string, name: string): string =>
  cutText(field === "" ? name : `${field}.${name}`, MAX_FIELD);

type Pair = readonly [old: unknown, other: unknown];

/** The rows of two lists that belong together. */
interface Alignment {
  /** In the order of the old list. */
  readonly pairs: readonly Pair[];
  readonly oldOnly: readonly unknown[];
  readonly newOnly: readonly unknown[];
  /** The old rows of the pairs in the order of the new list; undefined for rows without ids. */
  readonly inNewOrder?: readonly unknown[];
}

interface TextedRow {
  readonly row: unknown;
  readonly text: string;
}

const memberAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), row);

class ValueWalk {
  readonly #rules: ValueRules;
  readonly #found = new Map<string, Difference>();
  #textLeft = MAX_TEXT;

  constructor(rules: ValueRules) {
    this.#rules = rules;
  }

  get differences(): Difference[] {
    return [...this.#found.values()];
  }

  #add(field: string, kind: DifferenceKind, old: unknown, other: unknown): void {
    const key = `${kind} ${field}`;
    if (this.#found.size >= MAX_DIFFERENCES || this.#found.has(key)) return;
    this.#found.set(key, { field, kind, old: print(old), new: print(other) });
  }

  compare(field: string, old: unknown, other: unknown): void {
    if (areSame(old, other)) return;
    if (old === undefined) return this.#add(field, "added", old, other);
    if (other === undefined) return this.#add(field, "missing", old, other);
    const [type, otherType] = [jsonType(old), jsonType(other)];
    if (type !== otherType)
      return this.#add(field, type === "null" || otherType === "null" ? "null" : "type", old, other);
    if (Array.isArray(old) && Array.isArray(other)) return this.#compareLists(field, old, other);
    if (isObject(old) && isObject(other)) return this.#compareObjects(field, old, other);
    const kind = this.#rules.judge(field, old, other);
    if (kind !== null) this.#add(field, kind, old, other);
  }

  #compareObjects(field: string, old: Record<string, unknown>, other: Record<string, unknown>): void {
    for (const name of Object.keys(old))
      this.compare(joinField(field, name), old[name], Object.hasOwn(other, name) ? other[name] : undefined);
    for (const name of Object.keys(other))
      if (!Object.hasOwn(old, name)) this.compare(joinField(field, name), undefined, other[name]);
  }

  #compareLists(field: string, old: readonly unknown[], other: readonly unknown[]): void {
    const { list, idName } = this.#rules;
    const rule = list?.field === field ? list : { rowPath: [], idNames: [idName], order: undefined };
    const aligned =
      this.#alignById(rule, old, other) ?? this.#alignByValue(old, other, rule.order !== undefined);
    for (const [row, otherRow] of aligned.pairs) this.compare(field, row, otherRow);
    const { oldOnly, newOnly, inNewOrder } = aligned;
    // Each row has another id: the ids differ, and not the rows.
    if (aligned.pairs.length === 0 && oldOnly.length === newOnly.length)
      return oldOnly.forEach((row, index) => this.compare(field, row, newOnly[index]));
    if (oldOnly.length > 0) this.#add(field, "row", oldOnly[0], undefined);
    else if (newOnly.length > 0) this.#add(field, "row", undefined, newOnly[0]);
    if (rule.order && inNewOrder) this.#compareOrder(field, rule, aligned.pairs, inNewOrder);
  }

  /** Rows that are equal in what the list is ordered by may be in any order. */
  #compareOrder(
    field: string,
    { order = [], rowPath, idNames }: Omit<ListRule, "field">,
    pairs: readonly Pair[],
    inNewOrder: readonly unknown[],
  ): void {
    const valuesOf = (row: unknown, names: readonly string[]): unknown[] =>
      names.map((name) => memberAt(row, [...rowPath, ...name.split(".")]));
    const isKnown =
      order.length > 0 && pairs.every(([row]) => valuesOf(row, order).every((value) => value !== undefined));
    const printed = (row: unknown): string => canonicalText(valuesOf(row, isKnown ? order : idNames));
    const index = pairs.findIndex(([row], at) => printed(row) !== printed(inNewOrder[at]));
    if (index === -1) return;
    const sample = (rows: readonly unknown[]): unknown =>
      rows.slice(index, index + 5).map((row) => memberAt(row, [...rowPath, idNames[0] ?? ""]) ?? null);
    this.#add(field, "order", sample(pairs.map(([row]) => row)), sample(inNewOrder));
  }

  /** Aligns rows by the first member that identifies each row of both lists; undefined if there is none. */
  #alignById(
    { rowPath, idNames }: Pick<ListRule, "rowPath" | "idNames">,
    old: readonly unknown[],
    other: readonly unknown[],
  ): Alignment | undefined {
    for (const name of idNames) {
      const path = [...rowPath, name];
      const [rows, otherRows] = [this.#rowsById(old, path), this.#rowsById(other, path)];
      if (!rows || !otherRows) continue;
      const pairs: Pair[] = [];
      const oldOnly: unknown[] = [];
      for (const [id, row] of rows)
        if (otherRows.has(id)) pairs.push([row, otherRows.get(id)]);
        else oldOnly.push(row);
      const newOnly = [...otherRows].flatMap(([id, row]) => (rows.has(id) ? [] : [row]));
      const inNewOrder = [...otherRows.keys()].flatMap((id) => (rows.has(id) ? [rows.get(id)] : []));
      return { pairs, oldOnly, newOnly, inNewOrder };
    }
    return undefined;
  }

  /**
   * Aligns rows without ids: equal rows first, and the others by their place. Lists inside of lists have places that mean
   * something, as pairs of a time and a value.
   */
  #alignByValue(old: readonly unknown[], other: readonly unknown[], isOrdered: boolean): Alignment {
    const isByPlace = isOrdered || this.#textLeft <= 0 || [...old, ...other].every(Array.isArray);
    if (isByPlace) return alignByPlace(old, other);
    const [rows, otherRows] = [old, other].map((list) =>
      list.map((row) => ({ row, text: canonicalText(row) })),
    );
    for (const { text } of [...(rows ?? []), ...(otherRows ?? [])]) this.#textLeft -= text.length;
    return alignByPlace(...withoutEqual(rows ?? [], otherRows ?? []));
  }

  #rowsById(rows: readonly unknown[], path: readonly string[]): Map<string, unknown> | undefined {
    const found = new Map<string, unknown>();
    for (const row of rows) {
      const id = memberAt(row, path);
      if (typeof id !== "string" && jsonType(id) !== "number") return undefined;
      found.set(this.#rules.toIdText(id), row);
    }
    return found.size === rows.length ? found : undefined;
  }
}

/** Pairs rows by their place. */
function alignByPlace(old: readonly unknown[], other: readonly unknown[]): Alignment {
  const length = Math.min(old.length, other.length);
  return {
    pairs: old.slice(0, length).map((row, index): Pair => [row, other[index]]),
    oldOnly: old.slice(length),
    newOnly: other.slice(length),
  };
}

/** The rows of two lists, given with their texts, that the other one does not have. */
function withoutEqual(old: readonly TextedRow[], other: readonly TextedRow[]): [unknown[], unknown[]] {
  const counts = new Map<string, number>();
  for (const { text } of other) counts.set(text, (counts.get(text) ?? 0) + 1);
  const isLeft = ({ text }: TextedRow): boolean => {
    const count = counts.get(text) ?? 0;
    if (count > 0) counts.set(text, count - 1);
    return count === 0;
  };
  const rest = old.filter(isLeft);
  // What remains of the counts are the rows that no old one has taken.
  const otherRest = other.filter((row) => !isLeft(row));
  return [rest.map(({ row }) => row), otherRest.map(({ row }) => row)];
}

/** All differences of two values, one per field and kind, with the first pair of values that has it. */
export function compareValues(old: unknown, other: unknown, rules: ValueRules): Difference[] {
  const walk = new ValueWalk(rules);
  walk.compare("", old, other);
  return walk.differences;
}
