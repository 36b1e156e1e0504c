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
import type { Upstream } from "./client.ts";

export interface CatalogCache extends CatalogCopy {
  /** The translated items of a catalog's list, in order; undefined until the catalog was read. */
  list(catalog: string): readonly CatalogEntry[] | undefined;
  /** Reads all catalogs. A catalog that can't be read keeps its previous copy. Resolves when all reads have ended. */
  refresh(): Promise<void>;
  /**
   * Reads the catalogs that v4 does not show without a token, with the token of a client, if the pack allows it.
   * Costs nothing if there are none. After a failure the same token is not tried for a while.
   *
   * @param hash Hash of the token, which v4 must have accepted.
   */
  refreshWith(hash: string, token: SentToken | undefined): Promise<unknown> | undefined;
  /** Whether a catalog was never read, because v4 does not show it without a token, and may be read with a client's. */
  awaitsToken(catalog: string): boolean;
  /** The catalogs that were never read, each with the reason. */
  missing(): readonly string[];
  /** The catalogs whose copies lack rows, by name. */
  leftOut(): ReadonlyMap<string, LeftOutRows>;
  /** Stops the background refresh. */
  stop(): void;
}

/** Tokens that are remembered because they could not read a catalog. */
const MAX_FAILED_TOKENS = 1000;

/** Pause after a failed read. Shorter than any usual TTL, so that the gateway becomes ready soon. */
const RETRY_MS = 2000;

/** How catalogs are read and cached, and the listeners for faults. */
interface CatalogOptions extends CatalogReaderOptions {
  readonly ttlMs: number;
  readonly onFault: (catalog: string, message: string) => void;
  /** Called after each read of a catalog that leaves out rows. */
  readonly onRowsLeftOut: ((catalog: string, rows: LeftOutRows) => void) | undefined;
}

/** Reads catalogs and keeps the copies. Each catalog has one read in flight at most. */
class Catalogs {
  readonly copies = new Map<string, CachedCatalog>();
  /** Why the last read of a catalog failed. */
  readonly errors = new Map<string, string>();
  /** Catalogs that may be read with a client's token, and that v4 did not show without a token. */
  readonly tokenOnly = new Set<string>();
  readonly sources: readonly CatalogSource[];
  readonly #options: CatalogOptions;
  readonly #readAt = new Map<string, number>();
  readonly #readsInFlight = new Map<string, Promise<void>>();
  readonly #failedTokens = new LRUCache<string, true>({ max: MAX_FAILED_TOKENS });
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #refreshInFlight: Promise<void> | undefined;

