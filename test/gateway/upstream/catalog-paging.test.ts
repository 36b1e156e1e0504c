/** Catalogs whose lists the upstream pages in another way than the lists of the pack. */
import { expect, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { connectCatalogs } from "../../../src/gateway/upstream/catalog-cache.ts";
import { writeSmallPack } from "../../support/small-pack.ts";

const ITEMS = Array.from({ length: 5 }, (_, index) => ({ id: `i${index}`, name: `Item ${index}` }));

/** Reads a catalog from an upstream. Returns the paths that it was asked for, and the ids of the catalog. */
async function read(list: object, answer: (query: URLSearchParams) => unknown, book: object = {}) {
  const pack = writeSmallPack({
    upstream: { pagination: { page: { parameter: "page" }, size: { parameter: "size", maximum: 2 } } },
    book: {
      ...book,
      catalog: { upstream: [{ request: "GET /items", ...list }], stub: '{ "id": $id }' },
      routes: [{ client: "GET /books", catalog: true, response: "list" }],
    },
  });
  const paths: string[] = [];
  const faults: string[] = [];
  const upstream = {
    async call({ path }: { readonly path: string }) {
      paths.push(path);
      const body = answer(new URL(path, "http://upstream.invalid").searchParams);
      return { status: 200, headers: {}, bytes: Buffer.from(JSON.stringify(body)), ms: 0 };
    },
    close: async () => undefined,
  };
  const catalogs = connectCatalogs(loadPack(pack), upstream, 60, (_catalog, message) => faults.push(message));
  await catalogs.refresh();
  catalogs.stop();
  return { paths, faults, ids: catalogs.list("book")?.map(({ object }) => object["id"]) };
}

const ALL = ITEMS.map(({ id }) => id);

test("a list that the upstream does not page is read by one request", async () => {
  const { paths, faults, ids } = await read({ pagination: "none" }, () => ITEMS);
  expect({ paths, faults, ids }).toEqual({ paths: ["/items"], faults: [], ids: ALL });
});

test("a list may have pages of another style", async () => {
  const pagination = { offset: { parameter: "skip" }, size: { parameter: "take", maximum: 3 } };
  const { paths, ids } = await read({ pagination }, (query) =>
    ITEMS.slice(Number(query.get("skip")), Number(query.get("skip")) + Number(query.get("take"))),
  );
  expect({ paths, ids }).toEqual({ paths: ["/items?skip=0&take=3", "/items?skip=3&take=3"], ids: ALL });
});

test("a list without own pagination is paged as the pack defines", async () => {
  const { paths, ids } = await read({}, (query) => {
    const start = (Number(query.get("page")) - 1) * 2;
    return ITEMS.slice(start, start + 2);
  });
  expect(ids).toEqual(ALL);
  expect(paths).toEqual(["/items?page=1&size=2", "/items?page=2&size=2", "/items?page=3&size=2"]);
});

test("an upstream that ignores pages does not fill a catalog with the same items again and again", async () => {
  const { faults, ids } = await read({}, () => ITEMS);
  expect(ids).toBeUndefined();
  expect(faults).toHaveLength(1);
});

test("a list whose pages are shorter than the pack says is a fault, not a catalog without some items", async () => {
  const pagination = { page: { parameter: "page" }, size: { parameter: "take", maximum: 3 } };
  const envelope = { upstream: { list: { rows: "$items", total: "$total" } } };
  const { faults, ids } = await read(
    { pagination },
    (query) => {
      const start = (Number(query.get("page")) - 1) * 2;
      return { rows: ITEMS.slice(start, start + 2), total: ITEMS.length };
    },
    { envelope },
  );
  expect(ids).toBeUndefined();
  expect(faults).toEqual([expect.stringContaining("a page has 2 items instead of 3, and more follow")]);
});
