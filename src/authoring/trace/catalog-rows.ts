/** The entries of catalogs that a record may use: records have the ids alone. */
import type { AuditRecord } from "../../audit/index.ts";
import { type CatalogCopy, createCatalogEntry, type Pack } from "../../pack/index.ts";

/** The JSON of an entry, by its catalog and its id in the upstream. Plain data, which can be sent to a thread. */
export type CatalogRow = readonly [catalog: string, v4Id: string, text: string];

/** Entries that are found. */
const MAX_ROWS = 500;

/** All texts in a value. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const part of Object.values(value)) yield* textsIn(part);
}

/** Finds the entries with an id that occurs in the upstream's responses. */
export function findCatalogRows(
  { v4 }: AuditRecord,
  { resources }: Pack,
  copy: Pick<CatalogCopy, "find">,
): CatalogRow[] {
  const catalogs = [...resources.values()].flatMap(({ catalog }) => catalog?.name ?? []);
  const texts = new Set(v4.flatMap(({ response }) => [...textsIn(response)]));
  const rows = [...texts].flatMap((text) =>
    catalogs.flatMap((catalog): CatalogRow[] => {
      const entry = copy.find(catalog, text);
      return entry ? [[catalog, text, entry.text]] : [];
    }),
  );
  return rows.slice(0, MAX_ROWS);
}

/** Catalogs that have these entries, and no others. */
export function catalogsOf(rows: readonly CatalogRow[]): Pick<CatalogCopy, "find" | "cachedText"> {
  const entries = new Map(
    rows.map(([catalog, v4Id, text]) => [`${catalog} ${v4Id}`, createCatalogEntry(text)]),
  );
  return { find: (catalog, v4Id) => entries.get(`${catalog} ${v4Id}`), cachedText: () => undefined };
}
