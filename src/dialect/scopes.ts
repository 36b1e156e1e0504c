/**
 * The scopes of a pack. Alpha has ascending levels for each resource, v4 has levels for each area, which can cover several
 * resources.
 */
export interface ScopesDefinition {
  /** Alpha's levels, ascending. Each includes the ones before it. */
  readonly levels: readonly string[];
  /** The scope for everything, in alpha and v4. It is also the name of the highest level. */
  readonly all: string;
  /** alpha resource → v4 area */
  readonly resources: Readonly<Record<string, string>>;
  /** Other names of alpha resources. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  readonly upstream_levels: Readonly<Record<string, string>>;
  readonly client_levels: Readonly<Record<string, string>>;
  /** Additional v4 scopes that are requested with any other scope, because alpha has no scope for what they allow. */
  readonly additional?: readonly string[] | undefined;
}

/** The access rule of a route: none, any token, or a level of a resource. */
export type Access = "public" | "token" | { readonly resource: string; readonly level: number };

/** What a token may do: everything, or a highest level for each alpha resource. */
export type Grants = "all" | ReadonlyMap<string, number>;

/** Translates and compares scopes. */
export interface Scopes {
  /** Parses the scope of a route; undefined if its resource or level is unknown. */
  access(scope: string): Access | undefined;
  /** Returns what the scopes of a v4 token allow in alpha (T-5.3). They are separated by spaces or commas. */
  grants(v4Scopes: string): Grants;
  /** Whether grants satisfy an access rule. */
  permits(grants: Grants, access: Access): boolean;
  /**
   * Translates alpha scopes to v4: one scope for each area, with the highest requested level (T-5.2). They are
   * separated by commas, semicolons or spaces. Invalid ones are ignored.
   */
  toV4(alphaScopes: string): string[];
  /**
   * Translates v4 scopes to alpha, in the order of the pack's resources (T-5.3).
   *
   * @param requested Alpha scopes that the client requested. The result never has more than these.
   */
  toAlpha(v4Scopes: string, requested?: string): string;
  /** Parses alpha scopes. Unknown resources and levels grant nothing. */
  read(alphaScopes: string): { readonly grants: Grants; readonly unknown: readonly string[] };
  /** Formats grants as alpha scopes, separated by commas, each resource once. */
  write(grants: Grants): string;
  /** Returns what both grants allow. */
  common(one: Grants, other: Grants): Grants;
  /** Whether `wide` allows everything that `narrow` allows. */
  includes(wide: Grants, narrow: Grants): boolean;
  /** Returns what remains of grants in v4's scopes: these have fewer levels, and one area for several resources. */
  throughV4(grants: Grants): Grants;
  /**
   * Whether the v4 scopes of these grants allow no more than the grants do.
   *
   * @param reading Compares only read access.
   */
  isExact(grants: Grants, reading: boolean): boolean;
  /** Returns the lowest levels that have the same v4 scopes. */
  lowest(grants: Grants): Grants;
}

const wordsOf = (scopes: string): string[] => scopes.split(/[\s,;]+/).filter(Boolean);

/** A pack without scopes: routes need a token or none, and tokens grant nothing. */
const NO_SCOPES: ScopesDefinition = {
  levels: ["all"],
  all: "*",
  resources: {},
  upstream_levels: {},
  client_levels: {},
};

/** Compiles the scopes of a pack. */
export function createScopes(definition: ScopesDefinition = NO_SCOPES): Scopes {
  const { aliases = {} } = definition;
  const level = (name: string): number => definition.levels.indexOf(name);
  // "<resource>:*" is the highest level.
  const highest = definition.levels.length - 1;
  const resourcesOf = Map.groupBy(Object.entries(definition.resources), ([, area]) => area);

  /** Parses one alpha scope. A resource without a level means its highest level. */
  function parse(scope: string): { readonly resource: string; readonly level: number } | undefined {
    const [name = "", word = definition.all, ...rest] = scope.split(":");
    const resource = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
    const top = word === definition.all ? highest : level(word);
    return rest.length === 0 && top >= 0 && Object.hasOwn(definition.resources, resource)
      ? { resource, level: top }
      : undefined;
  }

  /** Parses alpha scopes, and returns the invalid ones separately. */
  function read(alphaScopes: string): ReturnType<Scopes["read"]> {
    const wanted = new Map<string, number>();
    const unknown: string[] = [];
    let everything = false;
    for (const scope of wordsOf(alphaScopes)) {
      const found = parse(scope);
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
      const top = word === definition.all ? highest : level(definition.client_levels[word] ?? "");
      for (const [resource] of top < 0 ? [] : (resourcesOf.get(area) ?? [])) {
        levels.set(resource, Math.max(top, levels.get(resource) ?? -1));
      }
    }
    return levels;
  }

  /** Returns the lower level of two grants for each resource. */
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
    const resources = Object.keys(definition.resources).filter((resource) => grants.has(resource));
    return resources
      .map((resource) => `${resource}:${definition.levels[grants.get(resource) ?? 0]}`)
      .join(",");
  }

  function toV4(wanted: Grants, added: readonly string[] = definition.additional ?? []): string[] {
    if (wanted === "all") return [definition.all];
    const areas = new Map<string, number>();
    for (const [resource, top] of wanted) {
      const area = definition.resources[resource] ?? resource;
      areas.set(area, Math.max(top, areas.get(area) ?? -1));
    }
    const scopes = [...areas].map(
      ([area, top]) => `${area}:${definition.upstream_levels[definition.levels[top] ?? ""]}`,
    );
    const additional = scopes.length === 0 ? [] : added;
    const missing = additional.filter((scope) => !areas.has(scope.split(":")[0] ?? ""));
    return [...scopes, ...missing];
  }

  const v4Level = (top: number): string | undefined =>
    definition.upstream_levels[definition.levels[top] ?? ""];

  /** For each level, the lowest one with the same v4 level. */
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
