import { isDeepStrictEqual } from "node:util";
import { REDACTED } from "../../audit/secret-values.ts";
import { isObject } from "../../dialect/json/parse.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Resource } from "../../mapping/compile/resource.ts";
import type { Route } from "../../mapping/compile/route.ts";

/** A part of a request or response that is not as it was recorded. */
export interface ReplayDifference {
  /** `status`, `response.vms[3].label`, `filter of GET /path`. */
  readonly what: string;
  /** As JSON; undefined if the part is missing. */
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** Longer values are cut. In characters. */
const MAX_LENGTH = 200;

const format = (value: unknown): string | undefined => {
  const text = JSON.stringify(value);
  return text === undefined || text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
};

/** Creates a difference. */
export const createDifference = (what: string, was: unknown, is: unknown): ReplayDifference => ({
  what,
  was: format(was),
  is: format(is),
});

/** All differences of two bodies, except secrets and values that `isEqual` accepts. */
export function compareBodies(
  at: string,
  was: unknown,
  is: unknown,
  isEqual: (at: string, was: unknown, is: unknown) => boolean = () => false,
): ReplayDifference[] {
  if (was === REDACTED || isDeepStrictEqual(was, is) || isEqual(at, was, is)) return [];
  if (Array.isArray(was) && Array.isArray(is)) {
    const length = Math.max(was.length, is.length);
    return Array.from({ length }, (_, index) =>
      compareBodies(`${at}[${index}]`, was[index], is[index], isEqual),
    ).flat();
  }
  if (!isObject(was) || !isObject(is)) return [createDifference(at, was, is)];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].flatMap((name) => compareBodies(`${at}.${name}`, was[name], is[name], isEqual));
}

/** Accepts ids of catalogs in another case: the catalogs, which have v4's spelling, are not recorded. */
export function createIdComparison({
  resource,
  body,
}: Route): (at: string, was: unknown, is: unknown) => boolean {
  const rules = [...resource.members.values(), ...(body?.members ?? []).map(({ rule }) => rule)];
  const paths = rules.flatMap(({ catalog, upstream }) => (catalog === undefined ? [] : (upstream ?? [])));
  return (at, was, is) =>
    typeof was === "string" &&
    typeof is === "string" &&
    was.toLowerCase() === is.toLowerCase() &&
    paths.some((path) => at.replaceAll(/\[\d+\]/g, "").endsWith(`.${path}`));
}

/** The paths of the fields of an object that hold catalog entries, without indexes: `.label`. */
function catalogPaths({ fields }: Resource, pack: Pack, seen: ReadonlySet<string> = new Set()): string[] {
  return [...fields].flatMap(([name, { catalog, object = "" }]) => {
    if (catalog !== undefined) return [`.${name}`];
    const nested = seen.has(object) ? undefined : pack.resources.get(object);
    if (!nested) return [];
    return catalogPaths(nested, pack, new Set([...seen, object])).map((path) => `.${name}${path}`);
  });
}

/**
 * Accepts catalog entries with the same id, and all lists of entries: the catalogs of the gateway are not recorded.
 */
export function createEntryComparison(
  route: Route,
  pack: Pack,
): (at: string, was: unknown, is: unknown) => boolean {
  const { id: reference } = pack.dialect.client;
  const names = [route.object, ...route.responseObjects];
  const paths = new Set(
    names.flatMap((name) => {
      const resource = pack.resources.get(name);
      return resource ? catalogPaths(resource, pack) : [];
    }),
  );
  const start = route.response === "list" ? `response.${route.list}` : "response";
  return (at, was, is) => {
    const path = at.replaceAll(/\[\d+\]/g, "");
    if (!paths.has(path.slice(start.length))) return false;
    if (Array.isArray(was) && Array.isArray(is))
      return was.length !== 1 || is.length !== 1 || idsEqual(was[0], is[0], reference);
    return idsEqual(was, is, reference);
  };
}

const idsEqual = (was: unknown, is: unknown, reference: string): boolean =>
  isObject(was) && isObject(is) && was[reference] === is[reference];
