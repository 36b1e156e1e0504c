import { onePage, type Pack, type Shape, upstreamEnvelopeOf } from "../../pack/index.ts";
import { firstPagePath, type HttpResponse, type Upstream } from "../../gateway/index.ts";

/** The items of each catalog, by the request that reads them: `GET /regions`. */
export type CatalogLists = Readonly<Record<string, readonly unknown[]>>;

/** A list that a catalog is read from. */
interface CatalogShape {
  readonly shape: Shape;
  readonly name: string;
}

/** Returns the name of a list in {@link CatalogLists}. @param path without the prefix of all paths */
export const catalogRequest = (path: string): string => `GET ${path.split("?", 1)[0]}`;

/** Returns the shapes of the lists that the catalogs of a pack are read from, by their names in {@link CatalogLists}. */
export const catalogShapes = ({
  resources,
  dialect,
}: Pick<Pack, "resources" | "dialect">): ReadonlyMap<string, CatalogShape> =>
  new Map(
    [...resources.values()].flatMap((resource) => {
      const { list: shape } = upstreamEnvelopeOf(resource, dialect);
      const { catalog, upstreamList: name = "" } = resource;
      return (catalog?.calls ?? []).map(({ path }) => [catalogRequest(path), { shape, name }] as const);
    }),
  );

const createResponse = (status: number, text: string): HttpResponse => ({
  status,
  headers: {},
  bytes: Buffer.from(text),
  ms: 0,
});

/** Creates an upstream that only contains catalogs. It returns each of them on its first page. */
export function createCatalogUpstream(pack: Pack, lists: CatalogLists): Upstream {
  const { base_path: prefix } = pack.dialect.upstream;
  const shapes = catalogShapes(pack);
  const calls = [...pack.resources.values()].flatMap(({ catalog }) => catalog?.calls ?? []);
  const firstPages = new Set(calls.map((call) => firstPagePath(call, pack)));
  return {
    async call({ path }) {
      const request = catalogRequest(path.slice(prefix.length));
      const [items, list] = [lists[request], shapes.get(request)];
      if (!items || !list) return createResponse(404, "");
      // If there is no total, the gateway requests pages until one is empty.
      const page = firstPages.has(path) ? items : [];
      return createResponse(200, JSON.stringify(onePage(list.shape, page, list.name)));
    },
    close: () => Promise.resolve(),
  };
}
