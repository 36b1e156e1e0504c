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
}

/** Prepares the translation of scopes. */
export function makeScopes(definition: ScopesDefinition): Scopes {
  const level = (name: string): number => definition.levels.indexOf(name);
  // "<resource>:*" is its highest level (document 2, Authentication).
  const highest = definition.levels.length - 1;
  const resourcesOf = Map.groupBy(Object.entries(definition.resources), ([, area]) => area);

  return {
    access(scope) {
      if (scope === "public" || scope === "token") return scope;
      const [resource = "", word = ""] = scope.split(":");
      return Object.hasOwn(definition.resources, resource) && level(word) >= 0
        ? { resource, level: level(word) }
        : undefined;
    },

    grants(v4Scopes) {
      const granted = new Map<string, number>();
      for (const scope of v4Scopes.split(/[\s,]+/).filter(Boolean)) {
        if (scope === definition.all) return "all";
        const [area = "", word = ""] = scope.split(":");
        const top = word === definition.all ? highest : level(definition.alpha_levels[word] ?? "");
        for (const [resource] of top < 0 ? [] : (resourcesOf.get(area) ?? [])) {
          granted.set(resource, Math.max(top, granted.get(resource) ?? -1));
        }
      }
      return granted;
    },

    permits(grants, access) {
      if (typeof access === "string" || grants === "all") return true;
      return (grants.get(access.resource) ?? -1) >= access.level;
    },
  };
}
