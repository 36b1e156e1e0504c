/** The entries of catalogs that a record may use, because records only contain ids. */
import type { AuditRecord } from "../../audit/index.ts";
import { type CatalogCopy, createCatalogEntry, type Pack } from "../../pack/index.ts";

/** The JSON of an entry, by its catalog and its id in the upstream. It is plain data, which can be sent to a thread. */
export type CatalogRow = readonly [catalog: string, v4Id: string, text: string];

/** Maximum number of texts of a record that are looked up, and of entries that are found. */
const MAX_TEXTS = 5_000;
const MAX_ROWS = 500;

/** Collects the texts in a value, up to the maximum number. */
function collectTexts(value: unknown, texts: Set<string>): void {
  if (texts.size >= MAX_TEXTS) return;
  if (typeof value === "string") texts.add(value);
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) collectTexts(part, texts);
}

/** Finds the entries with an id that occurs in the upstream's responses. */
export function findCatalogRows(
  { v4 }: AuditRecord,
  { resources }: Pack,
  copy: Pick<CatalogCopy, "find">,
): CatalogRow[] {
  const catalogs = [...resources.values()].flatMap(({ catalog }) => catalog?.name ?? []);
  const texts = new Set<string>();
  for (const { response } of v4) collectTexts(response, texts);
  const rows: CatalogRow[] = [];
  for (const text of texts)
    for (const catalog of catalogs) {
      const entry = copy.find(catalog, text);
      if (entry) rows.push([catalog, text, entry.text]);
      if (rows.length === MAX_ROWS) return rows;
    }
  return rows;
}

/** Creates catalogs that contain only these entries. */
export function catalogsOf(rows: readonly CatalogRow[]): Pick<CatalogCopy, "find" | "cachedText"> {
  const entries = new Map(
    rows.map(([catalog, v4Id, text]) => [`${catalog} ${v4Id}`, createCatalogEntry(text)]),
  );
  return { find: (catalog, v4Id) => entries.get(`${catalog} ${v4Id}`), cachedText: () => undefined };
}
