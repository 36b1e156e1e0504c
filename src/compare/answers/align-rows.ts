/** Finds corresponding rows of two lists in responses, and the rows and orders in which the lists differ. */
import { isObject } from "../../base/index.ts";
import type { CompareRules, Part, PartDifference } from "./compare.ts";
import { jsonType } from "./value-format.ts";

/** A list whose rows are aligned by a member. */
export interface ListRule {
  /** The field that is the list; empty for the whole body. */
  readonly field: string;
  /** The keys that lead to the object in a row. */
  readonly rowPath: readonly string[];
  /** Members that may identify a row, the most suitable first. */
  readonly idNames: readonly string[];
  /** The fields by which the list is ordered. Empty: it is ordered by other values. Undefined: its order is ignored. */
  readonly order: readonly string[] | undefined;
}

/** How rows are identified. */
export interface RowRules {
  /** The route's list, if it has one. */
  readonly list?: ListRule | undefined;
  /** The member that identifies an object in other lists. */
  readonly idName: string;
  /** Converts several spellings of an object's id to the same text. */
  readonly toIdText: (id: unknown) => string;
}

/** Maximum number of characters of all rows that are compared as texts. Deeply nested text is counted at each level. */
const MAX_TEXT = 3_000_000;

/** Returns a text that is the same for equal JSON values, regardless of the order of members. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  let text = "{";
  for (const name of Object.keys(value).sort())
    text += `${JSON.stringify(name)}:${canonicalText(value[name])},`;
  return `${text}}`;
}

type Pair = readonly [old: unknown, other: unknown];

/** The corresponding rows of two lists. */
interface Alignment {
  /** The pairs in the order of the old list. */
  readonly pairs: readonly Pair[];
  readonly oldOnly: readonly unknown[];
  readonly newOnly: readonly unknown[];
  /** The old rows of the pairs in the order of the new list; undefined for rows without ids. */
  readonly inNewOrder?: readonly unknown[];
}

const memberAt = (row: unknown, path: readonly string[]): unknown =>
  path.reduce((value: unknown, key) => (isObject(value) ? value[key] : undefined), row);

/** Indexes rows by the text of a member; undefined if two rows have the same text. */
export function rowsById(
  rows: readonly unknown[],
  path: readonly string[],
  toIdText: (id: unknown) => string,
): ReadonlyMap<string, unknown> | undefined {
  const found = new Map<string, unknown>();
  for (const row of rows) {
    const id = memberAt(row, path);
    if (typeof id !== "string" && jsonType(id) !== "number") return undefined;
    found.set(toIdText(id), row);
  }
  return found.size === rows.length ? found : undefined;
}

/** Aligns rows by the first member that identifies each row in both lists; undefined if not found. */
function alignById(
  { rowPath, idNames }: Pick<ListRule, "rowPath" | "idNames">,
  toIdText: RowRules["toIdText"],
  old: readonly unknown[],
  other: readonly unknown[],
): Alignment | undefined {
  for (const name of idNames) {
    const [rows, otherRows] = [old, other].map((list) => rowsById(list, [...rowPath, name], toIdText));
    if (!rows || !otherRows) continue;
    const shared = [...rows].filter(([id]) => otherRows.has(id));
    return {
      pairs: shared.map(([id, row]): Pair => [row, otherRows.get(id)]),
      oldOnly: [...rows].flatMap(([id, row]) => (otherRows.has(id) ? [] : [row])),
      newOnly: [...otherRows].flatMap(([id, row]) => (rows.has(id) ? [] : [row])),
      inNewOrder: [...otherRows.keys()].flatMap((id) => (rows.has(id) ? [rows.get(id)] : [])),
    };
  }
  return undefined;
}

/** Pairs rows by their position. */
function pairByPlace(old: readonly unknown[], other: readonly unknown[]): Alignment {
  const length = Math.min(old.length, other.length);
  return {
    pairs: old.slice(0, length).map((row, index): Pair => [row, other[index]]),
    oldOnly: old.slice(length),
    newOnly: other.slice(length),
  };
}

