import {
  addQuery,
  type Catalog,
  type CatalogCall,
  type CatalogEntry,
  createCatalogEntry,
  NO_CATALOGS,
  type Pack,
  type ParseListBody,
  type ReadContext,
  type ReadFunction,
  type ReadWrapped,
  type SentToken,
} from "../../pack/index.ts";
import {
  ByteMap,
  type Cursor,
  cursorAt,
  expectEnd,
  fromJsonText,
  paddedText,
  printJson,
  readRaw,
} from "../../base/index.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import type { Upstream } from "./http-call.ts";

/** A catalog that is cached, and the function that translates its items. */
export interface CatalogSource {
  readonly catalog: Catalog;
  readonly read: ReadFunction;
  /** Reads the object in the wrapper of an item; undefined if items have no wrapper. */
  readonly readWrapped?: ReadWrapped | undefined;
  readonly parseList: ParseListBody;
}

/** A whole catalog, translated. */
export interface CachedCatalog {
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  /** JSON texts of the entries, by the JSON text of the id. */
  readonly texts: ByteMap;
  /** Ids by their lower-case spelling. */
  readonly spellings: ReadonlyMap<string, string>;
  readonly list: readonly CatalogEntry[];
  /** The omitted rows; undefined if all rows were translated. */
  readonly leftOut: LeftOutRows | undefined;
}

/** Rows that are omitted from a catalog: they have no id, or an expression of the pack fails on them. */
export interface LeftOutRows {
  readonly count: number;
  /** The id of the first omitted row; empty if it has none. */
  readonly id: string;
  /** The reason why the first row was omitted. */
  readonly message: string;
  /** The file and line of the pack that the reason refers to. */
  readonly place: string;
}

/** The parts of a pack that describe the requests for lists. */
type CatalogPack = Pick<Pack, "dialect" | "paging" | "filterWriter">;

export interface CatalogReaderOptions {
  readonly pack: Pack;
  readonly upstream: Upstream;
  /** The gateway's own token; undefined if it has none. */
  readonly gatewayToken?: SentToken | undefined;
}

/** Limits of one catalog, so that v4 can't fill the memory. The number of pages has its own limit. */
const MAX_PAGE_BYTES = 1024 * 1024;
const MAX_ITEMS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** v4 does not return the catalog without a token, or to the owner of this token. */
export class CatalogNotShownError extends Error {
  override readonly name = "CatalogNotShownError";
  readonly code = "AG_CATALOG_NOT_SHOWN";
}

const NO_TOKEN: SentToken = { headers: {}, query: undefined };

/** The context for translating catalogs: without catalogs and without other calls. */
const EMPTY_CONTEXT: ReadContext = { catalogs: NO_CATALOGS, calls: {} };

const idOf = (item: unknown, idMember: string): string | undefined => {
  const id = (item as Readonly<Record<string, unknown>> | null)?.[idMember];
  return typeof id === "string" ? id : undefined;
};

/** Returns the path of a page of a list. @param query the query for the page */
const pagePath = ({ path, filter }: CatalogCall, query: string, { dialect, filterWriter }: CatalogPack) =>
  addQuery(addQuery(dialect.upstream.base_path + path, query), filterWriter.write(filter).query);

const walkPages = (call: CatalogCall, { paging }: CatalogPack) => (call.paging ?? paging).walkAll(MAX_ITEMS);

/** Returns the path of the first request for a list. */
export const firstPagePath = (call: CatalogCall, pack: CatalogPack): string =>
  pagePath(call, walkPages(call, pack).query, pack);

/** One read of a whole catalog, within the limits. */
class CatalogRead {
  readonly #source: CatalogSource;
  readonly #token: SentToken | undefined;
  readonly #options: CatalogReaderOptions;
  readonly #entries = new Map<string, CatalogEntry>();
  #itemsLeft = MAX_ITEMS;
  #bytesLeft = MAX_BYTES;
  #leftOut: LeftOutRows | undefined;

  constructor(source: CatalogSource, token: SentToken | undefined, options: CatalogReaderOptions) {
    this.#source = source;
    this.#token = token;
    this.#options = options;
  }

  async run(): Promise<CachedCatalog> {
    const { catalog } = this.#source;
    const entries = this.#entries;
    const listed: string[] = [];
    for (const call of catalog.calls) {
      for (const item of await this.#readAllPages(call)) {
        const value = fromJsonText(item);
        const id = idOf(value, catalog.idMember);
        if (id === undefined) this.#leaveOut("", `it has no text "${catalog.idMember}", its id`);
        if (id === undefined || entries.has(id)) continue;
        const isAdded = await this.#add(id, () => this.#translate(item, value));
        if (isAdded && call.listed) listed.push(id);
      }
    }
    const ids = catalog.fixedIds ?? listed;
    for (const id of ids)
      if (!entries.has(id))
        await this.#add(id, async () => createCatalogEntry((await catalog.stub(id, {})) ?? "{}"));
    return {
      leftOut: this.#leftOut,
      entries,
      texts: new ByteMap([...entries].map(([id, { text }]) => [printJson(id), paddedText(text)])),
      spellings: new Map([...entries.keys()].map((id) => [id.toLowerCase(), id])),
      list: ids.map((id) => entries.get(id)).filter((entry) => entry !== undefined),
    };
  }

