/** The gateway's copies of v4's catalogs, with valid and invalid responses of v4. */
import { afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { loadPack } from "../../../src/pack/load/load-pack.ts";
import { writeSmallPack } from "../../support/small-pack.ts";
import type { Pack } from "../../../src/pack/load/pack.ts";
import { connectCatalogs, type CatalogCache } from "../../../src/gateway/upstream/catalog-cache.ts";
import type { HttpResponse, HttpRequest } from "../../../src/gateway/upstream/http-call.ts";
import { UpstreamError } from "../../../src/gateway/upstream/upstream-error.ts";

let pack: Pack;
let catalogs: CatalogCache | undefined;
beforeAll(() => {
  pack = loadPack("mappings", { vm: "vm", orch: "orch" });
});
afterEach(() => catalogs?.stop());

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, query: undefined });

type Say = (call: HttpRequest) => { readonly status?: number; readonly text: string } | Promise<never>;

const envelope = (data: readonly unknown[], pages = 1) => ({
  status: 200,
  text: JSON.stringify({ data, page: 1, pages, results: data.length }),
});
const newark = { id: "us-east", country: "us" };

/** Catalog caches of a v4 with the given regions; its other catalogs are empty. */
function createCatalogs(say: Say) {
  const calls: HttpRequest[] = [];
  const faults: string[] = [];
  const call = async (asked: HttpRequest): Promise<HttpResponse> => {
    calls.push(asked);
    const { status = 200, text } = asked.path.startsWith("/v4/regions") ? await say(asked) : envelope([]);
    return { status, headers: {}, bytes: Buffer.from(text), ms: 1 };
  };
  const upstream = { call, close: async () => {} };
  catalogs = connectCatalogs(pack, upstream, 600, (name, message) => faults.push(`${name}: ${message}`));
  const regions = () => calls.filter(({ path }) => path.startsWith("/v4/regions"));
  return { catalogs, calls: regions, faults };
}
const labels = () => catalogs?.list("datacenter")?.map(({ object }) => object["id"]);

describe("the catalog cache before the initial read", () => {
  test("has no copies, and reports every catalog as missing", () => {
    const { catalogs } = createCatalogs(() => envelope([newark]));
    expect(catalogs.list("datacenter")).toBeUndefined();
    expect(catalogs.isLoaded("datacenter")).toBe(false);
    expect(catalogs.missing()).toContain("datacenter: not read yet");
  });

  test("shares one read among concurrent callers (L-27)", async () => {
    const { catalogs, calls } = createCatalogs(() => envelope([newark]));
    await Promise.all([catalogs.refresh(), catalogs.refresh(), catalogs.refresh()]);
    expect(calls()).toHaveLength(1);
    expect(catalogs.missing()).toEqual([]);
  });
});

