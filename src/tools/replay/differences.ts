import { isDeepStrictEqual } from "node:util";
import { REDACTED } from "../../audit/redact-walk.ts";
import { isObject } from "../../dialect/json/parse.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Resource } from "../../mapping/compile/resource.ts";
import type { Route } from "../../mapping/compile/route.ts";

/** One thing that is not as it was recorded. */
export interface ReplayDifference {
  /** `status`, `answer.vms[3].label`, `GET /path filter`. */
  readonly what: string;
  /** As JSON; undefined where there was, or is, nothing. */
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** Values that differ are shown up to here. */
const LONGEST = 200;

const shown = (value: unknown): string | undefined => {
  const text = JSON.stringify(value);
  return text === undefined || text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
};

export const hasDifference = (what: string, was: unknown, is: unknown): ReplayDifference => ({
  what,
  was: shown(was),
  is: shown(is),
});

/** Every value that differs between two bodies; `isEqual` may know better of some places. */
export function bodyDifferences(
  at: string,
  was: unknown,
  is: unknown,
  isEqual: (at: string, was: unknown, is: unknown) => boolean = () => false,
): ReplayDifference[] {
  if (was === REDACTED || isDeepStrictEqual(was, is) || isEqual(at, was, is)) return [];
  if (Array.isArray(was) && Array.isArray(is)) {
    const length = Math.max(was.length, is.length);
    return Array.from({ length }, (_, index) =>
      bodyDifferences(`${at}[${index}]`, was[index], is[index], isEqual),
    ).flat();
  }
  if (!isObject(was) || !isObject(is)) return [hasDifference(at, was, is)];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].flatMap((name) => bodyDifferences(`${at}.${name}`, was[name], is[name], isEqual));
}

/** Ids of catalogs may be sent in any case: the copies of catalogs, which knew v4's spelling, are not recorded. */
export function sameId({ resource, body }: Route): (at: string, was: unknown, is: unknown) => boolean {
  const rules = [...resource.members.values(), ...(body?.members ?? []).map(({ rule }) => rule)];
  const places = rules.flatMap(({ catalog, v4 }) => (catalog === undefined ? [] : (v4 ?? [])));
  return (at, was, is) =>
    typeof was === "string" &&
    typeof is === "string" &&
    was.toLowerCase() === is.toLowerCase() &&
    places.some((place) => at.replaceAll(/\[\d+\]/g, "").endsWith(`.${place}`));
}

/** Places of an object that show entries of catalogs, `label` as `.label`, without rows. */
function catalogPlaces({ fields }: Resource, pack: Pack, seen: ReadonlySet<string> = new Set()): string[] {
  return [...fields].flatMap(([name, { catalog, object = "" }]) => {
    if (catalog !== undefined) return [`.${name}`];
    const held = seen.has(object) ? undefined : pack.resources.get(object);
    if (!held) return [];
    return catalogPlaces(held, pack, new Set([...seen, object])).map((place) => `.${name}${place}`);
  });
}

/**
 * Entries of catalogs are the same when their ids are: the copies that the gateway had of catalogs are not
 * recorded, and a list of entries can't be told at all.
 */
export function sameEntry(route: Route, pack: Pack): (at: string, was: unknown, is: unknown) => boolean {
  const { reference } = pack.dialect.alpha;
  const names = [route.object, ...route.responseObjects];
  const places = new Set(
    names.flatMap((name) => {
      const resource = pack.resources.get(name);
      return resource ? catalogPlaces(resource, pack) : [];
    }),
  );
  const start = route.response === "list" ? `answer.${route.list}` : "answer";
  return (at, was, is) => {
    const place = at.replaceAll(/\[\d+\]/g, "");
    if (!places.has(place.slice(start.length))) return false;
    if (Array.isArray(was) && Array.isArray(is))
      return was.length !== 1 || is.length !== 1 || idsEqual(was[0], is[0], reference);
    return idsEqual(was, is, reference);
  };
}

const idsEqual = (was: unknown, is: unknown, reference: string): boolean =>
  isObject(was) && isObject(is) && was[reference] === is[reference];
