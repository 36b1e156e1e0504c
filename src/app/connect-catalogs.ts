import { createListParser } from "../dialect/envelope.ts";
import type { Pack } from "../mapping/pack.ts";
import { createCatalogCache, type CatalogCache } from "../upstream/catalog-cache.ts";
import type { Upstream } from "../upstream/client.ts";

/** Creates the cache of v4's catalogs, as the pack describes them, empty. `stop` aborts a request in progress. */
export function connectCatalogs(
  pack: Pack,
  upstream: Upstream,
  ttlSeconds: number,
  onFault: (catalog: string, message: string) => void,
): CatalogCache {
  const { base_path: prefix, filters, id } = pack.dialect.upstream;
  const sources = [...pack.resources.values()].flatMap(({ catalog, read }) =>
    catalog ? [{ catalog, read }] : [],
  );
  const end = new AbortController();
  const catalogs = createCatalogCache({
    // A v4 that never responds would delay the exit of the process until the call times out.
    upstream: { call: (call) => upstream.call(call, end.signal), close: upstream.close },
    sources,
    ttlMs: ttlSeconds * 1000,
    prefix,
    paging: pack.paging,
    // The reader has bounds of its own.
    parseList: createListParser(pack.lists.upstream),
    filterHeader: filters?.header,
    id,
    onError(catalog, message) {
      if (!end.signal.aborted) onFault(catalog, message);
    },
  });
  return {
    ...catalogs,
    stop() {
      catalogs.stop();
      end.abort();
    },
  };
}