describe("an invalid catalog response", () => {
  test.each<[string, Say]>([
    ["HTML", () => ({ text: "<html>" })],
    ["nothing", () => ({ text: "" })],
    ["null", () => ({ text: "null" })],
    ["a list without an envelope", () => ({ text: JSON.stringify([newark]) })],
    ["a 500", () => ({ status: 500, text: "" })],
    ["a 404", () => ({ status: 404, text: "{}" })],
    ["a redirect", () => ({ status: 302, text: "" })],
    ["a list behind a redirect", () => ({ ...envelope([newark]), status: 302 })],
    ["pages without an end", () => envelope([newark], Number.MAX_SAFE_INTEGER)],
    ["ten thousand levels", () => ({ text: "[".repeat(10_000) })],
    ["no connection", () => Promise.reject(new UpstreamError("unreachable", "refused"))],
  ])("is reported as not ready with a reason, and other catalogs are read: %s", async (_name, say) => {
    const { catalogs, calls, faults } = createCatalogs(say);
    await catalogs.refresh();
    expect(catalogs.list("datacenter")).toBeUndefined();
    expect(catalogs.missing()).toEqual([expect.stringMatching(/^datacenter: ./)]);
    expect(faults).toHaveLength(1);
    expect(calls().length).toBeLessThanOrEqual(100);
    expect(catalogs.isLoaded("kernel")).toBe(true);
  });

  test.each<[object, object, unknown, string]>([
    [
      { data: "$items", meta: { page: { total: "$total" } } },
      {},
      { data: [] },
      '"meta.page.total" is missing',
    ],
    [
      { $list: "$items", more: "$has_more" },
      {},
      { books: 5, more: "yes" },
      '"books" is no array, "more" is no valid value',
    ],
    [{ $list: "$items", of: "$total" }, { empty_list: "omitted" }, { of: "5" }, '"of" is no valid value'],
    ["$items" as never, {}, { data: [] }, "the response is no array"],
    [
      "$items" as never,
      { item: { book: "$object" } },
      [{ id: "a" }],
      "an item is not in the wrapper of items",
    ],
  ])("names what it lacks of the shape %j %j: %j", async (list, others, body, fault) => {
    const folder = writeSmallPack({
      upstream: { responses: { list, ...others } },
      book: {
        catalog: { upstream: [{ request: "GET /items" }], stub: '{ "id": $id }' },
        routes: [{ client: "GET /books", catalog: true, response: "list" }],
      },
    });
    const bytes = Buffer.from(JSON.stringify(body));
    const upstream = {
      call: async () => ({ status: 200, headers: {}, bytes, ms: 0 }),
      close: async () => undefined,
    };
    const faults: string[] = [];
    catalogs = connectCatalogs(loadPack(folder), upstream, 600, (_name, message) => faults.push(message));
    await catalogs.refresh();
    expect(faults).toEqual([`upstream responded without a list of the shape in the pack: ${fault}`]);
  });

  test("keeps the previous copy, which is ready", async () => {
    let broken = false;
    const { catalogs, faults } = createCatalogs(() =>
      broken ? { status: 500, text: "" } : envelope([newark]),
    );
    await catalogs.refresh();
    const before = labels();
    broken = true;
    await catalogs.refresh();
    expect(faults).toHaveLength(1);
    expect(labels()).toEqual(before);
    expect(catalogs.missing()).toEqual([]);
  });

  test("is a catalog whose second page fails", async () => {
    const { catalogs } = createCatalogs(({ path }) =>
      path.includes("page=1&") ? envelope([newark], 2) : { status: 500, text: "" },
    );
    await catalogs.refresh();
    expect(catalogs.isLoaded("datacenter")).toBe(false);
  });
});

describe("catalog rows", () => {
  test("are skipped if they are invalid, have no id or occur twice", async () => {
    const { catalogs } = createCatalogs(() =>
      envelope([
        null,
        7,
        "us-east",
        [],
        {},
        { id: 7 },
        { id: null },
        newark,
        { ...newark, country: "second" },
      ]),
    );
    await catalogs.refresh();
    expect(catalogs.find("datacenter", "us-east")?.object).toMatchObject({ country: "us" });
    expect(labels()?.filter((id) => id === "newark")).toHaveLength(1);
  });

  test.each(["__proto__", "constructor", "toString", "", "a/../b"])(
    "with the id %j change no other row",
    async (id) => {
      const { catalogs } = createCatalogs(() => ({
        text: `{"data":[{"id":${JSON.stringify(id)},"country":"x","__proto__":{"country":"y"}}],"page":1,"pages":1,"results":1}`,
      }));
      await catalogs.refresh();
      expect(catalogs.isLoaded("datacenter")).toBe(true);
      expect(catalogs.find("datacenter", "hasOwnProperty")).toBeUndefined();
      expect(({} as { country?: string }).country).toBeUndefined();
    },
  );
});

