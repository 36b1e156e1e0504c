import { Failure } from "./failure.ts";
import { append, collect } from "./sequence.ts";
import { NOTHING, reduceTuples, type Tuple } from "./tuple.ts";
import { put } from "./values.ts";

/** `{ }` over a list: members with the same key are grouped, and a value is evaluated for each group. */

/** A key and its value; `tuple` has the variables of a tuple stream. */
interface Pair {
  readonly key: (item: unknown, tuple?: Tuple) => unknown;
  readonly value: (items: unknown, tuple?: Tuple) => unknown;
}

interface Group {
  data: unknown;
  /** The data is a list made here, which can grow. */
  own: boolean;
  readonly pair: Pair;
}

/** An object with such a member would be taken for a function of the interpreter. */
const RESERVED = new Set(["_jsonata_lambda", "_jsonata_function"]);

function addTo(groups: Map<string, Group>, key: unknown, pair: Pair, item: unknown, position: number): void {
  if (key === undefined) return;
  if (typeof key !== "string") throw new Failure("T1003", position);
  if (RESERVED.has(key)) throw new Failure("D1013", position);
  const group = groups.get(key);
  if (!group) groups.set(key, { data: item, own: false, pair });
  else if (group.pair !== pair) throw new Failure("D1009", position);
  else grow(group, item);
}

function grow(group: Group, item: unknown): void {
  if (group.own) {
    collect(group.data as unknown[], item);
    return;
  }
  group.own = group.data !== undefined && item !== undefined;
  group.data = append(group.data, item);
}

/** Object keys that look like array indexes come first, and their values are evaluated first. */
function evaluated(groups: Map<string, Group>, valueOf: (group: Group) => unknown): Record<string, unknown> {
  const order: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of groups.keys()) order[key] = true;
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(order)) {
    const value = valueOf(groups.get(key) as Group);
    if (value !== undefined) put(object, key, value);
  }
  return object;
}

/** An object constructor in any context, and the grouping at the end of a path. Nothing is one missing thing. */
export function groupBy(context: unknown, pairs: readonly Pair[], position: number): Record<string, unknown> {
  const list: readonly unknown[] = Array.isArray(context) ? context : [context];
  const groups = new Map<string, Group>();
  for (const item of list.length === 0 ? [undefined] : list)
    for (const pair of pairs) addTo(groups, pair.key(item), pair, item, position);
  return evaluated(groups, ({ data, pair }) => pair.value(data));
}

const withoutTuples = (pairs: readonly Pair[]): Pair[] =>
  pairs.map(({ key, value }) => ({ key: (item) => key(item, {}), value: (items) => value(items, {}) }));

/** The grouping at the end of a path that binds variables on its way. */
export function groupTuples(
  tuples: readonly Tuple[],
  pairs: readonly Pair[],
  position: number,
): Record<string, unknown> {
  if (tuples === NOTHING) return groupBy(undefined, withoutTuples(pairs), position);
  const groups = new Map<string, Group>();
  for (const tuple of tuples)
    for (const pair of pairs) addTo(groups, pair.key(tuple["@"], tuple), pair, tuple, position);
  return evaluated(groups, ({ data, pair }) => {
    const tuple = reduceTuples(data as Tuple | readonly Tuple[]);
    return pair.value(tuple["@"], tuple);
  });
}
