import { isDeepStrictEqual } from "node:util";
import { REDACTED } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import type { Route } from "../../pack/index.ts";

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
