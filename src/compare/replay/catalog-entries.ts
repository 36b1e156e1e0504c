/** Compares the catalog entries in responses. v4's catalogs are not recorded, but the entries can be compared with a control. */
import { isObject } from "../../base/index.ts";
import { type CatalogCopy, NO_CATALOGS, type Pack, responseFields, type Route } from "../../pack/index.ts";
import { compareBodies, type ReplayDifference } from "./differences.ts";

/** All values of a body at some paths, without indexes. */
function* valuesAt(
  paths: ReadonlyMap<string, string>,
  at: string,
  value: unknown,
): Generator<[string, unknown]> {
  const catalog = paths.get(at);
  if (Array.isArray(value)) for (const item of value) yield* valuesAt(paths, at, item);
  else if (catalog !== undefined) yield [catalog, value];
  else if (isObject(value))
    for (const [name, member] of Object.entries(value)) yield* valuesAt(paths, `${at}.${name}`, member);
}

/** The entries in the responses of one route. */
export interface EntryComparison {
  /** Accepts an entry with the same id, and all lists of entries. */
  isEqual(at: string, was: unknown, is: unknown): boolean;
  /** The differences of entries, from the response under the control. */
  compareWithControl(control: unknown, is: unknown): ReplayDifference[];
  /**
   * The catalogs of entries in a response that v4's objects are missing for.
   *
   * @param copy the entries that are made of v4's objects
   */
  findUnknown(is: unknown, copy: Pick<CatalogCopy, "find">): readonly string[];
}

/** Creates the comparison for a route of a pack. */
export function createEntryComparison(route: Route, pack: Pack): EntryComparison {
  const { id: reference } = pack.dialect.client;
  const catalogs = new Map<string, string>();
  for (const [path, { rule }] of responseFields(route, pack))
    if (rule.catalog !== undefined) catalogs.set(`response.${path}`, rule.catalog);
  const pathOf = (at: string): string => at.replaceAll(/\[\d+\]/g, "");

  function isKnown(catalog: string, entry: unknown, copy: Pick<CatalogCopy, "find">): boolean {
    const id = isObject(entry) ? entry[reference] : undefined;
    if (typeof id !== "string") return true;
    const v4Ids = pack.resources.get(catalog)?.catalog?.filterIds(id, { ...NO_CATALOGS, ...copy });
    return v4Ids?.some((v4Id) => copy.find(catalog, v4Id) !== undefined) ?? false;
  }

  return {
    isEqual(at, was, is) {
      if (!catalogs.has(pathOf(at))) return false;
      if (Array.isArray(was) && Array.isArray(is))
        return was.length !== 1 || is.length !== 1 || idsEqual(was[0], is[0], reference);
      return idsEqual(was, is, reference);
    },
    compareWithControl: (control, is) =>
      compareBodies("response", control, is).filter(({ what }) => {
        const path = pathOf(what);
        return [...catalogs.keys()].some((entry) => path === entry || path.startsWith(`${entry}.`));
      }),
    findUnknown: (is, copy) => {
      const entries = [...valuesAt(catalogs, "response", is)];
      return [...new Set(entries.flatMap(([name, entry]) => (isKnown(name, entry, copy) ? [] : [name])))];
    },
  };
}

const idsEqual = (was: unknown, is: unknown, reference: string): boolean =>
  isObject(was) && isObject(is) && was[reference] === is[reference];