  /** Adds a row. If an expression fails on a row, only that row is omitted. */
  async #add(id: string, createEntry: () => Promise<CatalogEntry | undefined>): Promise<boolean> {
    try {
      const entry = await createEntry();
      if (entry) this.#entries.set(id, entry);
      return entry !== undefined;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.#leaveOut(id, error.message, error.origin?.place);
      return false;
    }
  }

  #leaveOut(id: string, message: string, place = this.#source.catalog.place): void {
    const { count, ...first } = this.#leftOut ?? { count: 0, id, message, place };
    this.#leftOut = { count: count + 1, ...first };
  }

  async #translate(item: string, value: unknown): Promise<CatalogEntry | undefined> {
    const { catalog, read } = this.#source;
    if (this.#token !== undefined && !(await catalog.keepsItem?.(value))) return undefined;
    const lost = new Set<string>();
    return createCatalogEntry(await read(cursorAt(item), { ...EMPTY_CONTEXT, lost }), lost);
  }

  /** Reads all pages of a list. @returns the JSON text of each item */
  async #readAllPages(call: CatalogCall): Promise<string[]> {
    const { pack } = this.#options;
    const { upstreamCursor } = call.paging ?? pack.paging;
    const items: string[] = [];
    const walk = walkPages(call, pack);
    do {
      const page = await this.#readPage(call, walk.query);
      if (!page) return items;
      const { items: found, ...values } = page.list;
      items.push(...found);
      const lastItem = (): string | undefined => upstreamCursor(fromJsonText(found.at(-1) ?? "null"));
      walk.accept({ values, headers: page.headers, count: found.length, lastItem });
    } while (!walk.isDone);
    return items;
  }

  async #readPage(call: CatalogCall, query: string) {
    const { pack, upstream, gatewayToken } = this.#options;
    const { name, filters } = pack.dialect.upstream;
    const { headers: tokenHeaders, query: secretQuery } = this.#token ?? gatewayToken ?? NO_TOKEN;
    const headers: Record<string, string> = {
      accept: "application/json",
      "accept-encoding": "identity",
      ...pack.upstreamHeaders,
      ...tokenHeaders,
    };
    const filter = pack.filterWriter.write(call.filter);
    if (filter.header !== undefined && filters?.header !== undefined)
      headers[filters.header.toLowerCase()] = filter.header;
    const path = pagePath(call, query, pack);
    const response = await upstream.call({ method: "GET", path, secretQuery, headers });
    if (response.status === 404 && call.optional) return undefined;
    if (response.status === 401) throw new CatalogNotShownError(`${name} does not show it without a token`);
    if (response.status === 403) throw new CatalogNotShownError(`${name} does not show it`);
    if (response.status !== 200) throw new Error(`${name} responded with ${response.status}`);
    const list = this.#parsePage(response.bytes);
    if ("fault" in list)
      throw new Error(`${name} responded without a list of the shape in the pack: ${list.fault}`);
    return { list, headers: response.headers };
  }

  /** Parses a page. @throws {Error} if the page exceeds the limits */
  #parsePage(bytes: Buffer) {
    if (bytes.length > MAX_PAGE_BYTES) throw new Error(`a page has more than ${MAX_PAGE_BYTES} bytes`);
    this.#bytesLeft -= bytes.length;
    if (this.#bytesLeft < 0) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    const cursor = cursorAt(bytes);
    const readItem = (item: Cursor): string => {
      this.#itemsLeft -= 1;
      if (this.#itemsLeft < 0) throw new Error(`it has more than ${MAX_ITEMS} items`);
      return readRaw(item);
    };
    const list = this.#source.parseList(cursor, readItem, this.#source.readWrapped);
    expectEnd(cursor);
    return list;
  }
}

/**
 * Reads a whole catalog from v4 and translates it.
 *
 * @throws {CatalogNotShownError} if v4 does not return the catalog. {UpstreamError} if there is no response. {Error} if
 *   the catalog exceeds the limits.
 */
export const readCatalog = (
  source: CatalogSource,
  token: SentToken | undefined,
  options: CatalogReaderOptions,
): Promise<CachedCatalog> => new CatalogRead(source, token, options).run();
