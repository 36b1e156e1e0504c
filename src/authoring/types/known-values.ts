/** What a pack and its golden cases know about the values of the upstream, besides its document. */
import { isObject } from "../../base/index.ts";
import { findPath, type Pack } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { splitCall, type Example } from "../examples/example.ts";
import { tableValues } from "../laws/filter-law.ts";
import type { AnswerHints } from "./described-answer.ts";
import type { FindOperation } from "./described-upstream.ts";
import type { Patterns } from "./pattern.ts";

/** Words of one place. */
const MOST_WORDS = 40;
/** Values of golden cases at one place. */
const MOST_SEEN = 6;

/** What the rules of a pack say about a member of the upstream. */
interface Known {
  isTime: boolean;
  readonly words: Set<unknown>;
}

/** The ids of a catalog, of its fixed list and of golden cases. */
function catalogIds(pack: Pack, name: string, lists: CatalogLists): unknown[] {
  const { catalog } = pack.resources.get(name) ?? {};
  const rows = (catalog?.calls ?? []).flatMap(({ path }) => lists[catalogRequest(path)] ?? []);
  return [
    ...(catalog?.fixedIds ?? []),
    ...rows.flatMap((row) => (catalog && isObject(row) ? [row[catalog.idMember]] : [])),
  ];
}

/** What the fields of a pack know, by the upstream's names. */
function knownOfPack(pack: Pack, lists: CatalogLists): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const { members } of pack.resources.values())
    for (const { upstream, format, values, catalog } of members.values()) {
      if (upstream === undefined) continue;
      const at = known.get(upstream) ?? { isTime: false, words: new Set() };
      known.set(upstream, at);
      at.isTime ||= format === "date-time";
      const words = [
        ...tableValues(values, pack.dialect.values).map(([word]) => word),
        ...(catalog === undefined ? [] : catalogIds(pack, catalog, lists)),
      ];
      for (const word of words.slice(0, MOST_WORDS - at.words.size)) at.words.add(word);
    }
  return known;
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

/**
 * Collects what is known about the values of the upstream's answers.
 *
 * @param findKey Finds the operation of a call
 */
export function collectHints(
  pack: Pack,
  { examples, lists }: { readonly examples: readonly Example[]; readonly lists: CatalogLists },
  patterns: Patterns,
  findKey: FindOperation,
): (key: string) => AnswerHints {
  const known = knownOfPack(pack, lists);
  const seen = new Map<string, Set<unknown>>();
  const add = (request: string, body: unknown): void => {
    const { method, path } = splitCall(request, pack.dialect.upstream.base_path);
    const key = findKey(method, path);
    if (key !== undefined) collectValues(body, key, seen);
  };
  for (const { definition } of examples)
    for (const { request, response } of definition.upstream)
      if (response.status < 300) add(request, response.body);
  const items = findPath(pack.lists.upstream, "items") ?? [];
  for (const [request, rows] of Object.entries(lists))
    add(
      request,
      items.reduceRight<unknown>((inner, name) => ({ [name]: inner }), rows),
    );
  return (key) => ({
    at(path) {
      const found = path.flatMap((_name, index) => known.get(path.slice(index).join(".")) ?? []);
      const words = new Set(found.flatMap((each) => [...each.words]));
      const values = seen.get([key, ...path].join(".")) ?? new Set();
      return {
        isTime: found.some(({ isTime }) => isTime),
        // The usual value is one that the pack has a word for.
        words: [...values.intersection(words), ...words, ...values],
      };
    },
    fits(place) {
      const { pattern } = place.limits;
      return (text) => typeof pattern !== "string" || patterns.test(pattern, text) !== false;
    },
  });
}
