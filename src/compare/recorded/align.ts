/** Two bodies as lines beside each other. Rows of lists are aligned by their ids. */
import { isTruncated } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { rowsById } from "../answers/align-rows.ts";
import { alignByPlace, type CompareRules, type Part, visitParts } from "../answers/compare.ts";

/** A value of both bodies. Values are JSON. */
export interface AlignedLine {
  /** `books[id=7].label`, or `books[0].label` in a list without ids. */
  readonly path: string;
  /** Null where this side has no such value. */
  readonly old: string | null;
  readonly new: string | null;
  readonly isDifferent: boolean;
}

/** Lines of both bodies. */
const MAX_LINES = 2000;

/** The rows of two lists by the first member that is unique on both sides, else by their places. */
function alignNamed(
  idNames: readonly string[],
  field: string,
  old: readonly unknown[],
  other: readonly unknown[],
): readonly Part[] {
  for (const name of idNames) {
    const [rows, otherRows] = [old, other].map((list) => rowsById(list, [name], String));
    if (!rows || !otherRows) continue;
    return [...new Set([...rows.keys(), ...otherRows.keys()])].map((id) => ({
      field: `${field}[${name}=${id}]`,
      old: rows.get(id),
      new: otherRows.get(id),
    }));
  }
  return alignByPlace(field, old, other);
}

/** An empty list or object, for a value that is one and has members; undefined for all other values. */
function emptyLike(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [] : undefined;
  return isObject(value) && Object.keys(value).length > 0 ? {} : undefined;
}

const print = (value: unknown): string | null => JSON.stringify(value) ?? null;

/** Aligns two bodies. @param idNames Members that may identify a row, the best one first */
export function alignBodies(
  old: unknown,
  other: unknown,
  idNames: readonly string[],
): readonly AlignedLine[] {
  const lines: AlignedLine[] = [];
  const rules: CompareRules = { align: (...lists) => alignNamed(idNames, ...lists) };

  function add({ field, old: value, new: otherValue }: Part): void {
    if (lines.length >= MAX_LINES) return;
    // A row that only one side has is listed with all of its members.
    const empty = emptyLike(value === undefined ? otherValue : otherValue === undefined ? value : undefined);
    if (empty !== undefined)
      return visitParts({ field, old: value ?? empty, new: otherValue ?? empty }, rules, add);
    const [text, otherText] = [print(value), print(otherValue)];
    lines.push({ path: field, old: text, new: otherText, isDifferent: text !== otherText });
  }

  const [body, otherBody] = [old, other].map((each) => (isTruncated(each) ? each.text : each));
  visitParts({ field: "", old: body, new: otherBody }, rules, add);
  return lines;
}
