import { readExamples } from "../../../src/authoring/examples/example.ts";
import { createCatalogUpstream } from "../../../src/compare/dry-run/catalog-upstream.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { connectCatalogs, type CatalogCache } from "../../../src/gateway/upstream/catalog-cache.ts";

/** The catalogs that the pack's examples have, read as the gateway reads v4's, and the v4 ids that clients see in them. */
export async function exampleCatalogs(
  pack: Pack,
): Promise<{ catalogs: CatalogCache; v4Ids: (catalog: string) => string[] }> {
  const lists = readExamples("mappings", []).catalogs;
  const catalogs = connectCatalogs(pack, createCatalogUpstream(pack, lists), 3600, () => undefined);
  await catalogs.refresh();
  catalogs.stop();
  return {
    catalogs,
    v4Ids: (name) =>
      (pack.resources.get(name)?.catalog?.calls ?? [])
        .filter(({ listed }) => listed)
        .flatMap(({ path }) => lists[`GET ${path}`] ?? [])
        .map((item) => String((item as Record<string, unknown>)[pack.dialect.upstream.id])),
  };
}
