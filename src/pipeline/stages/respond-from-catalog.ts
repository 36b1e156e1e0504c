import { HttpError } from "../../dialect/http-error.ts";
import type { Catalog } from "../../mapping/compile/catalog.ts";
import type { CatalogEntry } from "../../mapping/translation-context.ts";
import { InvalidUpstreamResponseError } from "./build-response.ts";
import { paginate } from "../paginate.ts";
import type { RouteExecution } from "../route-context.ts";

function oneOf(
  catalog: Catalog,
  rows: readonly CatalogEntry[],
  { match: target, catalogs }: RouteExecution,
): string {
  const [asked = ""] = Object.values(target.parameters);
  const id = catalog.v4Id(asked, catalogs);
  // Of a list that the pack fixes the places are those of its ids, before v4 has given it too.
  const fixed = catalogs.isLoaded(catalog.name) ? -1 : (catalog.fixedIds?.indexOf(id ?? "") ?? -1);
  const found = rows[fixed] ?? (id === undefined ? undefined : catalogs.find(catalog.name, id));
  // Known only because something refers to it: not in alpha's list.
  if (!found || !rows.includes(found)) throw new HttpError(404, "Not found");
  return found.text;
}

/**
 * Answers from the gateway's own copy of a catalog: filtered, ordered and paged here. A list that the pack fixes is
 * its own until v4 has given it (translation 6.1).
 *
 * @throws {HttpError} 404 for an unknown id. @throws {InvalidUpstreamResponseError} while v4 has never given the catalog.
 */
export async function respondFromCatalog(catalog: Catalog, work: RouteExecution): Promise<string> {
  const [first] = catalog.calls;
  work.context.upstreamEquivalent = `GET ${work.pack.dialect.v4.prefix}${first?.path ?? ""}`;
  const rows = work.catalogs.list(catalog.name) ?? (await catalog.fixedList());
  if (!rows) throw new InvalidUpstreamResponseError(`the catalog ${catalog.name} has not been read yet`);
  return work.match.route.response === "list" ? paginate(rows, work) : oneOf(catalog, rows, work);
}
