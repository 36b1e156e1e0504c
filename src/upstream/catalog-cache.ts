import { LRUCache } from "lru-cache";
import { createListParser, type EnvelopeNames } from "../dialect/envelope.ts";
import { printJson } from "../dialect/json/parse.ts";
import { ByteMap } from "../dialect/json/byte-map.ts";
import { cursorAt, expectEnd, readRaw } from "../dialect/json/scan.ts";
import { fromJsonText } from "../dialect/json/text.ts";
import type { Catalog, CatalogCall } from "../mapping/compile/catalog.ts";
import { createCatalogEntry } from "../mapping/compile/catalog.ts";
import type { CatalogCopy, CatalogEntry, ReadFunction, ReadContext } from "../mapping/translation-context.ts";
import type { Upstream } from "./client.ts";

/** One catalog to keep a copy of. */
export interface CatalogSource {
  readonly catalog: Catalog;
  readonly read: ReadFunction;
}

export interface CatalogCache extends CatalogCopy {
  /** The objects of a catalog's list, in order; undefined until it has been read once. */
  list(catalog: string): readonly CatalogEntry[] | undefined;
  /** Reads what is due; a catalog that can't be read keeps its old copy. Resolves when all tries have ended. */
  refresh(): Promise<void>;
  /**
   * Reads, with the token of a client, the catalogs that v4 shows to nobody without one and the pack lets be read
   * so. Costs nothing when there are none. A token that fails is not tried again for a while; others are.
   *
   * @param hash That of the token, which v4 must have accepted.
   */
  refreshWith(hash: string, authorization: string | undefined): Promise<void>;
  /** Why a catalog has never been read, by name; empty when all have been. */
  missing(): readonly string[];
  /** Ends the background reading. */
  stop(): void;
}

export interface CatalogCacheOptions {
  readonly upstream: Upstream;
  readonly sources: readonly CatalogSource[];
  readonly ttlMs: number;
  readonly prefix: string;
  readonly page: string;
  readonly pageSize: { readonly parameter: string; readonly largest: number };
  readonly envelope: EnvelopeNames & { readonly items: string };
  readonly filterHeader: string;
  /** The member that names an item. */
  readonly reference: string;
  readonly onFault: (catalog: string, message: string) => void;
}

interface Copy {
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  /** By the text of the id, for answers. */
  readonly texts: ByteMap;
  readonly spellings: ReadonlyMap<string, string>;
  readonly list: readonly CatalogEntry[];
}

/** A catalog of more than this is no catalog: pages of a list, characters of one, and items and characters of all. */
const MOST_PAGES = 100;
const MOST_PAGE_CHARACTERS = 1024 * 1024;
const MOST_ITEMS = 10_000;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Tokens that could not read a catalog. */
const MOST_FAILED_TOKENS = 10_000;

/** After a failed read; shorter than any sensible time to live, so that the gateway becomes ready by itself. */
const RETRY_MS = 2000;

/** v4 answered that it does not show the catalog, to nobody or to the owner of a token. */
class NotShown extends Error {}

/** What a catalog may take still, while it is read. */
interface Room {
  items: number;
  characters: number;
}

const nothing: ReadContext = {
  catalogs: {
    isLoaded: () => false,
    find: () => undefined,
    cachedText: () => undefined,
    canonicalSpelling: () => undefined,
  },
  related: {},
};

const idOf = (item: unknown, reference: string): string | undefined => {
  const id = (item as Readonly<Record<string, unknown>> | null)?.[reference];
  return typeof id === "string" ? id : undefined;
};

