import { makeOpenList, type EnvelopeNames } from "../dialect/envelope.ts";
import { printJson } from "../dialect/json.ts";
import { ByteTable } from "../dialect/byte-table.ts";
import { begins, ends, takeText } from "../dialect/json-scan.ts";
import { valueOfText } from "../dialect/json-text.ts";
import type { Catalog, CatalogCall } from "../mapping/catalog.ts";
import { entryOf } from "../mapping/entry.ts";
import type { CatalogCopy, CatalogEntry, Read, Reading } from "../mapping/reading.ts";
import type { Upstream } from "./client.ts";

/** One catalog to keep a copy of. */
export interface CatalogSource {
  readonly catalog: Catalog;
  readonly read: Read;
}

export interface Catalogs extends CatalogCopy {
  /** The objects of a catalog's list, in order; undefined until it has been read once. */
  list(catalog: string): readonly CatalogEntry[] | undefined;
  /** Reads what is due; a catalog that can't be read keeps its old copy. Resolves when all tries have ended. */
  refresh(): Promise<void>;
  /**
   * Reads, with a client's token, the catalogs that v4 shows to nobody without one. Costs nothing when there
   * are none.
   */
  refreshWith(authorization: string | undefined): Promise<void>;
  /** Why a catalog has never been read, by name; empty when all have been. */
  missing(): readonly string[];
  /** Ends the background reading. */
  stop(): void;
}

export interface CatalogsOptions {
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
  readonly texts: ByteTable;
  readonly spellings: ReadonlyMap<string, string>;
  readonly list: readonly CatalogEntry[];
}

/** A catalog of more pages than this is no catalog. */
const MOST_PAGES = 100;

/** After a failed read; shorter than any sensible time to live, so that the gateway becomes ready by itself. */
const RETRY_MS = 2000;

class NotPublic extends Error {}

const nothing: Reading = {
  catalogs: {
    loaded: () => false,
    find: () => undefined,
    known: () => undefined,
    spelling: () => undefined,
  },
  with: {},
};

const idOf = (item: unknown, reference: string): string | undefined => {
  const id = (item as Readonly<Record<string, unknown>> | null)?.[reference];
  return typeof id === "string" ? id : undefined;
};

/** Keeps copies of v4's catalogs: one flight a catalog, renewed in the background, stale rather than none. */
export function keepCatalogs(options: CatalogsOptions): Catalogs {
  const { upstream, sources, ttlMs } = options;
  const open = makeOpenList(options.envelope);
  const copies = new Map<string, Copy>();
  const faults = new Map<string, string>();
  const notPublic = new Set<string>();
  const lastTry = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let flight: Promise<void> | undefined;

  async function readPage(call: CatalogCall, page: number, authorization: string | undefined) {
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
    if (answer.status === 401) throw new NotPublic("v4 shows it to nobody without a token");
    const opened = answer.status === 200 ? openWhole(answer.text) : undefined;
    if (!opened) throw new Error(`v4 answered ${answer.status}`);
    return opened;
  }

  function openWhole(text: string): ReturnType<typeof open<string>> {
    const from = begins(text);
    const opened = open(from, takeText);
    ends(from);
    return opened;
  }

  /** The text of every item. */
  async function readCall(call: CatalogCall, authorization: string | undefined): Promise<string[]> {
    const items: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      if (page > MOST_PAGES) throw new Error(`more than ${MOST_PAGES} pages`);
      const opened = await readPage(call, page, authorization);
      items.push(...opened.items);
      pages = opened.pages;
    }
    return items;
  }

  async function copyOf({ catalog, read }: CatalogSource, authorization: string | undefined): Promise<Copy> {
    const entries = new Map<string, CatalogEntry>();
    const listed: string[] = [];
    for (const call of catalog.calls) {
      for (const item of await readCall(call, authorization)) {
        const id = idOf(valueOfText(item), options.reference);
        if (id === undefined || entries.has(id)) continue;
        entries.set(id, entryOf(await read(begins(item), nothing)));
        if (call.listed) listed.push(id);
      }
    }
    const ids = catalog.fixedIds ?? listed;
    for (const id of ids)
      if (!entries.has(id)) entries.set(id, entryOf((await catalog.stub(id, {})) ?? "{}"));
    return {
      entries,
      texts: new ByteTable([...entries].map(([id, { text }]) => [printJson(id), text])),
      spellings: new Map([...entries.keys()].map((id) => [id.toLowerCase(), id])),
      list: ids.map((id) => entries.get(id)).filter((entry) => entry !== undefined),
    };
  }

  async function refreshOne(source: CatalogSource, authorization: string | undefined): Promise<void> {
    const { name } = source.catalog;
    try {
      copies.set(name, await copyOf(source, authorization));
      faults.delete(name);
    } catch (error) {
      if (error instanceof NotPublic && authorization === undefined) notPublic.add(name);
      faults.set(name, (error as Error).message);
      options.onFault(name, (error as Error).message);
    }
  }

  async function refreshAll(): Promise<void> {
    await Promise.all(
      sources
        .filter(({ catalog }) => !notPublic.has(catalog.name))
        .map((source) => refreshOne(source, undefined)),
    );
    if (stopped) return;
    const due = [...faults.keys()].some((name) => !notPublic.has(name)) ? Math.min(RETRY_MS, ttlMs) : ttlMs;
    timer = setTimeout(() => void start(), due);
    timer.unref();
  }

  const start = (): Promise<void> => {
    clearTimeout(timer);
    flight ??= refreshAll().finally(() => {
      flight = undefined;
    });
    return flight;
  };

  return {
    loaded: (name) => copies.has(name),
    find: (name, id) => copies.get(name)?.entries.get(id),
    known: (name, bytes, start, end) => copies.get(name)?.texts.find(bytes, start, end),
    spelling: (name, anyCase) => copies.get(name)?.spellings.get(anyCase.toLowerCase()),
    list: (name) => copies.get(name)?.list,
    refresh: start,
    async refreshWith(authorization) {
      if (notPublic.size === 0 || authorization === undefined) return;
      const now = performance.now();
      const due = sources.filter(({ catalog: { name } }) => {
        const wait = copies.has(name) ? ttlMs : RETRY_MS;
        return notPublic.has(name) && now - (lastTry.get(name) ?? -Infinity) > wait;
      });
      for (const { catalog } of due) lastTry.set(catalog.name, now);
      await Promise.all(due.map((source) => refreshOne(source, authorization)));
    },
    missing: () =>
      sources
        .map(({ catalog }) => catalog.name)
        .filter((name) => !copies.has(name) && !notPublic.has(name))
        .map((name) => `${name}: ${faults.get(name) ?? "not read yet"}`),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
