import { type Catalog, type CatalogEntry, HttpError, type Route } from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../pipeline/authorized-request.ts";
import { InvalidUpstreamResponseError } from "../pipeline/calls/upstream-response.ts";
import { paginate } from "./paginate.ts";

function catalogOf({ name, source }: Route): Catalog {
  if (!("catalog" in source)) throw new Error(`${name} has no catalog`);
  return source.catalog;
}

/** @throws {HttpError} 404 for an unknown id */
function findEntry(
  catalog: Catalog,
  rows: readonly CatalogEntry[],
  { match, services, report }: AuthorizedRequest,
): string {
  const { catalogs } = services;
  const [requestedId = ""] = Object.values(match.parameters);
  const id = catalog.v4Id(requestedId, catalogs);
  // The order of a list that the pack fixes is that of its ids, also before v4 has given the catalog.
  const index = catalogs.list(catalog.name) ? -1 : (catalog.fixedIds?.indexOf(id ?? "") ?? -1);
  const entry = rows[index] ?? (id === undefined ? undefined : catalogs.find(catalog.name, id));
  // Other entries are cached only because something refers to them: alpha's list does not have them.
  if (!entry || !rows.includes(entry)) throw new HttpError(404, "Not found");
  for (const loss of entry.losses ?? []) report.losses.add(loss);
  return entry.text;
}

/**
 * A list or an object from the catalog cache: nothing is read from v4. A list that the pack fixes is served from the
 * pack until v4 has given the catalog (T-6.1).
 */
export const catalogKind: ResponseKind<readonly CatalogEntry[]> = {
  buildRequest({ match, services }) {
    const [first] = catalogOf(match.route).calls;
    const path = `${services.pack.dialect.upstream.base_path}${first?.path ?? ""}`;
    const { parameters: values } = match;
    return { method: "GET", path, values, gatewayFields: new Set<string>(), clientSent: () => false };
  },
  async callUpstream(_prepared, { match, services }) {
    const catalog = catalogOf(match.route);
    const rows = services.catalogs.list(catalog.name) ?? (await catalog.fixedList());
    if (!rows) throw new InvalidUpstreamResponseError(`the catalog ${catalog.name} has not been read yet`);
    return rows;
  },
  buildResponse(rows, _prepared, authorized) {
    const { route } = authorized.match;
    return route.response === "list"
      ? paginate(rows, authorized)
      : findEntry(catalogOf(route), rows, authorized);
  },
};
