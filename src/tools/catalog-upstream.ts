import { onePage } from "../dialect/envelope.ts";
import type { Pack } from "../mapping/pack.ts";
import type { HttpResponse, Upstream } from "../upstream/client.ts";

/** The items of each catalog, by the request that reads them: `GET /regions`. */
export type CatalogLists = Readonly<Record<string, readonly unknown[]>>;

const createResponse = (status: number, text: string): HttpResponse => ({
  status,
  headers: {},
  bytes: Buffer.from(text),
  ms: 0,
});

/** An upstream with catalogs only. It returns each on one page. */
export const createCatalogUpstream = ({ dialect, lists: shapes }: Pack, lists: CatalogLists): Upstream => ({
  async call({ path }) {
    const items = lists[`GET ${path.split("?")[0]?.slice(dialect.upstream.base_path.length)}`];
    return items
      ? createResponse(200, JSON.stringify(onePage(shapes.upstream, items)))
      : createResponse(404, "");
  },
  close: () => Promise.resolve(),
});
