import { Refusal } from "../dialect/refusal.ts";
import type { Catalog } from "../mapping/catalog.ts";
import type { CatalogEntry } from "../mapping/reading.ts";
import { UnreadableAnswer } from "./answer-back.ts";
import { pageOfRows } from "./page-of-rows.ts";
import type { Work } from "./work.ts";

function oneOf(catalog: Catalog, rows: readonly CatalogEntry[], { target, catalogs }: Work): string {
  const [asked = ""] = Object.values(target.parameters);
  const id = catalog.v4Id(asked, catalogs);
  const found = id === undefined ? undefined : catalogs.find(catalog.name, id);
  // Known only because something refers to it: not in alpha's list.
  if (!found || !rows.includes(found)) throw new Refusal(404, "Not found");
  return found.text;
}

/**
 * Answers from the gateway's own copy of a catalog: filtered, ordered and paged here.
 *
 * @throws {Refusal} 404 for an unknown id. @throws {UnreadableAnswer} while v4 has never given the catalog.
 */
export function answerFromCatalog(catalog: Catalog, work: Work): string {
  const [first] = catalog.calls;
  work.notes.equivalent = `GET ${work.pack.dialect.v4.prefix}${first?.path ?? ""}`;
  const rows = work.catalogs.list(catalog.name);
  if (!rows) throw new UnreadableAnswer(`the catalog ${catalog.name} has not been read yet`);
  return work.target.route.gives === "list" ? pageOfRows(rows, work) : oneOf(catalog, rows, work);
}
