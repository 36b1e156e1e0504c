/**
 * Scopes in both dialects. Alpha has four ascending levels per resource, v4 two per area; the names of
 * all of them are the pack's.
 */

export interface ScopesDefinition {
  /** Alpha's levels, ascending; each grants the ones before it (document 2, Authentication). */
  readonly levels: readonly string[];
  /** The word for everything, on both sides and as a level. */
  readonly all: string;
  /** alpha resource → v4 area */
  readonly resources: Readonly<Record<string, string>>;
  /** Other names of alpha resources. */
  readonly also: Readonly<Record<string, string>>;
  readonly v4_levels: Readonly<Record<string, string>>;
  readonly alpha_levels: Readonly<Record<string, string>>;
  /** v4 scopes that are asked for besides, wherever any is: alpha lists none for what they give. */
  readonly besides?: readonly string[] | undefined;
}

/** What a route asks for: nothing, any token, or a level of a resource. */
export type Access = "public" | "token" | { readonly resource: string; readonly level: number };

/** What a token may do: everything, or up to a level per alpha resource. */
export type Grants = "all" | ReadonlyMap<string, number>;

export interface Scopes {
  /** Reads a route's scope; undefined where it names no known resource or level. */
  access(scope: string): Access | undefined;
  /** What the scopes of a v4 token mean in alpha (translation 5.3). Separated by spaces or commas. */
  grants(v4Scopes: string): Grants;
  permits(grants: Grants, access: Access): boolean;
  /**
   * Alpha's scopes in v4's words, one for each area, the highest that is asked (translation 5.2). Separated by
   * commas, semicolons or spaces; what is no scope is left out. Empty where none is.
   */
  toV4(alphaScopes: string): string[];
  /**
   * v4's scopes in alpha's words, in the order of the pack's resources (translation 5.3); of what was asked for
   * where that is given, so much as v4 grants, and never more.
   */
  toAlpha(v4Scopes: string, asked?: string): string;
  /** Reads alpha's scopes. What names no known resource or level gives nothing. */
  read(alphaScopes: string): { readonly grants: Grants; readonly unknown: readonly string[] };
  /** Alpha's scopes for it, separated by commas, each resource once. */
  write(grants: Grants): string;
  /** What both let do. */
  common(one: Grants, other: Grants): Grants;
  /** Whether `wide` lets do all that `narrow` does. */
  includes(wide: Grants, narrow: Grants): boolean;
  /** What a token may do that was asked for in v4's words: v4 has fewer levels, and one area for several resources. */
  throughV4(grants: Grants): Grants;
  /**
   * Whether v4's scopes for it say no more than it does itself; with `reading`, whether v4's scopes for reading say
   * no more than that all of it may be read.
   */
  isExact(grants: Grants, reading: boolean): boolean;
  /** The lowest levels that become the same in v4's words. */
  lowest(grants: Grants): Grants;
}

const wordsOf = (scopes: string): string[] => scopes.split(/[\s,;]+/).filter(Boolean);