describe("a row on which an expression of the pack fails", () => {
  const small = writeSmallPack({
    book: {
      catalog: { upstream: [{ request: "GET /items" }], stub: "{ 'id': $id }", with_token: "$not(name < 1)" },
      fields: { id: "id", title: { read: "name & $string($number(name) + 1)" } },
    },
  });
  const ids = () => catalogs?.list("book")?.map(({ object }) => object["id"]);

  test("is left out and reported; the catalog has all others and is ready", async () => {
    const rows = [
      { id: "a", name: "1" },
      { id: "b", name: "one" },
      { id: "c", name: "two" },
      { id: "d", name: "4" },
    ];
    const call = async (): Promise<HttpResponse> => ({
      status: 200,
      headers: {},
      bytes: Buffer.from(JSON.stringify(rows)),
      ms: 1,
    });
    const faults: string[] = [];
    const leftOut: string[] = [];
    catalogs = connectCatalogs(
      loadPack(small),
      { call, close: async () => {} },
      600,
      (name, message) => faults.push(`${name}: ${message}`),
      undefined,
      (name, { count, id, message }) => leftOut.push(`${name}: ${count} from ${id}: ${message}`),
    );
    await catalogs.refresh();
    expect(catalogs.missing()).toEqual([]);
    expect(ids()).toEqual(["a", "d"]);
    expect(faults).toEqual([]);
    expect(leftOut).toEqual([expect.stringMatching(/^book: 2 from b: book\.yaml:\d+/)]);
    expect(catalogs.leftOut().get("book")?.count).toBe(2);
    rows.splice(1, 2);
    await catalogs.refresh();
    expect(ids()).toEqual(["a", "d"]);
    expect(catalogs.leftOut()).toEqual(new Map());
  });
});

describe("the previous copy of a catalog is kept where a limit is passed by", () => {
  const row = (id: number, filler = "") => ({ id: `r${id}`, filler });
  const rows = (count: number, filler = "") => Array.from({ length: count }, (_, id) => row(id, filler));

  test.each<[string, Say, RegExp]>([
    ["a page", () => envelope([row(1, "x".repeat(1024 * 1024))]), /page has more than/],
    ["pages without end", () => envelope(rows(100), 1000), /more than 100 pages/],
    ["all pages together", () => envelope(rows(100, "x".repeat(9000)), 50), /it has more than \d+ bytes/],
    ["the number of its items", () => envelope(rows(10_001)), /more than 10000 items/],
    [
      "the number of items that are not objects",
      () => envelope(Array.from({ length: 20_000 }, () => 0)),
      /items/,
    ],
  ])("%s", async (_name, say, reason) => {
    let hostile = false;
    const { catalogs, calls, faults } = createCatalogs((call) => (hostile ? say(call) : envelope([newark])));
    await catalogs.refresh();
    const before = labels();
    hostile = true;
    await catalogs.refresh();
    expect(faults).toEqual([expect.stringMatching(reason)]);
    expect(calls().length).toBeLessThanOrEqual(101);
    expect(labels()).toEqual(before);
  });
});

