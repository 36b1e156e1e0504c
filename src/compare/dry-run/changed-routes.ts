/** A pack for a dry run, with other routes. */
import type { Pack, Route } from "../../pack/index.ts";

/**
 * Returns the same pack with its routes changed, also those for tokens without scopes. It does not have the header that names
 * the upstream's request: only a request that was translated has an equivalent.
 */
export function withRoutes(pack: Pack, change: (route: Route) => Route): Pack {
  const changeAll = (route: Route): Route => ({
    ...change(route),
    withoutScopes: route.withoutScopes && changeAll(route.withoutScopes),
  });
  return {
    ...pack,
    dialect: { ...pack.dialect, client: { ...pack.dialect.client, upstream_header: undefined } },
    match(method, segments) {
      const found = pack.match(method, segments);
      return found && { ...found, routes: found.routes.map(changeAll) };
    },
  };
}
