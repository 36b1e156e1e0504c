/** Packs whose sides page lists in any two styles, and an upstream of each style. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { createDryRun } from "../../../src/compare/dry-run/dry-run.ts";

/** One side: its `pagination`, and the shape of its lists. */
export interface Side {
  readonly pagination?: object;
  readonly list: unknown;
}

/** What the resource has in addition to its list. */
export interface OfResource {
  readonly catalog?: object;
  readonly envelope?: object;
  readonly routes: readonly object[];
}

/** Loads a pack with one list of things, whose ids are prefixed for clients. */
export function loadPagingPack(
  client: Side,
  upstream: Side,
  route: object = {},
  { routes, ...others }: OfResource = { routes: [] },
) {
  const folder = mkdtempSync(join(tmpdir(), "paging-"));
  const side = ({ pagination, list }: Side) => ({ ...(pagination && { pagination }), responses: { list } });
  const dialect = {
    format: 2,
    client: side(client),
    upstream: side(upstream),
    values: { thing_id: { read: '"t_" & $value', write: '$substringAfter($value, "_")' } },
  };
  const resource = {
    ...others,
    object: "thing",
    list: "things",
    fields: { id: { upstream: "id", values: "thing_id" } },
    routes: [{ client: "GET /things", upstream: "GET /items", response: "list", ...route }, ...routes],
  };
  try {
    // JSON is YAML.
    writeFileSync(join(folder, "pack.yaml"), JSON.stringify(dialect));
    writeFileSync(join(folder, "thing.yaml"), JSON.stringify(resource));
    return loadPack(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The response of an upstream to a query. */
export type Respond = (query: URLSearchParams) => {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A gateway with a pack, in front of an upstream. */
export function openPagingGateway(pack: ReturnType<typeof loadPagingPack>, respond: Respond) {
  const sent: string[] = [];
  const run = createDryRun(pack, {
    async call({ method, path, body: search }) {
      sent.push([method, path, ...(search === undefined ? [] : [search])].join(" "));
      const query = new URL(path, "http://upstream.invalid").searchParams;
      for (const [name, value] of Object.entries(JSON.parse(search ?? "{}"))) query.set(name, String(value));
      const { body, headers = {} } = respond(query);
      return { status: 200, headers, bytes: Buffer.from(JSON.stringify(body)), ms: 0 };
    },
    close: async () => undefined,
  });
  run.catalogs.stop();
  return {
    readCatalogs: () => run.catalogs.refresh(),
    /** The upstream requests since the last call. */
    takeSent: () => sent.splice(0),
    async get(path: string) {
      const { response } = await run.send({ method: "GET", path });
      return { status: response.status, headers: response.headers, body: JSON.parse(response.body) };
    },
  };
}

/** A part of the items of an upstream, `{ id: 1 }` and so on. */
export const itemsFrom = (start: number, count: number, total: number): { id: number }[] =>
  Array.from({ length: Math.max(0, Math.min(count, total - start)) }, (_, index) => ({
    id: start + index + 1,
  }));

const numberIn = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);

/** The items before or after an id, which is the number of an item. */
function rangeIn(query: URLSearchParams, total: number): { readonly start: number; readonly end: number } {
  const [before, count] = [query.get("before"), numberIn(query, "n", 7)];
  const start = before === null ? numberIn(query, "after", 0) : Math.max(0, Number(before) - 1 - count);
  return { start, end: Math.min(total, before === null ? start + count : Number(before) - 1) };
}

/** A side with an upstream that pages in its style, for a number of items. */
export interface StyledUpstream extends Side {
  readonly respond: (total: number) => Respond;
}

const size = { parameter: "n", maximum: 7 };

/** Upstreams of all styles. Those that say nothing about further pages are among them. */
export const UPSTREAMS: Readonly<Record<string, StyledUpstream>> = {
  "pages with totals": {
    pagination: { page: { parameter: "p" }, size },
    list: { rows: "$items", p: "$page", total: "$total" },
    respond: (total) => (query) => {
      const [page, count] = [numberIn(query, "p", 1), numberIn(query, "n", 7)];
      return { body: { rows: itemsFrom((page - 1) * count, count, total), p: page, total } };
    },
  },
  "pages from 0 with a total in a header": {
    pagination: { page: { parameter: "p", first: 0 }, size, total_header: "X-Total" },
    list: "$items",
    respond: (total) => (query) => {
      const count = numberIn(query, "n", 7);
      const body = itemsFrom(numberIn(query, "p", 0) * count, count, total);
      return { body, headers: { "x-total": String(total) } };
    },
  },
  "pages of a fixed size without a word about further ones": {
    pagination: { page: { parameter: "p" }, size: 4 },
    list: "$items",
    respond: (total) => (query) => ({ body: itemsFrom((numberIn(query, "p", 1) - 1) * 4, 4, total) }),
  },
  "pages with a Link header": {
    pagination: { page: { parameter: "p" }, size, link_header: true },
    list: "$items",
    respond: (total) => (query) => {
      const [page, count] = [numberIn(query, "p", 1), numberIn(query, "n", 7)];
      const link = `<https://upstream/items?p=${page + 1}&n=${count}>; rel="next"`;
      const body = itemsFrom((page - 1) * count, count, total);
      return { body, headers: page * count < total ? { link } : {} };
    },
  },
  "offsets with a total": {
    pagination: { offset: { parameter: "o" }, size },
    list: { rows: "$items", meta: { total: "$total" } },
    respond: (total) => (query) => {
      const rows = itemsFrom(numberIn(query, "o", 0), numberIn(query, "n", 7), total);
      return { body: { rows, meta: { total } } };
    },
  },
  "offsets from 1 without totals": {
    pagination: { offset: { parameter: "o", first: 1 }, size },
    list: "$items",
    respond: (total) => (query) => ({
      body: itemsFrom(numberIn(query, "o", 1) - 1, numberIn(query, "n", 7), total),
    }),
  },
  "opaque cursors": {
    pagination: { cursor: { parameter: "c" }, size },
    list: { rows: "$items", next: "$next_cursor" },
    respond: (total) => (query) => {
      const start = Number(/^after (\d+)$/.exec(query.get("c") ?? "")?.[1] ?? 0);
      const end = start + numberIn(query, "n", 7);
      return {
        body: { rows: itemsFrom(start, end - start, total), next: end < total ? `after ${end}` : null },
      };
    },
  },
  "cursors in links": {
    pagination: { cursor: { parameter: "c" }, size },
    list: { rows: "$items", links: { next: "$next_link" } },
    respond: (total) => (query) => {
      const start = numberIn(query, "c", 0);
      const end = start + numberIn(query, "n", 7);
      const next = end < total ? `https://upstream/items?c=${end}&n=7` : undefined;
      return { body: { rows: itemsFrom(start, end - start, total), links: { next } } };
    },
  },
  "ids of items": {
    pagination: { cursor: { parameter: "after", item: "id" }, size },
    list: { rows: "$items", more: "$has_more" },
    respond: (total) => (query) => {
      const start = numberIn(query, "after", 0);
      const end = start + numberIn(query, "n", 7);
      return { body: { rows: itemsFrom(start, end - start, total), more: end < total } };
    },
  },
  "ids of items without a word about further ones": {
    pagination: { cursor: { parameter: "after", item: "id" }, size },
    list: "$items",
    respond: (total) => (query) => ({
      body: itemsFrom(numberIn(query, "after", 0), numberIn(query, "n", 7), total),
    }),
  },
  "ids of items in both directions": {
    pagination: { cursor: { parameter: "after", item: "id", before: "before" }, size },
    list: { rows: "$items", more: "$has_more" },
    respond: (total) => (query) => {
      const { start, end } = rangeIn(query, total);
      const more = query.has("before") ? start > 0 : end < total;
      return { body: { rows: itemsFrom(start, end - start, total), more } };
    },
  },
  "opaque cursors in both directions": {
    pagination: { cursor: { parameter: "after", before: "before" }, size },
    list: { rows: "$items", next: "$next_cursor", previous: "$previous_cursor" },
    respond: (total) => (query) => {
      const { start, end } = rangeIn(query, total);
      const [next, previous] = [end < total ? end : null, start > 0 ? start + 1 : null];
      return { body: { rows: itemsFrom(start, end - start, total), next, previous } };
    },
  },
  "cursors in links of both directions, in one parameter": {
    pagination: { cursor: { parameter: "c" }, size, link_header: true },
    list: "$items",
    respond: (total) => (query) => {
      const [, word = "after", value = "0"] = /^(after|before)-(\d+)$/.exec(query.get("c") ?? "") ?? [];
      const position = new URLSearchParams({ [word]: value, n: query.get("n") ?? "7" });
      const { start, end } = rangeIn(position, total);
      const link = [
        ...(start > 0 ? [`<https://upstream/items?c=before-${start + 1}>; rel="prev"`] : []),
        ...(end < total ? [`<https://upstream/items?c=after-${end}>; rel="next"`] : []),
      ].join(", ");
      return { body: itemsFrom(start, end - start, total), headers: link === "" ? {} : { link } };
    },
  },
  "no pages": { list: "$items", respond: (total) => () => ({ body: itemsFrom(0, total, total) }) },
};