/** Prepares the translation of scopes. */
export function createScopes(definition: ScopesDefinition): Scopes {
  const level = (name: string): number => definition.levels.indexOf(name);
  // "<resource>:*" is its highest level (document 2, Authentication).
  const highest = definition.levels.length - 1;
  const resourcesOf = Map.groupBy(Object.entries(definition.resources), ([, area]) => area);

  /** A resource and its level; a resource without one means all of it. */
  function known(scope: string): { readonly resource: string; readonly level: number } | undefined {
    const [name = "", word = definition.all, ...rest] = scope.split(":");
    const resource = Object.hasOwn(definition.also, name) ? (definition.also[name] ?? name) : name;
    const top = word === definition.all ? highest : level(word);
    return rest.length === 0 && top >= 0 && Object.hasOwn(definition.resources, resource)
      ? { resource, level: top }
      : undefined;
  }

  /** What alpha's scopes ask for, and which of them are none. */
  function read(alphaScopes: string): ReturnType<Scopes["read"]> {
    const wanted = new Map<string, number>();
    const unknown: string[] = [];
    let everything = false;
    for (const scope of wordsOf(alphaScopes)) {
      const found = known(scope);
      if (scope === definition.all) everything = true;
      else if (!found) unknown.push(scope);
      else wanted.set(found.resource, Math.max(found.level, wanted.get(found.resource) ?? -1));
    }
    return { grants: everything ? "all" : wanted, unknown };
  }

  const asked = (alphaScopes: string): Grants => read(alphaScopes).grants;

  function granted(v4Scopes: string): Grants {
    const levels = new Map<string, number>();
    for (const scope of wordsOf(v4Scopes)) {
      if (scope === definition.all) return "all";
      const [area = "", word = ""] = scope.split(":");
      const top = word === definition.all ? highest : level(definition.alpha_levels[word] ?? "");
      for (const [resource] of top < 0 ? [] : (resourcesOf.get(area) ?? [])) {
        levels.set(resource, Math.max(top, levels.get(resource) ?? -1));
      }
    }
    return levels;
  }

  /** The lower of two grants. */
  function both(one: Grants, other: Grants): Grants {
    if (one === "all") return other;
    if (other === "all") return one;
    return new Map(
      [...one].flatMap(([resource, top]) => {
        const most = Math.min(top, other.get(resource) ?? -1);
        return most < 0 ? [] : [[resource, most] as const];
      }),
    );
  }

  function print(grants: Grants): string {
    if (grants === "all") return definition.all;
    const known = Object.keys(definition.resources).filter((resource) => grants.has(resource));
    return known.map((resource) => `${resource}:${definition.levels[grants.get(resource) ?? 0]}`).join(",");
  }

  function toV4(wanted: Grants, added: readonly string[] = definition.besides ?? []): string[] {
    if (wanted === "all") return [definition.all];
    const areas = new Map<string, number>();
    for (const [resource, top] of wanted) {
      const area = definition.resources[resource] ?? resource;
      areas.set(area, Math.max(top, areas.get(area) ?? -1));
    }
    const scopes = [...areas].map(
      ([area, top]) => `${area}:${definition.v4_levels[definition.levels[top] ?? ""]}`,
    );
    const besides = scopes.length === 0 ? [] : added;
    const missing = besides.filter((scope) => !areas.has(scope.split(":")[0] ?? ""));
    return [...scopes, ...missing];
  }

  const v4Level = (top: number): string | undefined => definition.v4_levels[definition.levels[top] ?? ""];

  /** Of each level the lowest that v4 has the same word for. */
  const lowestLevels = definition.levels.map((_, top) =>
    definition.levels.findIndex((_name, each) => v4Level(each) === v4Level(top)),
  );

  const highestOfAll = new Map(Object.keys(definition.resources).map((resource) => [resource, highest]));

  const includes = (wide: Grants, narrow: Grants): boolean =>
    wide === "all" || (narrow !== "all" && [...narrow].every(([name, top]) => (wide.get(name) ?? -1) >= top));

  return {
    access(scope) {
      if (scope === "public" || scope === "token") return scope;
      const [resource = "", word = ""] = scope.split(":");
      return Object.hasOwn(definition.resources, resource) && level(word) >= 0
        ? { resource, level: level(word) }
        : undefined;
    },

    grants: granted,

    permits(grants, access) {
      if (typeof access === "string" || grants === "all") return true;
      return (grants.get(access.resource) ?? -1) >= access.level;
    },

    toV4: (alphaScopes) => toV4(asked(alphaScopes)),
    read,
    write: print,
    common: both,
    includes,
    throughV4: (grants) => granted(toV4(grants).join(" ")),
    isExact(grants, reading) {
      const levels =
        reading && grants !== "all" ? new Map([...grants.keys()].map((name) => [name, 0])) : grants;
      return includes(levels, granted(toV4(levels, []).join(" ")));
    },
    lowest: (grants) =>
      new Map(
        [...(grants === "all" ? highestOfAll : grants)].map(([name, top]) => [
          name,
          lowestLevels[top] ?? top,
        ]),
      ),

    toAlpha(v4Scopes, askedFor) {
      const given = granted(v4Scopes);
      return print(
        askedFor === undefined || wordsOf(askedFor).length === 0 ? given : both(asked(askedFor), given),
      );
    },
  };
}
