import type { ParseListBody } from "../dialect/envelope.ts";
import { ByteMap } from "../dialect/json/byte-map.ts";
import { printJson } from "../dialect/json/parse.ts";
import { cursorAt, expectEnd, readRaw } from "../dialect/json/scan.ts";
import { fromJsonText } from "../dialect/json/text.ts";
import { addQuery } from "../mapping/compile/endpoint.ts";
import type { Paging } from "../mapping/compile/dialects.ts";
import { createCatalogEntry, type Catalog, type CatalogCall } from "../mapping/compile/catalog.ts";
import type { CatalogEntry, ReadContext, ReadFunction } from "../mapping/translation-context.ts";
import type { Upstream } from "./client.ts";

/** A catalog that is cached, and the function that translates its items. */
export interface CatalogSource {
  readonly catalog: Catalog;
  readonly read: ReadFunction;
}

/** A whole catalog, translated. */
export interface CachedCatalog {
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  /** JSON texts of the entries, by the JSON text of the id. */
  readonly texts: ByteMap;
  /** Ids by their lower-case spelling. */
  readonly spellings: ReadonlyMap<string, string>;
  readonly list: readonly CatalogEntry[];
}

export interface CatalogReaderOptions {
  readonly upstream: Upstream;
  readonly prefix: string;
  readonly paging: Pick<Paging, "query" | "largest">;
  readonly parseList: ParseListBody;
  /** Undefined if the upstream has no filters. */
  readonly filterHeader: string | undefined;
  /** The member that identifies an item. */
  readonly id: string;
}

/** Bounds of one catalog, so that v4 can't fill the memory: pages of a list, characters of a page, and both in total. */
const MAX_PAGES = 100;
const MAX_PAGE_CHARACTERS = 1024 * 1024;
const MAX_ITEMS = 10_000;
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** v4 does not show the catalog, either without a token or to the owner of this token. */
export class CatalogNotShownError extends Error {
  override readonly name = "CatalogNotShownError";
  readonly code = "AG_CATALOG_NOT_SHOWN";
}

/** What a catalog may still take while it is read. */
interface Budget {
  items: number;
  characters: number;
}

/** Catalogs are translated without catalogs and without related requests. */
const EMPTY_CONTEXT: ReadContext = {
  catalogs: {
    isLoaded: () => false,
    find: () => undefined,
    cachedText: () => undefined,
    canonicalSpelling: () => undefined,
  },
  related: {},
};

const idOf = (item: unknown, idMember: string): string | undefined => {
  const id = (item as Readonly<Record<string, unknown>> | null)?.[idMember];
  return typeof id === "string" ? id : undefined;
};

/**
 * Creates the function that reads a whole catalog from v4 and translates it.
 *
 * @returns A function that throws {CatalogNotShownError} if v4 does not show the catalog, {UpstreamError} without a
 *   response, and {Error} if the catalog exceeds the bounds.
 */
export function createCatalogReader(
  options: CatalogReaderOptions,
): (source: CatalogSource, authorization: string | undefined) => Promise<CachedCatalog> {
  const { upstream, paging, parseList } = options;

  async function readPage(
    call: CatalogCall,
    page: number,
    budget: Budget,
    authorization: string | undefined,
  ) {
    const headers: Record<string, string> = { accept: "application/json", "accept-encoding": "identity" };
    if (call.filter !== undefined && options.filterHeader !== undefined)
      headers[options.filterHeader.toLowerCase()] = JSON.stringify(call.filter);
    if (authorization !== undefined) headers["authorization"] = authorization;
    const response = await upstream.call({
      method: "GET",
      path: addQuery(options.prefix + call.path, paging.query(page, paging.largest)),
      headers,
    });
    if (response.status === 404 && call.optional) return { items: [], pages: 1 };
    if (response.status === 401) throw new CatalogNotShownError("v4 does not show it without a token");
    if (response.status === 403) throw new CatalogNotShownError("v4 does not show it");
    const list = response.status === 200 ? parsePage(response.text, budget) : undefined;
    if (!list) throw new Error(`v4 responded with ${response.status}`);
    return list;
  }

  /** @throws {Error} if the page exceeds the budget. */
  function parsePage(text: string, budget: Budget): ReturnType<typeof parseList<string>> {
    if (text.length > MAX_PAGE_CHARACTERS)
      throw new Error(`a page has more than ${MAX_PAGE_CHARACTERS} characters`);
    budget.characters -= text.length;
    if (budget.characters < 0) throw new Error(`it has more than ${MAX_CHARACTERS} characters`);
    const cursor = cursorAt(text);
    const list = parseList(cursor, (item) => {
      budget.items -= 1;
      if (budget.items < 0) throw new Error(`it has more than ${MAX_ITEMS} items`);
      return readRaw(item);
    });
    expectEnd(cursor);
    return list;
  }

  /** Reads all pages. @returns The JSON text of each item. */
  async function readAllPages(
    call: CatalogCall,
    budget: Budget,
    authorization: string | undefined,
  ): Promise<string[]> {
    const items: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      if (page > MAX_PAGES) throw new Error(`more than ${MAX_PAGES} pages`);
      const list = await readPage(call, page, budget, authorization);
      items.push(...list.items);
      pages = list.pages ?? 1;
    }
    return items;
  }

  async function readCatalog(
    { catalog, read }: CatalogSource,
    authorization: string | undefined,
  ): Promise<CachedCatalog> {
    const entries = new Map<string, CatalogEntry>();
    const listed: string[] = [];
    const budget: Budget = { items: MAX_ITEMS, characters: MAX_CHARACTERS };
    for (const call of catalog.calls) {
      for (const item of await readAllPages(call, budget, authorization)) {
        const value = fromJsonText(item);
        const id = idOf(value, options.id);
        if (id === undefined || entries.has(id)) continue;
        if (authorization !== undefined && !(await catalog.keepsItem?.(value))) continue;
        entries.set(id, createCatalogEntry(await read(cursorAt(item), EMPTY_CONTEXT)));
        if (call.listed) listed.push(id);
      }
    }
    const ids = catalog.fixedIds ?? listed;
    for (const id of ids)
      if (!entries.has(id)) entries.set(id, createCatalogEntry((await catalog.stub(id, {})) ?? "{}"));
    return {
      entries,
      texts: new ByteMap([...entries].map(([id, { text }]) => [printJson(id), Buffer.from(text)])),
      spellings: new Map([...entries.keys()].map((id) => [id.toLowerCase(), id])),
      list: ids.map((id) => entries.get(id)).filter((entry) => entry !== undefined),
    };
  }

  return readCatalog;
}
