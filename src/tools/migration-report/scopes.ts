import type { Access } from "../../dialect/scopes.ts";
import type { DialectDefinition } from "../../mapping/schema/definition.ts";

type Level = Exclude<Access, string>;

/** A scope in alpha's words, and the v4 scope that permits the same. */
export function scopePair(
  { resource, level }: Level,
  { scopes }: DialectDefinition,
): { alpha: string; v4: string } {
  const word = scopes.levels[level] ?? "";
  return {
    alpha: `${resource}:${word}`,
    v4: `${scopes.resources[resource] ?? resource}:${scopes.v4_levels[word] ?? word}`,
  };
}

/** The highest level asked for of each thing, by the name that `nameOf` gives it. */
function highest(levels: readonly Level[], nameOf: (level: Level) => string): Level[] {
  return [...Map.groupBy(levels, nameOf).values()].flatMap((group) => {
    const [top] = group.toSorted((one, other) => other.level - one.level);
    return top ? [top] : [];
  });
}

/** The least scopes that permit all of it, on both sides, in the order of the alphabet. */
export function leastScopes(
  accesses: readonly Access[],
  dialect: DialectDefinition,
): { alpha: string[]; v4: string[] } {
  const levels = accesses.filter((access) => typeof access !== "string");
  const areaOf = ({ resource }: Level): string => dialect.scopes.resources[resource] ?? resource;
  return {
    alpha: highest(levels, ({ resource }) => resource)
      .map((level) => scopePair(level, dialect).alpha)
      .sort(),
    v4: highest(levels, areaOf)
      .map((level) => scopePair(level, dialect).v4)
      .sort(),
  };
}
