/** Two bodies as lines beside each other. Rows of lists are aligned by their ids. */
import { isTruncated } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";

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

/** The names of the rows of a list: the first member that tells all of them apart, else their indexes. */
function rowNames(rows: readonly unknown[], idNames: readonly string[]): readonly string[] {
  for (const name of idNames) {
    const ids = rows.map((row) => (isObject(row) && Object.hasOwn(row, name) ? row[name] : undefined));
    const isId = ids.every((id) => typeof id === "string" || typeof id === "number");
    if (isId && new Set(ids.map(String)).size === rows.length)
      return ids.map((id) => `${name}=${String(id)}`);
  }
  return rows.map((_, index) => String(index));
}

function flatten(body: unknown, idNames: readonly string[]): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  function visit(value: unknown, path: string): void {
    if (lines.size >= MAX_LINES) return;
    if (Array.isArray(value) && value.length > 0) {
      const names = rowNames(value, idNames);
      return value.forEach((item, index) => visit(item, `${path}[${names[index]}]`));
    }
    const members = isObject(value) ? Object.entries(value) : [];
    if (members.length === 0) return void lines.set(path, JSON.stringify(value) ?? "null");
    for (const [name, member] of members) visit(member, path === "" ? name : `${path}.${name}`);
  }
  if (body !== undefined) visit(isTruncated(body) ? body.text : body, "");
  return lines;
}

/** Aligns two bodies. @param idNames Members that may identify a row, the best one first */
export function alignBodies(
  old: unknown,
  other: unknown,
  idNames: readonly string[],
): readonly AlignedLine[] {
  const [lines, otherLines] = [flatten(old, idNames), flatten(other, idNames)];
  return [...new Set([...lines.keys(), ...otherLines.keys()])].map((path) => {
    const [value, otherValue] = [lines.get(path) ?? null, otherLines.get(path) ?? null];
    return { path, old: value, new: otherValue, isDifferent: value !== otherValue };
  });
}
