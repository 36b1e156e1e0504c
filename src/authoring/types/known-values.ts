/** The facts about the values of the upstream that a pack and its golden cases add to its document. */
import { isObject } from "../../base/index.ts";
import { type FieldRule, findPath, type Pack } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { splitCall, type Example } from "../examples/example.ts";
import { tableValues } from "../laws/filter-law.ts";
import type { FindHints } from "./described-answer.ts";
import type { FindOperation } from "./find-operation.ts";
import type { Patterns } from "./pattern.ts";

/** Words of one place. */
const MOST_WORDS = 40;
/** Values of golden cases at one place. */
const MOST_SEEN = 6;

/** A rule of a field of a pack. */
type Rule = Pick<FieldRule, "values" | "catalog">;

/**
 * The upstream's values that a rule knows: keys of its table, and the ids of its catalog in fixed lists and golden
 * cases.
 */
function wordsOf({ values, catalog: name = "" }: Rule, pack: Pack, lists: CatalogLists): unknown[] {
  const { catalog } = pack.resources.get(name) ?? {};
  const rows = (catalog?.calls ?? []).flatMap(({ path }) => lists[catalogRequest(path)] ?? []);
  const ids = rows.flatMap((row) => (catalog && isObject(row) ? [row[catalog.idMember]] : []));
  const words = tableValues(values, pack.dialect.values).map(([word]) => word);
  return [...words, ...(catalog?.fixedIds ?? []), ...ids];
}

/** Collects the scalar values of an answer, by operation and place. */
function collectValues(value: unknown, place: string, seen: Map<string, Set<unknown>>): void {
  if (Array.isArray(value)) for (const item of value) collectValues(item, place, seen);
  else if (isObject(value))
    for (const [key, member] of Object.entries(value)) collectValues(member, `${place}.${key}`, seen);
  else {
    const values = seen.get(place) ?? new Set();
    seen.set(place, values);
    if (values.size < MOST_SEEN) values.add(value);
  }
}

/** The answers of the upstream in golden cases, with their requests. */
function* answersOf(
  pack: Pack,
  examples: readonly Example[],
  lists: CatalogLists,
): Generator<readonly [request: string, body: unknown]> {
  for (const { definition } of examples)
    for (const { request, response } of definition.upstream)
      if (response.status < 300) yield [request, response.body];
  const items = findPath(pack.lists.upstream, "items") ?? [];
  for (const [request, rows] of Object.entries(lists))
    yield [request, items.reduceRight<unknown>((inner, name) => ({ [name]: inner }), rows)];
}

/**
 * Collects the known values of the upstream's answers.
 *
 * @param findKey Finds the operation of a call
 * @returns the known values of the members of an operation
 */
export function collectHints(
  pack: Pack,
  { examples, lists }: { readonly examples: readonly Example[]; readonly lists: CatalogLists },
  patterns: Patterns,
  findKey: FindOperation,
): (key: string) => FindHints {
  const rules = [...pack.resources.values()].flatMap(({ members }) => [...members.values()]);
  const rulesOf = Map.groupBy(rules, ({ upstream }) => upstream);
  const seen = new Map<string, Set<unknown>>();
  for (const [request, body] of answersOf(pack, examples, lists)) {
    const { method, path } = splitCall(request, pack.dialect.upstream.base_path);
    const key = findKey(method, path);
    if (key !== undefined) collectValues(body, key, seen);
  }
  return (key) => (path, place) => {
    const found = path.flatMap((_name, index) => rulesOf.get(path.slice(index).join(".")) ?? []);
    const words = new Set(found.flatMap((rule) => wordsOf(rule, pack, lists)).slice(0, MOST_WORDS));
    const values = seen.get([key, ...path].join(".")) ?? new Set();
    const { pattern } = place.limits;
    return {
      isTime: found.some(({ format }) => format === "date-time"),
      // The usual value is one that the pack has a word for. A null instead of a list has no items.
      words: [...values.intersection(words), ...words, ...values].filter(
        (word) => word !== null || !place.types.has("array"),
      ),
      fits: (text) => typeof pattern !== "string" || patterns.test(pattern, text) !== false,
    };
  };
}