/** A row with its text. */
type TextedRow = readonly [text: string, row: unknown];

/** Returns the rows of two lists that have no counterpart in the other list. */
function withoutEqual(old: readonly TextedRow[], other: readonly TextedRow[]): [unknown[], unknown[]] {
  const counts = new Map<string, number>();
  for (const [text] of other) counts.set(text, (counts.get(text) ?? 0) + 1);
  const isLeft = ([text]: TextedRow): boolean => {
    const count = counts.get(text) ?? 0;
    if (count > 0) counts.set(text, count - 1);
    return count === 0;
  };
  const rest = old.filter(isLeft);
  // The remaining counts are rows without an old counterpart.
  const otherRest = other.filter((row) => !isLeft(row));
  return [rest.map(([, row]) => row), otherRest.map(([, row]) => row)];
}

/** Returns the difference of the order. Rows with equal values in the ordering fields may be in any order. */
function orderDifference(
  field: string,
  { order = [], rowPath, idNames }: ListRule,
  pairs: readonly Pair[],
  inNewOrder: readonly unknown[],
): PartDifference[] {
  const valuesOf = (row: unknown, names: readonly string[]): unknown[] =>
    names.map((name) => memberAt(row, [...rowPath, ...name.split(".")]));
  const isKnown =
    order.length > 0 && pairs.every(([row]) => valuesOf(row, order).every((value) => value !== undefined));
  const printed = (row: unknown): string => canonicalText(valuesOf(row, isKnown ? order : idNames));
  const index = pairs.findIndex(([row], at) => printed(row) !== printed(inNewOrder[at]));
  if (index === -1) return [];
  const sample = (rows: readonly unknown[]): unknown =>
    rows.slice(index, index + 5).map((row) => memberAt(row, [...rowPath, idNames[0] ?? ""]) ?? null);
  return [{ field, kind: "order", old: sample(pairs.map(([row]) => row)), new: sample(inNewOrder) }];
}

/** Creates the function that aligns the rows of one comparison. All rows of a list have the list's field. */
export function createRowAlignment({ list, idName, toIdText }: RowRules): Required<CompareRules>["align"] {
  let textLeft = MAX_TEXT;

  /**
   * Aligns rows without ids: equal rows first, and the remaining rows by their position. Positions in nested lists have
   * a meaning, as in pairs of a time and a value.
   */
  function alignByValue(old: readonly unknown[], other: readonly unknown[], isOrdered: boolean): Alignment {
    const isByPlace = isOrdered || textLeft <= 0 || [...old, ...other].every(Array.isArray);
    if (isByPlace) return pairByPlace(old, other);
    const toTexted = (row: unknown): TextedRow => {
      const text = canonicalText(row);
      textLeft -= text.length;
      return [text, row];
    };
    return pairByPlace(...withoutEqual(old.map(toTexted), other.map(toTexted)));
  }

  return function alignRows(field, old, other) {
    const rule = list?.field === field ? list : { field, rowPath: [], idNames: [idName], order: undefined };
    const { pairs, oldOnly, newOnly, inNewOrder } =
      alignById(rule, toIdText, old, other) ?? alignByValue(old, other, rule.order !== undefined);
    const toPart = ([row, otherRow]: Pair): Part => ({ field, old: row, new: otherRow });
    // All ids differ, but the rows are the same.
    if (pairs.length === 0 && oldOnly.length === newOnly.length)
      return oldOnly.map((row, index) => toPart([row, newOnly[index]]));
    const [row, otherRow] = oldOnly.length > 0 ? [oldOnly[0], undefined] : [undefined, newOnly[0]];
    return [
      ...pairs.map(toPart),
      ...(oldOnly.length + newOnly.length > 0
        ? [{ field, kind: "row" as const, old: row, new: otherRow }]
        : []),
      ...(rule.order && inNewOrder ? orderDifference(field, rule, pairs, inNewOrder) : []),
    ];
  };
}