describe("reading catalogs with clients' tokens", () => {
  const image = { id: "vm/debian9", label: "Debian 9", is_public: true };
  const privateImage = { id: "vm/own", label: "My own", is_public: false };
  const UNKNOWN = { status: 401, text: "{}" };

  /** Catalog caches of a v4 with the given lists, by token. */
  function createCatalogsByToken(
    list: string,
    say: (token: string | undefined) => ReturnType<Say>,
    ttlSeconds = 600,
  ) {
    const tokens: (string | undefined)[] = [];
    const faults: string[] = [];
    const call = async ({ path, headers }: HttpRequest): Promise<HttpResponse> => {
      const asked = path.startsWith(list);
      if (asked) tokens.push(headers["authorization"]);
      const { status = 200, text } = asked ? await say(headers["authorization"]) : envelope([]);
      return { status, headers: {}, bytes: Buffer.from(text), ms: 1 };
    };
    const upstream = { call, close: async () => {} };
    const cache = connectCatalogs(pack, upstream, ttlSeconds, (name, message) =>
      faults.push(`${name}: ${message}`),
    );
    catalogs = cache;
    return { catalogs: cache, tokens, faults };
  }
  const images = (cache: CatalogCache) => cache.list("distribution")?.map(({ object }) => object["id"]);

  test("a public catalog is never read with one, and is read again without", async () => {
    let closed = true;
    const { catalogs, tokens } = createCatalogsByToken("/v4/regions", () =>
      closed ? UNKNOWN : envelope([newark]),
    );
    await catalogs.refresh();
    await catalogs.refreshWith("hash", bearer("good"));
    expect(tokens).toEqual([undefined]);
    expect(catalogs.missing()).toEqual([expect.stringMatching(/^datacenter: /)]);
    closed = false;
    await catalogs.refresh();
    expect({ tokens, loaded: catalogs.isLoaded("datacenter") }).toEqual({
      tokens: [undefined, undefined],
      loaded: true,
    });
  });

  test("of a private catalog only public rows are cached", async () => {
    const { catalogs } = createCatalogsByToken("/v4/images", (token) =>
      token ? envelope([image, privateImage]) : UNKNOWN,
    );
    await catalogs.refresh();
    expect(catalogs.missing()).toEqual([]);
    await catalogs.refreshWith("hash", bearer("good"));
    expect(images(catalogs)).toEqual(["vm/debian9"]);
  });

  test("the warning about a private catalog says that a client's token reads it", async () => {
    const { catalogs, faults } = createCatalogsByToken("/v4/images", () => UNKNOWN);
    await catalogs.refresh();
    expect(faults).toEqual([
      "distribution: v4 does not show it without a token: it is read with a client's token",
    ]);
  });

  test("one 401 does not make a catalog private: it is read again without a token", async () => {
    let closed = true;
    const other = { ...image, id: "vm/debian10" };
    const { catalogs, tokens } = createCatalogsByToken("/v4/images", (token) =>
      closed && token === undefined ? UNKNOWN : envelope([token === undefined ? other : image]),
    );
    await catalogs.refresh();
    await catalogs.refreshWith("hash", bearer("good"));
    closed = false;
    await catalogs.refresh();
    expect(images(catalogs)).toEqual(["vm/debian10"]);
    await catalogs.refreshWith("hash", bearer("good"));
    expect(tokens).toEqual([undefined, "Bearer good", undefined]);
  });

  test("a token that cannot read a catalog uses no attempt of another, and is not tried again at once", async () => {
    const { catalogs, tokens } = createCatalogsByToken("/v4/images", (token) =>
      token === "Bearer good" ? envelope([image]) : UNKNOWN,
    );
    await catalogs.refresh();
    await Promise.all([
      catalogs.refreshWith("hash1", bearer("bad")),
      catalogs.refreshWith("hash1", bearer("bad")),
      catalogs.refreshWith("hash2", bearer("good")),
    ]);
    await catalogs.refreshWith("hash1", bearer("bad"));
    await catalogs.refreshWith("hash2", bearer("good"));
    expect(images(catalogs)).toEqual(["vm/debian9"]);
    expect(tokens).toEqual([undefined, "Bearer bad", "Bearer good"]);
  });
});

describe("catalogs after a failed read", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each([
    ["it is retried automatically", false, 2],
    ["it is not, once stopped", true, 1],
  ])("%s", async (_name, stop, reads) => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    const { catalogs, calls } = createCatalogs(() => ({ status: 500, text: "" }));
    await catalogs.refresh();
    if (stop) catalogs.stop();
    await jest.advanceTimersByTimeAsync(3000);
    expect(calls()).toHaveLength(reads);
  });

  test("are not read again once the cache is stopped", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    const { catalogs, calls } = createCatalogs(() => ({ status: 500, text: "" }));
    const reading = catalogs.refresh();
    catalogs.stop();
    await reading;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(calls()).toHaveLength(1);
  });
});
