/** The facts about the values of the upstream that a pack adds to its document. */
import { isObject } from "../../base/index.ts";
import type { FieldRule, Pack } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest } from "../../compare/index.ts";
import { tableValues } from "../laws/filter-law.ts";
import type { Hints } from "./possible-values.ts";

/** Maximum number of words of one place. */
const MOST_WORDS = 40;

/** Finds the known facts about a member of a response. */
type FindHints = (path: readonly string[]) => Hints;

/** Returns the upstream's values in a rule: those of its table, and the ids of its catalog in fixed lists and golden cases. */
function valuesOfRule({ values, catalog: name = "" }: FieldRule, pack: Pack, lists: CatalogLists): unknown[] {
  const { catalog } = pack.resources.get(name) ?? {};
  const rows = (catalog?.calls ?? []).flatMap(({ path }) => lists[catalogRequest(path)] ?? []);
  const ids = rows.flatMap((row) => (catalog && isObject(row) ? [row[catalog.idMember]] : []));
  const words = tableValues(values, pack.dialect.values).map(([word]) => word);
  return [...words, ...(catalog?.fixedIds ?? []), ...ids];
}

/** Collects the known values of the upstream's responses. @param lists The objects of the upstream's catalogs */
export function collectHints(pack: Pack, lists: CatalogLists): FindHints {
  const rules = [...pack.resources.values()].flatMap(({ members }) => [...members.values()]);
  const rulesOf = Map.groupBy(rules, ({ upstream }) => upstream);
  return (path) => {
    const found = path.flatMap((_name, index) => rulesOf.get(path.slice(index).join(".")) ?? []);
    const words = new Set(found.flatMap((rule) => valuesOfRule(rule, pack, lists)));
    const isTime = found.some(({ format }) => format === "date-time");
    return { isTime, words: [...words].slice(0, MOST_WORDS) };
  };
}
