/** The scopes of both dialects, and what they grant. */
import type { z } from "zod";
import type { scopes } from "./scopes-definition.ts";

type ScopesDefinition = z.infer<typeof scopes>;

/** The access rule of a route: public, any token, or a level of a resource. */
export type Access = "public" | "token" | { readonly resource: string; readonly level: number };

/** What the scopes of a token permit: everything, or a highest level for each alpha resource. */
export type Grants = "all" | ReadonlyMap<string, number>;

const splitScopes = (scopes: string): string[] => scopes.split(/[\s,;]+/).filter(Boolean);

/** The scopes of a pack without scopes: a route is public or needs a token, and tokens grant nothing. */
const NO_SCOPES: ScopesDefinition = {
  levels: ["all"],
  all: "*",
  resources: {},
  upstream_levels: {},
  client_levels: {},
};

/** Returns the lower level of two grants for each resource. */
function commonGrants(one: Grants, other: Grants): Grants {
  if (one === "all") return other;
  if (other === "all") return one;
  return new Map(
    [...one].flatMap(([resource, top]) => {
      const most = Math.min(top, other.get(resource) ?? -1);
      return most < 0 ? [] : [[resource, most] as const];
    }),
  );
}

const includesGrants = (wide: Grants, narrow: Grants): boolean =>
  wide === "all" || (narrow !== "all" && [...narrow].every(([name, top]) => (wide.get(name) ?? -1) >= top));

/** Raises the level of a resource to a higher level. */
function raiseLevel(levels: Map<string, number>, name: string, level: number): void {
  levels.set(name, Math.max(level, levels.get(name) ?? -1));
}

/**
 * Translates and compares the scopes of a pack. Alpha defines ascending levels for each resource, and v4 defines levels
 * for each area, which can include several resources.
 */
export class Scopes {
  readonly #definition: ScopesDefinition;
  /** "<resource>:*" is the highest level. */
  readonly #highest: number;
  readonly #resourcesOf: ReadonlyMap<string, readonly string[]>;
  /** For each level, the lowest level with the same v4 level. */
  readonly #lowestLevels: readonly number[];
  /** Returns what both grants include. */
  readonly common = commonGrants;
  /** Whether `wide` allows everything that `narrow` allows. */
  readonly includes = includesGrants;

