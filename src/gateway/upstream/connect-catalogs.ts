import {
  createListParser,
  createObjectReader,
  describeListFault,
  objectPath,
  type Pack,
  upstreamEnvelopeOf,
} from "../../pack/index.ts";

import { createCatalogCache, type CatalogCache, type CatalogCacheOptions } from "./catalog-cache.ts";
import type { Upstream } from "./client.ts";

/** Creates the cache of v4's catalogs, as the pack describes them, empty. `stop` aborts a request in progress. */
export function connectCatalogs(
  pack: Pack,
  upstream: Upstream,
  ttlSeconds: number,
  onFault: (catalog: string, message: string) => void,
  upstreamTokens?: { readonly gatewayToken: string | undefined },
  onRowsLeftOut?: CatalogCacheOptions["onRowsLeftOut"],
): CatalogCache {
  const { name, base_path: prefix, filters } = pack.dialect.upstream;
  const { gatewayToken } = upstreamTokens ?? {};
  const sources = [...pack.resources.values()].flatMap((resource) => {
    const { catalog, read, upstreamName } = resource;
    if (!catalog) return [];
    const { list, item, mayBeOmitted } = upstreamEnvelopeOf(resource, pack.dialect);
    const readWrapped = createObjectReader(objectPath(item, upstreamName));
    // The reader has bounds of its own.
    const parseList = createListParser(list, { mayBeOmitted });
    const describeFault = (body: unknown): string => describeListFault(list, body, mayBeOmitted);
    return [{ catalog, read, readWrapped, parseList, describeFault }];
  });
  const end = new AbortController();
  const catalogs = createCatalogCache({
    // A v4 that never responds would delay the exit of the process until the call times out.
    upstream: { call: (call) => upstream.call(call, end.signal), close: upstream.close },
    name,
    sources,
    ttlMs: ttlSeconds * 1000,
    prefix,
    paging: pack.paging,
    filterHeader: filters?.header,
    filterWriter: pack.filterWriter,
    headers: pack.upstreamHeaders,
    gatewayToken: gatewayToken === undefined ? undefined : pack.credentials.upstream?.write(gatewayToken),
    onRowsLeftOut,
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