/** Keeps copies of v4's catalogs: one flight a catalog, renewed in the background, stale rather than none. */
export function createCatalogCache(options: CatalogCacheOptions): CatalogCache {
  const { upstream, sources, ttlMs } = options;
  const open = createListParser(options.envelope);
  const copies = new Map<string, Copy>();
  const faults = new Map<string, string>();
  /** Catalogs that v4 showed to nobody without a token when they were read last, of those that may be read with one. */
  const shut = new Set<string>();
  const readAt = new Map<string, number>();
  const flights = new Map<string, Promise<void>>();
  const failedTokens = new LRUCache<string, true>({ max: MOST_FAILED_TOKENS });
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let flight: Promise<void> | undefined;

  async function readPage(call: CatalogCall, page: number, room: Room, authorization: string | undefined) {
    const query = `${options.page}=${page}&${options.pageSize.parameter}=${options.pageSize.largest}`;
    const headers: Record<string, string> = { accept: "application/json", "accept-encoding": "identity" };
    if (call.filter !== undefined) headers[options.filterHeader.toLowerCase()] = JSON.stringify(call.filter);
    if (authorization !== undefined) headers["authorization"] = authorization;
    const answer = await upstream.call({
      method: "GET",
      path: `${options.prefix}${call.path}?${query}`,
      headers,
    });
    if (answer.status === 404 && call.optional) return { items: [], pages: 1 };
    if (answer.status === 401) throw new NotShown("v4 shows it to nobody without a token");
    if (answer.status === 403) throw new NotShown("v4 does not show it");
    const opened = answer.status === 200 ? openWhole(answer.text, room) : undefined;
    if (!opened) throw new Error(`v4 answered ${answer.status}`);
    return opened;
  }

  /** @throws {Error} for what takes more than there is room. */
  function openWhole(text: string, room: Room): ReturnType<typeof open<string>> {
    if (text.length > MOST_PAGE_CHARACTERS)
      throw new Error(`a page has more than ${MOST_PAGE_CHARACTERS} characters`);
    room.characters -= text.length;
    if (room.characters < 0) throw new Error(`it has more than ${MOST_CHARACTERS} characters`);
    const from = cursorAt(text);
    const opened = open(from, (item) => {
      room.items -= 1;
      if (room.items < 0) throw new Error(`it has more than ${MOST_ITEMS} items`);
      return readRaw(item);
    });
    expectEnd(from);
    return opened;
  }

  /** The text of every item. */
  async function readCall(
    call: CatalogCall,
    room: Room,
    authorization: string | undefined,
  ): Promise<string[]> {
    const items: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      if (page > MOST_PAGES) throw new Error(`more than ${MOST_PAGES} pages`);
      const opened = await readPage(call, page, room, authorization);
      items.push(...opened.items);
      pages = opened.pages;
    }
    return items;
  }

  async function copyOf({ catalog, read }: CatalogSource, authorization: string | undefined): Promise<Copy> {
    const entries = new Map<string, CatalogEntry>();
    const listed: string[] = [];
    const room: Room = { items: MOST_ITEMS, characters: MOST_CHARACTERS };
    for (const call of catalog.calls) {
      for (const item of await readCall(call, room, authorization)) {
        const value = fromJsonText(item);
        const id = idOf(value, options.reference);
        if (id === undefined || entries.has(id)) continue;
        if (authorization !== undefined && !(await catalog.keepsItem?.(value))) continue;
        entries.set(id, createCatalogEntry(await read(cursorAt(item), nothing)));
        if (call.listed) listed.push(id);
      }
    }
    const ids = catalog.fixedIds ?? listed;
    for (const id of ids)
      if (!entries.has(id)) entries.set(id, createCatalogEntry((await catalog.stub(id, {})) ?? "{}"));
    return {
      entries,
      texts: new ByteMap([...entries].map(([id, { text }]) => [printJson(id), text])),
      spellings: new Map([...entries.keys()].map((id) => [id.toLowerCase(), id])),
      list: ids.map((id) => entries.get(id)).filter((entry) => entry !== undefined),
    };
  }

  /** Gives what went wrong. */
  async function refreshOne(source: CatalogSource, authorization?: string): Promise<Error | undefined> {
    const { name } = source.catalog;
    try {
      copies.set(name, await copyOf(source, authorization));
      readAt.set(name, performance.now());
      faults.delete(name);
      if (authorization === undefined) shut.delete(name);
      return undefined;
    } catch (error) {
      const { message } = error as Error;
      const isShut = error instanceof NotShown && source.catalog.keepsItem !== undefined;
      if (isShut && authorization === undefined) shut.add(name);
      faults.set(name, message);
      // Of a catalog that a token may read it is no news that one without the right to can't.
      if (!isShut || authorization === undefined) options.onFault(name, message);
      return error as Error;
    }
  }

  async function refreshAll(): Promise<void> {
    await Promise.all(sources.map((source) => refreshOne(source)));
    if (stopped) return;
    const due = [...faults.keys()].some((name) => !shut.has(name)) ? Math.min(RETRY_MS, ttlMs) : ttlMs;
    timer = setTimeout(() => void start(), due);
    timer.unref();
  }

  const isDue = (name: string): boolean =>
    shut.has(name) && performance.now() - (readAt.get(name) ?? -Infinity) > ttlMs;

  /** One reading at a time. Who has waited for that of another, in vain, tries once. */
  async function readWith(source: CatalogSource, hash: string, authorization: string): Promise<void> {
    const { name } = source.catalog;
    await flights.get(name);
    const token = `${name} ${hash}`;
    if (!isDue(name) || flights.has(name) || failedTokens.has(token)) return;
    const over = Promise.withResolvers<void>();
    flights.set(name, over.promise);
    const fault = await refreshOne(source, authorization);
    if (fault) failedTokens.set(token, true, { ttl: fault instanceof NotShown ? ttlMs : RETRY_MS });
    flights.delete(name);
    over.resolve();
  }

  const start = (): Promise<void> => {
    clearTimeout(timer);
    flight ??= refreshAll().finally(() => {
      flight = undefined;
    });
    return flight;
  };

  return {
    isLoaded: (name) => copies.has(name),
    find: (name, id) => copies.get(name)?.entries.get(id),
    cachedText: (name, bytes, start, end) => copies.get(name)?.texts.find(bytes, start, end),
    canonicalSpelling: (name, anyCase) => copies.get(name)?.spellings.get(anyCase.toLowerCase()),
    list: (name) => copies.get(name)?.list,
    refresh: start,
    async refreshWith(hash, authorization) {
      if (shut.size === 0 || authorization === undefined) return;
      const due = sources.filter(({ catalog }) => isDue(catalog.name));
      await Promise.all(due.map((source) => readWith(source, hash, authorization)));
    },
    missing: () =>
      sources
        .map(({ catalog }) => catalog.name)
        .filter((name) => !copies.has(name) && !shut.has(name))
        .map((name) => `${name}: ${faults.get(name) ?? "not read yet"}`),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