  constructor(definition: ScopesDefinition = NO_SCOPES) {
    const { levels, resources } = definition;
    this.#definition = definition;
    this.#highest = levels.length - 1;
    const byArea = Map.groupBy(Object.entries(resources), ([, area]) => area);
    this.#resourcesOf = new Map([...byArea].map(([area, entries]) => [area, entries.map(([name]) => name)]));
    const v4Levels = levels.map((_name, top) => this.#v4Level(top));
    this.#lowestLevels = v4Levels.map((level) => v4Levels.indexOf(level));
  }

  /** Parses the scope of a route; undefined if its resource or level is unknown. */
  access(scope: string): Access | undefined {
    if (scope === "public" || scope === "token") return scope;
    const [resource = "", word = ""] = scope.split(":");
    const level = this.#definition.levels.indexOf(word);
    return this.#isResource(resource) && level >= 0 ? { resource, level } : undefined;
  }

  /** Whether grants satisfy an access rule. */
  permits(grants: Grants, access: Access): boolean {
    if (typeof access === "string" || grants === "all") return true;
    return (grants.get(access.resource) ?? -1) >= access.level;
  }

  /** Parses alpha scopes. Unknown resources and levels grant nothing. */
  read(alphaScopes: string): { readonly grants: Grants; readonly unknown: readonly string[] } {
    const wanted = new Map<string, number>();
    const unknown: string[] = [];
    const words = splitScopes(alphaScopes);
    for (const scope of words.filter((word) => word !== this.#definition.all)) {
      const found = this.#parse(scope);
      if (found) raiseLevel(wanted, found.resource, found.level);
      else unknown.push(scope);
    }
    return { grants: words.includes(this.#definition.all) ? "all" : wanted, unknown };
  }

  /** Formats grants as alpha scopes, separated by commas. Each resource occurs once. */
  write(grants: Grants): string {
    const { all, resources, levels } = this.#definition;
    if (grants === "all") return all;
    return Object.keys(resources)
      .filter((resource) => grants.has(resource))
      .map((resource) => `${resource}:${levels[grants.get(resource) ?? 0]}`)
      .join(",");
  }

  /** Returns what the scopes of a v4 token grant in alpha (T-5.3). Spaces or commas separate the scopes. */
  grants(v4Scopes: string): Grants {
    const { all, client_levels: clientLevels, levels: names } = this.#definition;
    const levels = new Map<string, number>();
    for (const scope of splitScopes(v4Scopes)) {
      if (scope === all) return "all";
      const [area = "", word = ""] = scope.split(":");
      const top = word === all ? this.#highest : names.indexOf(clientLevels[word] ?? "");
      for (const resource of top < 0 ? [] : (this.#resourcesOf.get(area) ?? []))
        raiseLevel(levels, resource, top);
    }
    return levels;
  }

  /**
   * Translates alpha scopes to v4: one scope for each area, with the highest requested level (T-5.2). Commas,
   * semicolons or spaces separate the input. Invalid scopes are ignored.
   */
  toV4(alphaScopes: string): string[] {
    return this.#writeV4(this.read(alphaScopes).grants);
  }

  /**
   * Translates v4 scopes to alpha, in the order of the pack's resources (T-5.3).
   *
   * @param requested Alpha scopes that the client requested. The result never grants more.
   */
  toAlpha(v4Scopes: string, requested = ""): string {
    const given = this.grants(v4Scopes);
    const isLimited = splitScopes(requested).length > 0;
    return this.write(isLimited ? commonGrants(this.read(requested).grants, given) : given);
  }

  /**
   * Returns the grants that remain after a translation to v4's scopes, which have fewer levels, and one area for
   * several resources.
   */
  throughV4(grants: Grants): Grants {
    return this.grants(this.#writeV4(grants).join(" "));
  }

  /**
   * Whether the v4 scopes of these grants allow no more than the grants do.
   *
   * @param reading Whether to compare only read access.
   */
  isExact(grants: Grants, reading: boolean): boolean {
    const levels =
      reading && grants !== "all" ? new Map([...grants.keys()].map((name) => [name, 0])) : grants;
    return includesGrants(levels, this.grants(this.#writeV4(levels, []).join(" ")));
  }

  /** Returns the lowest levels that have the same v4 scopes. */
  lowest(grants: Grants): Grants {
    const names = Object.keys(this.#definition.resources);
    const levels = grants === "all" ? names.map((name) => [name, this.#highest] as const) : [...grants];
    return new Map(levels.map(([name, top]) => [name, this.#lowestLevels[top] ?? top]));
  }

  #isResource(name: string): boolean {
    return Object.hasOwn(this.#definition.resources, name);
  }

  #v4Level(top: number): string | undefined {
    const { upstream_levels: upstreamLevels, levels } = this.#definition;
    return upstreamLevels[levels[top] ?? ""];
  }

  /** Parses one alpha scope. A resource without a level means its highest level. */
  #parse(scope: string): { readonly resource: string; readonly level: number } | undefined {
    const { all, aliases = {}, levels } = this.#definition;
    const [name = "", word = all, ...rest] = scope.split(":");
    const resource = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
    const level = word === all ? this.#highest : levels.indexOf(word);
    return rest.length === 0 && level >= 0 && this.#isResource(resource) ? { resource, level } : undefined;
  }

  /** Formats grants as v4 scopes. @param additional Scopes that are always requested as well. */
  #writeV4(wanted: Grants, additional: readonly string[] = this.#definition.additional ?? []): string[] {
    const { all, resources } = this.#definition;
    if (wanted === "all") return [all];
    const areas = new Map<string, number>();
    for (const [resource, top] of wanted) raiseLevel(areas, resources[resource] ?? resource, top);
    const scopes = [...areas].map(([area, top]) => `${area}:${this.#v4Level(top)}`);
    const missing = additional.filter((scope) => !areas.has(scope.split(":")[0] ?? ""));
    return scopes.length === 0 ? [] : [...scopes, ...missing];
  }
}
