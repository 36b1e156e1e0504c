/** A pack for a dry run with changed routes. */
import type { Pack, Route } from "../../pack/index.ts";

/**
 * Returns the same pack with its routes changed, including those for tokens without scopes. Its responses do not
 * contain the header with the upstream's request: only a translated request has an equivalent.
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
