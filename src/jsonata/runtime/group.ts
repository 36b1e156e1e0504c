import { Failure } from "./failure.ts";
import { tick } from "./guard.ts";
import { append, addMembers } from "./sequence.ts";
import { setMember } from "../../base/index.ts";

/** The functions of one `key: value` pair. */
interface Pair {
  readonly key: (item: unknown) => unknown;
  readonly value: (items: unknown) => unknown;
}

interface Group {
  data: unknown;
  /** The list in `data` was created here, so it may be changed. */
  isOwnList: boolean;
  readonly pair: Pair;
}

/** The interpreter takes an object with such a member for a function. */
const RESERVED = new Set(["_jsonata_lambda", "_jsonata_function"]);

function addToGroup(
  groups: Map<string, Group>,
  key: unknown,
  pair: Pair,
  item: unknown,
  position: number,
): void {
  if (key === undefined) return;
  if (typeof key !== "string") throw new Failure("T1003", position);
  if (RESERVED.has(key)) throw new Failure("D1013", position);
  const group = groups.get(key);
  if (!group) groups.set(key, { data: item, isOwnList: false, pair });
  else if (group.pair !== pair) throw new Failure("D1009", position);
  else growGroup(group, item);
}

function growGroup(group: Group, item: unknown): void {
  if (group.isOwnList) {
    addMembers(group.data as unknown[], item);
    return;
  }
  group.isOwnList = group.data !== undefined && item !== undefined;
  group.data = append(group.data, item);
}

/** Evaluates the values in the order of an object's keys: those that look like array indexes come first. */
function evaluateGroups(
  groups: Map<string, Group>,
  valueOf: (group: Group) => unknown,
): Record<string, unknown> {
  const order: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const key of groups.keys()) order[key] = true;
  const object: Record<string, unknown> = {};
  for (const key of Object.keys(order)) {
    const value = valueOf(groups.get(key) as Group);
    if (value !== undefined) setMember(object, key, value);
  }
  return object;
}

/**
 * Groups the members of a list by key and evaluates a value for each group: an object constructor over
 * a list. An empty list counts as one undefined member.
 *
 * @throws {Failure} T1003, D1009, D1013
 */
export function groupBy(context: unknown, pairs: readonly Pair[], position: number): Record<string, unknown> {
  const list: readonly unknown[] = Array.isArray(context) ? context : [context];
  const groups = new Map<string, Group>();
  for (const item of list.length === 0 ? [undefined] : list) {
    tick();
    for (const pair of pairs) addToGroup(groups, pair.key(item), pair, item, position);
  }
  return evaluateGroups(groups, ({ data, pair }) => pair.value(data));
}
