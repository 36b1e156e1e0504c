/**
 * The new API of a festival. Its lists have numbered pages, from 1 or from 0, or opaque cursors.
 *
 * `node service.ts` starts it on port 9004, or on that of `PORT`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { json as readJson } from "node:stream/consumers";

const TOKEN = "demo-token";

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Invoice {
  readonly id: number;
  readonly paid: boolean;
  total: { readonly cents: number };
}

const fail = (status: number, message: string): Reply => ({ status, body: { message } });

/** Objects with numbers from 1. */
const numbered = <Item>(count: number, create: (id: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => create(index + 1));

/** A page of a list: by its number, and with at most so many items. Undefined for a page that can't be. */
function pageOf<Item>(
  items: readonly Item[],
  query: URLSearchParams,
  { first, largest }: { readonly first: number; readonly largest: number },
): readonly Item[] | undefined {
  const [page, size] = [Number(query.get("page") ?? first), Number(query.get("size") ?? largest)];
  if (!(page >= first && size >= 1 && size <= largest)) return undefined;
  return items.slice((page - first) * size, (page - first + 1) * size);
}

/** Cursors are opaque: clients can only give back those that they got. */
const writeCursor = (offset: number): string => Buffer.from(`t${offset}`).toString("base64url");
const readCursor = (cursor: string | null): number =>
  cursor === null ? 0 : Number(Buffer.from(cursor, "base64url").toString().slice(1));

/** The data, and the operations on it. */
function createFestival() {
  const tracks = numbered(7, (id) => ({ id, name: `Song ${id}` }));
  const tickets = numbered(7, (id) => ({ id, title: `Seat ${id}` }));
  const offers = [
    { type: "offer", resource: { key: "small", title: "One day" } },
    { type: "offer", resource: { key: "large", title: "All days" } },
  ];
  const contracts = numbered(5, (id) => ({
    resource: { key: `s${id}`, offer: id % 2 === 0 ? "large" : "small", state: id > 3 ? "ended" : "active" },
  }));
  const invoices = new Map(
    numbered(6, (id): [number, Invoice] => [id, { id, paid: id > 1, total: { cents: 100 * id } }]),
  );
  const wrapped = (invoice: Invoice): Reply => ({ status: 200, body: { data: { invoice }, links: [] } });

  return {
    listTickets(query: URLSearchParams): Reply {
      const [start, limit] = [readCursor(query.get("cursor")), Number(query.get("limit") ?? 5)];
      if (!(start >= 0 && limit >= 1 && limit <= 5)) return fail(400, "This page does not exist");
      const end = start + limit;
      const next = end < tickets.length ? writeCursor(end) : null;
      return {
        status: 200,
        body: { data: tickets.slice(start, end), meta: { next, count: tickets.length } },
      };
    },
    listNews(query: URLSearchParams): Reply {
      const [start, limit] = [Number(query.get("after") ?? 0), Number(query.get("limit") ?? 5)];
      const news = numbered(5, (id) => ({ id, body: `News ${id}` }));
      const end = start + limit;
      const link = `<http://festival/news?limit=${limit}&after=${end}>; rel="next"`;
      return { status: 200, body: news.slice(start, end), headers: end < news.length ? { link } : {} };
    },
    list(kind: string, query: URLSearchParams): Reply {
      const [first, largest] = kind === "receipts" ? [0, 4] : [1, 50];
      const lists: Readonly<Record<string, readonly unknown[]>> = {
        tracks,
        offers,
        contracts,
        receipts: [...invoices.values()],
      };
      const all = lists[kind] ?? [];
      const items = pageOf(all, query, { first, largest });
      if (!items) return fail(400, "This page does not exist");
      const total = all.length;
      if (kind === "tracks") return { status: 200, body: { results: items, total } };
      if (kind === "receipts")
        return { status: 200, body: { content: items, page: { totalElements: total } } };
      return { status: 200, body: { _embedded: { entries: items }, total } };
    },
    find(id: number): Reply {
      const invoice = invoices.get(id);
      return invoice ? wrapped(invoice) : fail(404, "There is no such invoice");
    },
    change(id: number, { total }: Partial<Invoice>): Reply {
      const invoice = invoices.get(id);
      if (!invoice) return fail(404, "There is no such invoice");
      if (total) invoice.total = total;
      return wrapped(invoice);
    },
    remove: (id: number): Reply =>
      invoices.delete(id) ? { status: 204 } : fail(404, "There is no such invoice"),
  };
}

/** Creates the service, with its data. */
export function createFestivalService(): Server {
  const festival = createFestival();

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://festival");
    const [, kind = "", id, member] = pathname.split("/");
    // Offers are public.
    if (kind !== "offers" && request.headers.authorization !== `Bearer ${TOKEN}`)
      return fail(401, "The token is not valid");
    if (kind === "invoices" && id !== undefined) {
      if (member === "payer") return { status: 200, body: { name: "Ada" } };
      if (request.method === "PATCH")
        return festival.change(Number(id), (await readJson(request)) as Partial<Invoice>);
      return request.method === "DELETE" ? festival.remove(Number(id)) : festival.find(Number(id));
    }
    if (kind === "news") return festival.listNews(searchParams);
    if (kind === "tickets") return festival.listTickets(searchParams);
    if (["tracks", "receipts", "offers", "contracts"].includes(kind))
      return festival.list(kind, searchParams);
    return fail(404, "There is no such path");
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, headers } = await reply(request).catch((error: unknown) =>
      fail(500, String(error)),
    );
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  }

  return createServer((request, response) => void respond(request, response));
}

if (import.meta.main)
  createFestivalService().listen(
    Number(process.env["PORT"] ?? 9004),
    "127.0.0.1",
    function listening(this: Server) {
      console.log("The festival listens on", this.address());
    },
  );
