import { REDACTED } from "../../audit/index.ts";
import type { Route } from "../../pack/index.ts";
import { compare, type CompareRules } from "../answers/compare.ts";

/** A part of a request or response that differs from the record. */
export interface ReplayDifference {
  /** The name of the part: `status`, `response.vms[3].label`, `filter of GET /path`. */
  readonly what: string;
  /** The recorded value as JSON. Undefined if the part is missing. */
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** Maximum number of characters of a value. Longer values are cut. */
const MAX_LENGTH = 200;

const format = (value: unknown): string | undefined => {
  const text = JSON.stringify(value);
  return text === undefined || text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
};

/** Returns all differences of two bodies, except secrets and values that the rules accept. @param at the name of the bodies */
export const compareBodies = (
  at: string,
  was: unknown,
  is: unknown,
  { isAccepted = () => false, ...rules }: CompareRules = {},
): ReplayDifference[] =>
  compare(
    was,
    is,
    { ...rules, isAccepted: (field, old, other) => old === REDACTED || isAccepted(field, old, other) },
    at,
  ).map((found) => ({ what: found.field, was: format(found.old), is: format(found.new) }));

/** Accepts ids of catalogs in a different case: the catalogs, which contain v4's spelling, are not recorded. */
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
