/**
 * Compares two JSON values, for golden cases, replays, packs and live responses. Each defines how rows of lists
 * correspond, which values are treated as equal, and how a difference is reported.
 */
import { isObject } from "../../base/index.ts";
import type { DifferenceKind } from "./comparison.ts";
import { areSame, jsonType } from "./value-format.ts";

/** A location with the value of each side. Undefined if a side has no value. */
export interface Part {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** A location at which both values differ. */
export interface PartDifference extends Part {
  readonly kind: DifferenceKind;
}

/** Compares two different scalars of one type. Returns how they differ, or null if they may differ. */
export type JudgeScalar = (field: string, old: unknown, other: unknown) => DifferenceKind | null;

/** How two values are compared. */
export interface CompareRules {
  /** Returns the field of an object's member. Default: the names joined by a dot. */
  readonly member?: (field: string, name: string) => string;
  /** Returns the corresponding rows of two lists, and the differences of the lists. Default: rows at the same position. */
  readonly align?: (
    field: string,
    old: readonly unknown[],
    other: readonly unknown[],
  ) => readonly (Part | PartDifference)[];
  /** Whether two different values are treated as equal. Default: false. */
  readonly isAccepted?: (field: string, old: unknown, other: unknown) => boolean;
  /** Compares two scalars. Default: two different scalars differ in their `value`. */
  readonly judge?: JudgeScalar;
  /** Maximum number of differences, of which each has a different field or kind. Default: all differences. */
  readonly most?: number;
}

/** Returns the field of an object's member. */
export const memberField = (field: string, name: string): string =>
  field === "" ? name : `${field}.${name}`;

/** Aligns the rows of two lists by their positions. */
export const alignByPlace = (field: string, old: readonly unknown[], other: readonly unknown[]): Part[] =>
  Array.from({ length: Math.max(old.length, other.length) }, (_, index) => ({
    field: `${field}[${index}]`,
    old: old[index],
    new: other[index],
  }));

const memberOf = (object: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Returns the parts of two lists or two objects. Undefined for other values, and if both are empty. */
function partsOf(
  { field, old, new: other }: Part,
  { member = memberField, align = alignByPlace }: CompareRules,
): readonly (Part | PartDifference)[] | undefined {
  if (Array.isArray(old) && Array.isArray(other))
    return old.length + other.length === 0 ? undefined : align(field, old, other);
  if (!isObject(old) || !isObject(other)) return undefined;
  const names = new Set([...Object.keys(old), ...Object.keys(other)]);
  if (names.size === 0) return undefined;
  return [...names].map((name) => ({
    field: member(field, name),
    old: memberOf(old, name),
    new: memberOf(other, name),
  }));
}

/** Visits all locations of two values without parts on both sides, including equal ones. */
export function visitParts(
  part: Part | PartDifference,
  rules: CompareRules,
  visit: (part: Part | PartDifference) => void,
): void {
  if ("kind" in part) return visit(part);
  if (rules.isAccepted?.(part.field, part.old, part.new)) return;
  const parts = partsOf(part, rules);
  if (!parts) return visit(part);
  for (const each of parts) visitParts(each, rules, visit);
}

/** Returns how two values without parts on both sides differ. Null if they do not. */
function kindOf({ field, old, new: other }: Part, judge: JudgeScalar): DifferenceKind | null {
  if (areSame(old, other)) return null;
  if (old === undefined) return "added";
  if (other === undefined) return "missing";
  const [type, otherType] = [jsonType(old), jsonType(other)];
  if (type !== otherType) return type === "null" || otherType === "null" ? "null" : "type";
  // Both are empty.
  if (type === "array" || type === "object") return null;
  return judge(field, old, other);
}

/**
 * Returns the differences of two values.
 *
 * @param root the field of the values themselves. Default: empty
 */
export function compare(
  old: unknown,
  other: unknown,
  rules: CompareRules = {},
  root = "",
): readonly PartDifference[] {
  const { judge = () => "value", most } = rules;
  const found: PartDifference[] = [];
  const known = new Set<string>();
  visitParts({ field: root, old, new: other }, rules, (part) => {
    const kind = "kind" in part ? part.kind : kindOf(part, judge);
    const key = `${kind} ${part.field}`;
    const isLeftOut = most !== undefined && (found.length >= most || known.has(key));
    if (kind === null || isLeftOut) return;
    known.add(key);
    found.push({ ...part, kind });
  });
  return found;
}