  constructor(sources: readonly CatalogSource[], { upstream, ...options }: CatalogOptions) {
    this.sources = sources;
    // A v4 that never responds would delay the exit of the process until the call times out.
    const call: Upstream["call"] = (request) => upstream.call(request, this.#end.signal);
    this.#options = { ...options, upstream: { call, close: upstream.close } };
  }

  /** Reads one catalog. @returns The error, if it could not be read. */
  async read(source: CatalogSource, token?: SentToken): Promise<Error | undefined> {
    const { name } = source.catalog;
    const { onFault, onRowsLeftOut } = this.#options;
    try {
      const copy = await readCatalog(source, token, this.#options);
      this.copies.set(name, copy);
      if (copy.leftOut) onRowsLeftOut?.(name, copy.leftOut);
      this.#readAt.set(name, performance.now());
      this.errors.delete(name);
      if (token === undefined) this.tokenOnly.delete(name);
      return undefined;
    } catch (error) {
      const needsToken = error instanceof CatalogNotShownError && source.catalog.keepsItem !== undefined;
      const message = (error as Error).message + (needsToken ? ": it is read with a client's token" : "");
      if (needsToken && token === undefined) this.tokenOnly.add(name);
      this.errors.set(name, message);
      // A client whose token has no right to read the catalog is not a problem to report.
      if ((!needsToken || token === undefined) && !this.#end.signal.aborted) onFault(name, message);
      return error as Error;
    }
  }

  /** Whether a catalog is to be read with a token. */
  isDue(name: string): boolean {
    const age = performance.now() - (this.#readAt.get(name) ?? -Infinity);
    return this.tokenOnly.has(name) && age > this.#options.ttlMs;
  }

  /** Reads a catalog with a token. If the read of another token is in flight and fails, this one tries once. */
  async readWith(source: CatalogSource, hash: string, token: SentToken): Promise<void> {
    const { name } = source.catalog;
    const { ttlMs } = this.#options;
    const readInFlight = this.#readsInFlight.get(name);
    // Without a read in flight this one begins at once: requests of the same turn wait for it.
    if (readInFlight) await readInFlight;
    const key = `${name} ${hash}`;
    if (!this.isDue(name) || this.#readsInFlight.has(name) || this.#failedTokens.has(key)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#readsInFlight.set(name, promise);
    const error = await this.read(source, token);
    const pause = error instanceof CatalogNotShownError ? ttlMs : RETRY_MS;
    if (error) this.#failedTokens.set(key, true, { ttl: pause });
    this.#readsInFlight.delete(name);
    resolve();
  }

  refresh(): Promise<void> {
    clearTimeout(this.#timer);
    return (this.#refreshInFlight ??= this.#refreshAll().finally(() => {
      this.#refreshInFlight = undefined;
    }));
  }

  async #refreshAll(): Promise<void> {
    await Promise.all(this.sources.map((source) => this.read(source)));
    if (this.#end.signal.aborted) return;
    const { ttlMs } = this.#options;
    const hasFailed = [...this.errors.keys()].some((name) => !this.tokenOnly.has(name));
    this.#timer = setTimeout(() => void this.refresh(), hasFailed ? Math.min(RETRY_MS, ttlMs) : ttlMs);
    this.#timer.unref();
  }

  /** Aborts a request in progress, too. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#end.abort();
  }
}

/** The catalogs of a pack, and how their lists are read. */
function sourcesOf({ resources, dialect }: Pack): readonly CatalogSource[] {
  return [...resources.values()].flatMap((resource) => {
    const { catalog, read, upstreamName } = resource;
    if (!catalog) return [];
    const { list, item, mayBeOmitted } = upstreamEnvelopeOf(resource, dialect);
    const readWrapped = createObjectReader(objectPath(item, upstreamName));
    // The reader has bounds of its own.
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
): CatalogCache {
  const { name, base_path: prefix, filters } = pack.dialect.upstream;
  const { gatewayToken } = upstreamTokens ?? {};
  const catalogs = new Catalogs(sourcesOf(pack), {
    upstream,
    name,
    ttlMs: ttlSeconds * 1000,
    prefix,
    paging: pack.paging,
    filterHeader: filters?.header,
    filterWriter: pack.filterWriter,
    headers: pack.upstreamHeaders,
    gatewayToken: gatewayToken === undefined ? undefined : pack.credentials.upstream?.write(gatewayToken),
    onRowsLeftOut,
    onFault,
  });
  const { copies, errors, tokenOnly, sources } = catalogs;
  return {
    isLoaded: (name) => copies.has(name),
    find: (name, id) => copies.get(name)?.entries.get(id),
    cachedText: (name, bytes, start, end) => copies.get(name)?.texts.find(bytes, start, end),
    canonicalSpelling: (name, anyCase) => copies.get(name)?.spellings.get(anyCase.toLowerCase()),
    list: (name) => copies.get(name)?.list,
    refresh: () => catalogs.refresh(),
    refreshWith(hash, token) {
      if (tokenOnly.size === 0 || token === undefined) return undefined;
      const due = sources.filter(({ catalog }) => catalogs.isDue(catalog.name));
      if (due.length === 0) return undefined;
      return Promise.all(due.map((source) => catalogs.readWith(source, hash, token)));
    },
    awaitsToken: (name) => tokenOnly.has(name) && !copies.has(name),
    missing: () =>
      sources
        .map(({ catalog }) => catalog.name)
        .filter((name) => !copies.has(name) && !tokenOnly.has(name))
        .map((name) => `${name}: ${errors.get(name) ?? "not read yet"}`),
    leftOut: () => new Map([...copies].flatMap(([name, { leftOut }]) => (leftOut ? [[name, leftOut]] : []))),
    stop: () => catalogs.stop(),
  };
}
