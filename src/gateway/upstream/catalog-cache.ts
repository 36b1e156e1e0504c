import { LRUCache } from "lru-cache";
import {
  type CatalogCopy,
  type CatalogEntry,
  createListParser,
  createObjectReader,
  objectPath,
  type Pack,
  type SentToken,
  upstreamEnvelopeOf,
} from "../../pack/index.ts";
import {
  CatalogNotShownError,
  readCatalog,
  type CachedCatalog,
  type CatalogReaderOptions,
  type CatalogSource,
  type LeftOutRows,
} from "./catalog-reader.ts";
import type { Upstream } from "./http-call.ts";

export type CatalogCache = ReturnType<typeof connectCatalogs>;

/** Maximum number of tokens that are stored because they could not read a catalog. */
const MAX_FAILED_TOKENS = 1000;

/** Pause after a failed read. Shorter than any usual TTL, so that the gateway becomes ready soon. */
const RETRY_MS = 2000;

/** How catalogs are read and cached, and the callbacks for faults. */
interface CatalogOptions extends CatalogReaderOptions {
  readonly ttlMs: number;
  readonly onFault: (catalog: string, message: string) => void;
  /** Called after each read of a catalog that omits rows. */
  readonly onRowsLeftOut: ((catalog: string, rows: LeftOutRows) => void) | undefined;
  /** Aborts the reads. */
  readonly end: AbortSignal;
}

/** One catalog, and its copy. */
class CachedList {
  readonly name: string;
  copy: CachedCatalog | undefined;
  /** The reason why the last read failed. */
  error: string | undefined;
  /** Whether v4 does not return the catalog without a token, and it may be read with a client's token. */
  needsToken = false;
  readonly #source: CatalogSource;
  readonly #options: CatalogOptions;
  readonly #failedTokens = new LRUCache<string, true>({ max: MAX_FAILED_TOKENS });
  #readAt = -Infinity;
  #readInFlight: Promise<void> | undefined;

  constructor(source: CatalogSource, options: CatalogOptions) {
    this.name = source.catalog.name;
    this.#source = source;
    this.#options = options;
  }

