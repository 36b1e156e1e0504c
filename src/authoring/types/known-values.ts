/** The facts about the values of the upstream that a pack and its golden cases add to its document. */
import { isObject } from "../../base/index.ts";
import { type FieldRule, findPath, type Pack } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { splitCall, type Example } from "../examples/example.ts";
import { tableValues } from "../laws/filter-law.ts";
import type { Hints } from "./possible-values.ts";

/** Maximum number of words of one place, and of values from golden cases. */
const [MOST_WORDS, MOST_SEEN] = [40, 6];

/** Finds the known facts about a member of a response. */
type FindHints = (path: readonly string[]) => Hints;

/** The golden cases of a pack. */
export interface KnownValues {
  readonly examples: readonly Example[];
  readonly lists: CatalogLists;
}

/** Returns the upstream's values in a rule: those of its table, and the ids of its catalog in fixed lists and golden cases. */
function valuesOfRule({ values, catalog: name = "" }: FieldRule, pack: Pack, lists: CatalogLists): unknown[] {
  const { catalog } = pack.resources.get(name) ?? {};
  const rows = (catalog?.calls ?? []).flatMap(({ path }) => lists[catalogRequest(path)] ?? []);
  const ids = rows.flatMap((row) => (catalog && isObject(row) ? [row[catalog.idMember]] : []));
  const words = tableValues(values, pack.dialect.values).map(([word]) => word);
  return [...words, ...(catalog?.fixedIds ?? []), ...ids];
}

/** The scalar values of a place. */
type SeenValues = Map<string, Set<unknown>>;

/** Adds the scalar values of a response, by operation and place: `GET /books/{}.title`. */
function addSeen(seen: SeenValues, place: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) addSeen(seen, place, item);
  else if (isObject(value))
    for (const [key, member] of Object.entries(value)) addSeen(seen, `${place}.${key}`, member);
  else seen.set(place, (seen.get(place) ?? new Set()).add(value));
}

/**
 * Collects the known values of the upstream's responses.
 *
 * @param operationOf Finds the operation of a call
 * @returns what is known about the members of an operation
 */
export function collectHints(
  pack: Pack,
  { examples, lists }: KnownValues,
  operationOf: (method: string, path: string) => string,
): (key: string) => FindHints {
  const rules = [...pack.resources.values()].flatMap(({ members }) => [...members.values()]);
  const rulesOf = Map.groupBy(rules, ({ upstream }) => upstream);
  const seen: SeenValues = new Map();
  for (const { request, response } of examples.flatMap(({ definition }) => definition.upstream)) {
    const { method, path } = splitCall(request, pack.dialect.upstream.base_path);
    if (response.status < 300) addSeen(seen, operationOf(method, path), response.body);
  }
  const items = findPath(pack.lists.upstream, "items") ?? [];
  for (const [request, rows] of Object.entries(lists)) addSeen(seen, [request, ...items].join("."), rows);
  return (key) => (path) => {
    const found = path.flatMap((_name, index) => rulesOf.get(path.slice(index).join(".")) ?? []);
    const words = new Set(found.flatMap((rule) => valuesOfRule(rule, pack, lists)).slice(0, MOST_WORDS));
    const values = new Set([...(seen.get([key, ...path].join(".")) ?? [])].slice(0, MOST_SEEN));
    return {
      isTime: found.some(({ format }) => format === "date-time"),
      // The usual value is one for which the pack has a word.
      words: [...values.intersection(words), ...words, ...values],
    };
  };
}