  /** Reads the catalog. If the read fails, the copy stays. @returns the error, if the catalog could not be read */
  async read(token?: SentToken): Promise<Error | undefined> {
    const { onFault, onRowsLeftOut, end } = this.#options;
    try {
      this.copy = await readCatalog(this.#source, token, this.#options);
      if (this.copy.leftOut) onRowsLeftOut?.(this.name, this.copy.leftOut);
      this.#readAt = performance.now();
      this.error = undefined;
      if (token === undefined) this.needsToken = false;
      return undefined;
    } catch (error) {
      const mayHaveToken =
        error instanceof CatalogNotShownError && this.#source.catalog.keepsItem !== undefined;
      if (mayHaveToken && token === undefined) this.needsToken = true;
      this.error = (error as Error).message + (mayHaveToken ? ": it is read with a client's token" : "");
      // A client's token without the right to read the catalog is not a problem to report.
      if ((!mayHaveToken || token === undefined) && !end.aborted) onFault(this.name, this.error);
      return error as Error;
    }
  }

  /** Whether the catalog should be read with a token. */
  isDue(): boolean {
    return this.needsToken && performance.now() - this.#readAt > this.#options.ttlMs;
  }

  /** Reads the catalog with a token. If a read with a different token is in flight and fails, this read tries once. */
  async readWith(hash: string, token: SentToken): Promise<void> {
    // If no read is in flight, this one starts immediately: requests of the same turn wait for it.
    if (this.#readInFlight) await this.#readInFlight;
    if (!this.isDue() || this.#readInFlight || this.#failedTokens.has(hash)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#readInFlight = promise;
    const error = await this.read(token);
    const pause = error instanceof CatalogNotShownError ? this.#options.ttlMs : RETRY_MS;
    if (error) this.#failedTokens.set(hash, true, { ttl: pause });
    this.#readInFlight = undefined;
    resolve();
  }
}

/**
 * Creates the function that reads all catalogs, and then repeats this in the background. Concurrent calls share one
 * read. It returns whether all catalogs could be read.
 */
function createRefresh(
  lists: readonly CachedList[],
  ttlMs: number,
  end: AbortSignal,
): () => Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let inFlight: Promise<boolean> | undefined;
  end.addEventListener("abort", () => clearTimeout(timer));

  async function refreshAll(): Promise<boolean> {
    await Promise.all(lists.map((list) => list.read()));
    inFlight = undefined;
    const hasFailed = lists.some(({ error, needsToken }) => error !== undefined && !needsToken);
    if (end.aborted) return !hasFailed;
    timer = setTimeout(() => void refresh(), hasFailed ? Math.min(RETRY_MS, ttlMs) : ttlMs).unref();
    return !hasFailed;
  }
  function refresh(): Promise<boolean> {
    clearTimeout(timer);
    return (inFlight ??= refreshAll());
  }
  return refresh;
}

/** The catalogs of a pack, and how their lists are read. */
function sourcesOf({ resources, dialect }: Pack): readonly CatalogSource[] {
  return [...resources.values()].flatMap((resource) => {
    const { catalog, read, upstreamName } = resource;
    if (!catalog) return [];
    const { list, item, mayBeOmitted } = upstreamEnvelopeOf(resource, dialect);
    const readWrapped = createObjectReader(objectPath(item, upstreamName));
    // The reader has its own limits.
    const parseList = createListParser(list, { mayBeOmitted });
    return [{ catalog, read, readWrapped, parseList }];
  });
}

/**
 * Creates the cache of v4's catalogs, as the pack describes them, empty. It is refreshed in the background; a stale copy is
 * served if a refresh fails.
 */
export function connectCatalogs(
  pack: Pack,
  upstream: Upstream,
  ttlSeconds: number,
  onFault: CatalogOptions["onFault"],
  upstreamTokens?: { readonly gatewayToken: string | undefined },
  onRowsLeftOut?: CatalogOptions["onRowsLeftOut"],
) {
  const { gatewayToken } = upstreamTokens ?? {};
  // Otherwise, a v4 that never responds would delay the exit of the process until the call times out.
  const end = new AbortController();
  const call: Upstream["call"] = (request) => upstream.call(request, end.signal);
  const options: CatalogOptions = {
    pack,
    upstream: { call, close: upstream.close },
    ttlMs: ttlSeconds * 1000,
    gatewayToken: gatewayToken === undefined ? undefined : pack.credentials.upstream?.write(gatewayToken),
    onRowsLeftOut,
    onFault,
    end: end.signal,
  };
  const lists = sourcesOf(pack).map((source) => new CachedList(source, options));
  const byName = new Map(lists.map((list) => [list.name, list]));
  const copyOf = (catalog: string): CachedCatalog | undefined => byName.get(catalog)?.copy;
  const copies: CatalogCopy = {
    isLoaded: (catalog) => copyOf(catalog) !== undefined,
    find: (catalog, id) => copyOf(catalog)?.entries.get(id),
    cachedText: (catalog, bytes, from, to) => copyOf(catalog)?.texts.find(bytes, from, to),
    canonicalSpelling: (catalog, anyCase) => copyOf(catalog)?.spellings.get(anyCase.toLowerCase()),
  };
  return {
    ...copies,
    /** The translated items of a catalog's list, in order; undefined until the catalog was read. */
    list: (catalog: string): readonly CatalogEntry[] | undefined => copyOf(catalog)?.list,
    /**
     * Reads all catalogs. A catalog that can't be read keeps its previous copy.
     *
     * @returns whether all could be read, apart from those that need a token, once all reads have ended
     */
    refresh: createRefresh(lists, options.ttlMs, end.signal),
    /**
     * Reads the catalogs that v4 does not return without a token, with the token of a client, if the pack allows it.
     * Without such catalogs, it does nothing. After a failure, the same token is not used again for some time.
     *
     * @param hash Hash of the token, which v4 must have accepted.
     */
    refreshWith(hash: string, token: SentToken | undefined): Promise<unknown> | undefined {
      if (token === undefined || !lists.some((list) => list.isDue())) return undefined;
      return Promise.all(lists.map((list) => list.readWith(hash, token)));
    },
    /** Whether a catalog was never read, because v4 does not return it without a token, and may be read with a client's token. */
    awaitsToken: (catalog: string): boolean =>
      byName.get(catalog)?.needsToken === true && copyOf(catalog) === undefined,
    /** The catalogs that were never read, each with the reason. */
    missing: (): readonly string[] =>
      lists
        .filter(({ copy, needsToken }) => copy === undefined && !needsToken)
        .map((list) => `${list.name}: ${list.error ?? "not read yet"}`),
    /** The catalogs whose copies lack rows, by name. */
    leftOut: (): ReadonlyMap<string, LeftOutRows> =>
      new Map(lists.flatMap((list) => (list.copy?.leftOut ? [[list.name, list.copy.leftOut]] : []))),
    /** Stops the background refresh. */
    stop: () => end.abort(),
  };
}
