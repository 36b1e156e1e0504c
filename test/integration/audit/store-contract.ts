import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  AuditUnavailableError,
  type AuditDurability,
  type AuditQuery,
  type AuditStore,
} from "../../../src/audit/store.ts";
import { exportTexts } from "../../../src/audit/export/export-records.ts";
import { incompressible, sampleId, sampleRecord } from "./sample-record.ts";

/** An implementation under test: `open` gives a store over the same, at first empty, place each time. */
export interface StorePlace {
  readonly open: (durability: AuditDurability, sizeLimit?: number) => Promise<AuditStore>;
  readonly remove: () => Promise<void>;
}

/** What every audit store has to do. Strict stores are used where a test needs to know of the commit. */
export function testAuditStore(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`the audit store in ${name}`, () => {
    let place: StorePlace;
    let store: AuditStore;

    beforeEach(async () => {
      place = await makePlace();
      store = await place.open("strict");
    });

    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    async function fill(count: number): Promise<void> {
      await Promise.all(
        Array.from({ length: count }, async (_, n) => store.append(sampleRecord(sampleId(n)))),
      );
    }

    async function ids(query: AuditQuery): Promise<string[]> {
      return (await store.query(query)).records.map((record) => record.id);
    }

    test("returns a record, alone and in a page", async () => {
      const record = sampleRecord(sampleId(1));
      await store.append(record);
      expect(await store.get(record.id)).toEqual(record);
      expect(await store.query({})).toEqual({ records: [record], next: null });
    });

    test("counts all requests that one record stands for", async () => {
      await store.append({ ...sampleRecord(sampleId(1), { status: 420 }), requests: 99 });
      await store.append(sampleRecord(sampleId(2), { status: 420 }));
      expect(await store.usage({})).toMatchObject([{ status: 420, requests: 100 }]);
      expect((await store.get(sampleId(1)))?.requests).toBe(99);
    });

    test("has no records of unknown ids", async () => {
      expect(await store.get("no-such-id")).toBeUndefined();
      expect(await store.query({})).toEqual({ records: [], next: null });
    });

    test("returns the newest 50 by default, and at most 500", async () => {
      await fill(502);
      expect(await ids({})).toHaveLength(50);
      expect(await ids({ limit: 5000 })).toHaveLength(500);
      expect((await ids({ limit: 2 })).toSorted()).toEqual([sampleId(500), sampleId(501)]);
    });

    test.each([0, 1, 2, 25])("pages through %i records while others are added", async (count) => {
      await fill(count);
      const seen: string[] = [];
      let next: string | null | undefined;
      let late = 1000;
      do {
        const page = await store.query({ limit: 2, ...(next && { before: next }) });
        seen.push(...page.records.map((record) => record.id));
        next = page.next;
        await store.append(sampleRecord(sampleId((late += 1))));
      } while (next);
      expect(seen).toEqual(Array.from({ length: count }, (_, n) => sampleId(count - 1 - n)));
    });

    describe("filters", () => {
      beforeEach(async () => {
        await store.append(
          sampleRecord("a", { time: "2026-01-01T00:00:00.000Z", client: null, route: null, status: 404 }),
        );
        await store.append(
          sampleRecord("b", { time: "2026-01-02T00:00:00.000Z", client: "c1", status: 420 }),
        );
        await store.append(
          sampleRecord("c", { time: "2026-01-03T00:00:00.000Z", client: "c1", route: "POST /x" }),
        );
        await store.append(
          sampleRecord("d", { time: "2026-01-04T00:00:00.000Z", client: "c2", route: "POST /x" }),
        );
      });

      test.each<[string, AuditQuery, string]>([
        ["by client", { client: "c1" }, "cb"],
        ["by route", { route: "POST /x" }, "dc"],
        ["by status", { status: 420 }, "b"],
        ["from a moment on", { since: "2026-01-03T00:00:00.000Z" }, "dc"],
        ["to a moment, without it", { until: "2026-01-03T00:00:00.000Z" }, "ba"],
        [
          "by all at once",
          { client: "c1", route: "POST /x", status: 200, since: "2026-01-01T00:00:00.000Z" },
          "c",
        ],
        ["to nothing", { client: "c1' OR '1'='1" }, ""],
      ])("by %s", async (_, query, found) => expect((await ids(query)).join("")).toBe(found));

      test("by a cursor and a time, whichever is earlier", async () => {
        const until = "2026-01-03T00:00:00.000Z";
        const cursor = async (query: AuditQuery) => (await store.query({ ...query, limit: 1 })).next ?? "";
        expect(await ids({ until, before: await cursor({ until }) })).toEqual(["a"]);
        expect(await ids({ until, before: await cursor({}) })).toEqual(["b", "a"]);
      });

      test("and pages the filtered records", async () => {
        const first = await store.query({ client: "c1", limit: 1 });
        expect(first).toMatchObject({ records: [{ id: "c" }], next: expect.any(String) });
        expect(await store.query({ client: "c1", limit: 1, before: first.next ?? "" })).toMatchObject({
          records: [{ id: "b" }],
          next: null,
        });
      });
    });

    test("finds rare records among thousands, newest first, whenever they were added", async () => {
      const records = Array.from({ length: 4000 }, (_, n) =>
        sampleRecord(sampleId(n), {
          // Each hundredth is of a request that began an hour before.
          time: new Date(Date.UTC(2026, 0, 1, 10, 0, 0, n) - (n % 100 === 0 ? 3_600_000 : 0)).toISOString(),
          client: n % 1300 === 0 ? "rare" : `c${n % 3}`,
          route: n % 900 === 0 ? null : `GET /${n % 7}`,
          status: n % 50 === 0 ? 404 : 200,
        }),
      );
      await Promise.all(records.map(async (record) => store.append(record)));
      const since = "2026-01-01T10:00:01.000Z";
      const queries: AuditQuery[] = [
        { client: "rare" },
        { client: "rare", status: 404 },
        { client: "c1", status: 404 },
        { client: "c2", route: "GET /3", status: 404 },
        { route: "GET /5", status: 404, since },
        { status: 404 },
        { status: 404, until: since },
        { status: 500 },
        { route: "GET /" },
      ];
      for (const query of queries) {
        const matching = records
          .filter(
            ({ time, client, alpha: { route, status } }) =>
              (query.client ?? client.fingerprint) === client.fingerprint &&
              (query.route ?? route) === route &&
              (query.status ?? status) === status &&
              (query.since ?? time) <= time &&
              (query.until ?? "3") > time,
          )
          .toSorted((one, other) => (one.time < other.time ? 1 : -1));
        const found: string[] = [];
        let next: string | null | undefined;
        do {
          const page = await store.query({ ...query, limit: 30, ...(next && { before: next }) });
          found.push(...page.records.map(({ id }) => id));
          next = page.next;
        } while (next);
        expect(found).toEqual(matching.map(({ id }) => id));
        expect(await store.count(query)).toBe(matching.length);
      }
    });

    describe("usage counts", () => {
      const day = (n: number, hour = 10): string => `2026-01-0${n}T${hour}:00:00.000Z`;

      beforeEach(async () => {
        const records = [
          sampleRecord("a", { time: day(1), client: "c1", agent: "old/1" }),
          sampleRecord("b", { time: day(1, 12), client: "c1", status: 404, losses: [] }),
          sampleRecord("c", { time: day(2), client: "c1", agent: "new/2" }),
          sampleRecord("d", { time: day(3), client: "c1", lane: "native", route: null, losses: [] }),
          sampleRecord("e", { time: day(3), client: null, route: null, status: 401, losses: [] }),
        ];
        // Newest first, so that records arrive late. They count all the same.
        for (const record of records.toReversed()) await store.append(record);
      });

      test("list clients by number of requests, with their latest user agent", async () => {
        expect(await store.clients({})).toEqual([
          {
            client: "c1",
            userAgent: "sample/1.0",
            requests: 4,
            errors: 1,
            native: 1,
            lossy: 2,
            first: day(1),
            last: day(3),
          },
          expect.objectContaining({ client: null, requests: 1, errors: 1, native: 0 }),
        ]);
        expect(await store.clients({ until: day(3, 0).replace("T0:", "T00:") })).toMatchObject([
          { client: "c1", userAgent: "new/2", requests: 3 },
        ]);
        expect(await store.clients({ limit: 1 })).toHaveLength(1);
      });

      test("list a client's calls by number of requests, each with a record", async () => {
        const [most, ...others] = await store.usage({ client: "c1" });
        expect(most).toEqual({
          client: "c1",
          lane: "alpha",
          route: "GET /vm/instances",
          status: 200,
          requests: 2,
          lossy: 2,
          first: day(1),
          last: day(2),
          sample: "c",
        });
        expect(others.map(({ sample }) => sample).toSorted()).toEqual(["b", "d"]);
        expect(await store.usage({ client: null })).toMatchObject([{ client: null, sample: "e" }]);
        expect(await store.usage({})).toHaveLength(4);
      });

      test("list days", async () => {
        const counts = { alpha: 1, native: 0, errors: 0, lossy: 1, alphaClients: 1 };
        expect(await store.days({})).toEqual([
          { ...counts, day: "2026-01-01", alpha: 2, errors: 1 },
          { ...counts, day: "2026-01-02" },
          { ...counts, day: "2026-01-03", native: 1, errors: 1, lossy: 0 },
        ]);
        expect(await store.days({ client: "c1", since: day(2, 23) })).toHaveLength(2);
      });

      test("count a record once if it is added twice", async () => {
        await store.append(sampleRecord("a", { time: day(1), client: "c1" }));
        expect(await store.clients({ limit: 1 })).toMatchObject([{ requests: 4 }]);
        expect(await store.count({})).toBe(5);
        expect(await store.count({ client: "c1", status: 200, limit: 1 })).toBe(3);
      });
    });

    describe("size limits", () => {
      /** Opens it again with a limit: what is too much is deleted at the start. */
      async function reopen(sizeLimit: number): Promise<void> {
        await store.close();
        store = await place.open("strict", sizeLimit);
      }
      async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
        while (!(await condition())) await new Promise((done) => setTimeout(done, 20));
      }

      test("count tokens that v4 never accepted as one client, under a truncated user agent", async () => {
        const refused = { accepted: false, status: 420, agent: "é".repeat(4000) };
        await Promise.all(
          Array.from({ length: 300 }, async (_, n) =>
            store.append(sampleRecord(sampleId(n), { ...refused, client: `client-${n}` })),
          ),
        );
        expect(await store.clients({})).toMatchObject([
          { client: "unaccepted", requests: 300, errors: 300, userAgent: "é".repeat(100) },
        ]);
        expect(await store.usage({ client: "unaccepted" })).toHaveLength(1);
        expect(await store.count({ client: "client-7" })).toBe(1);
      });

      test("count requests before v4 accepted a token as the client's, and keep the others shared", async () => {
        const before = { accepted: false, status: 200, agent: "early/1" };
        for (const [id, client] of Object.entries({ a: "c1", b: "c1", c: "made-up" }))
          await store.append(sampleRecord(id, { ...before, client }));
        await store.append(sampleRecord("d", { ...before, client: "c1", status: 404, losses: [] }));
        expect(await store.clients({})).toMatchObject([{ client: "unaccepted", requests: 4 }]);
        await store.append(
          sampleRecord("e", { client: "c1", accepted: true, time: "2026-03-01T10:00:01.000Z" }),
        );
        expect(await store.clients({})).toMatchObject([
          { client: "c1", requests: 4, errors: 1, lossy: 3, userAgent: "sample/1.0" },
          { client: "unaccepted", requests: 1, errors: 0, lossy: 1 },
        ]);
        expect(await store.usage({ client: "unaccepted" })).toMatchObject([{ status: 200, requests: 1 }]);
        await store.append(sampleRecord("f", { client: "made-up", accepted: true }));
        expect((await store.clients({})).map(({ client }) => client)).toEqual(["c1", "made-up"]);
      });

      test("delete rejected requests of callers without an accepted token first, even if they are new", async () => {
        const put = async (id: string, day: number, varied: object): Promise<void> =>
          store.append({
            ...sampleRecord(id, { time: `2026-01-0${day}T10:00:00.000Z`, ...varied }),
            warnings: [incompressible(27_000)],
          });
        const ranks: readonly [name: string, day: number, varied: object][] = [
          ["real", 1, { client: "c1", accepted: true }],
          ["completed", 2, { client: null, status: 200 }],
          ["made-up", 3, { accepted: false, status: 401 }],
          ["nobody", 4, { client: null, status: 401 }],
        ];
        for (const [name, day, varied] of ranks)
          await Promise.all(
            Array.from({ length: 30 }, async (_, n) =>
              put(`${name}-${n}`, day, { client: `${name}-${n}`, ...varied }),
            ),
          );
        const left = async (): Promise<string[]> => [
          ...new Set((await store.query({ limit: 500 })).records.map(({ id }) => id.replace(/-\d+$/, ""))),
        ];
        await reopen(1_100_000);
        await until(async () => store.stats().evicted > 0);
        expect(await left()).toEqual(["completed", "real"]);
        await reopen(500_000);
        await until(async () => store.stats().evicted > 0);
        expect(await left()).toEqual(["real"]);
      });

      test("count requests with a token that was accepted before as the client's", async () => {
        await store.append(sampleRecord("a", { client: "c1", accepted: true }));
        await store.append(sampleRecord("b", { client: "c1", accepted: false, status: 401 }));
        expect(await store.clients({})).toMatchObject([{ client: "c1", requests: 2, errors: 1 }]);
      });

      test("delete summaries by their value, and no records for them", async () => {
        const old = { time: "2026-02-01T10:00:00.000Z" };
        await Promise.all([
          ...Array.from({ length: 600 }, async (_, n) =>
            store.append(sampleRecord(`o${n}`, { ...old, client: `o${n}` })),
          ),
          ...Array.from({ length: 600 }, async (_, n) =>
            store.append(sampleRecord(`n${n}`, { client: `n${n}` })),
          ),
          ...Array.from({ length: 600 }, async (_, n) =>
            store.append(sampleRecord(`e${n}`, { client: `e${n}`, status: 404 })),
          ),
          ...Array.from({ length: 3 }, async (_, n) =>
            store.append(sampleRecord(`b${n}`, { ...old, client: "busy" })),
          ),
        ]);
        await reopen(8_000_000);
        await until(async () => (await store.usage({})).length <= 1000);
        const clients = (await store.clients({})).map(({ client }) => client ?? "");
        expect(clients).toHaveLength(1000);
        expect(clients).toContain("busy");
        expect(clients.filter((client) => client.startsWith("n"))).toHaveLength(600);
        expect(clients.filter((client) => client.startsWith("o"))).toHaveLength(399);
        expect(await store.count({})).toBe(1803);
        expect(store.stats().evicted).toBe(0);
      });

      test("cut the client with the largest share first, its bodies before its records, and no other client", async () => {
        const day = (n: number): string => `2026-01-0${n}T10:00:00.000Z`;
        const put = async (id: string, client: string, time: string, length: number): Promise<void> => {
          const record = sampleRecord(id, { client, accepted: true, time, status: 400 });
          const warnings = [incompressible(length / 12)];
          await store.append({
            ...record,
            warnings,
            alpha: { ...record.alpha, body: incompressible(length) },
          });
        };
        for (let n = 0; n < 5; n += 1) await put(`quiet-${n}`, "quiet", day(1), 10_000);
        for (let n = 0; n < 40; n += 1)
          await Promise.all([
            ...Array.from({ length: 3 }, async (_, m) => put(`flood-${n}-${m}`, "flood", day(2), 60_000)),
            ...(n % 10 === 0 ? [put(`late-${n}`, "late", day(2), 10_000)] : []),
          ]);
        const before = await store.usage({});
        const read = async (client: string) => (await store.query({ client, limit: 500 })).records;
        const others = [...(await read("quiet")), ...(await read("late"))];
        expect(others).toHaveLength(9);

        await reopen(1_500_000);
        await until(async () => JSON.stringify(await read("flood")).length < 1_900_000);
        const flood = await read("flood");
        // Without their bodies the records are small.
        expect(flood).toHaveLength(120);
        expect(store.stats().evicted).toBe(0);
        expect(flood.at(-1)?.alpha.body).toMatchObject({ truncated: true, bytes: null });
        expect(flood.at(-1)).toMatchObject({ id: "flood-0-0", alpha: { method: "GET", status: 400 } });
        expect(flood[0]?.alpha.body).toHaveLength(60_000);

        await reopen(500_000);
        await until(async () => store.stats().evicted > 0);
        const left = await read("flood");
        expect(left.length).toBeLessThan(120);
        expect(left.map(({ id }) => id)).toContain(flood[0]?.id);
        expect([...(await read("quiet")), ...(await read("late"))]).toEqual(others);
        expect(await store.usage({})).toEqual(before);
      });

      test("spare a quiet client while six others flood, none of them with a quarter", async () => {
        const put = async (id: string, client: string): Promise<void> => {
          const record = sampleRecord(id, { client, accepted: true, status: 400 });
          await store.append({ ...record, warnings: [incompressible(10_000)] });
        };
        for (let n = 0; n < 10; n += 1)
          await Promise.all([
            ...Array.from({ length: 24 }, (_, m) => put(`flood-${n}-${m}`, `flood-${m % 6}`)),
            put(`quiet-${n}`, "quiet"),
          ]);
        const quiet = async () => (await store.query({ client: "quiet", limit: 500 })).records;
        const before = await quiet();
        expect(before).toHaveLength(10);
        await reopen(900_000);
        await until(async () => store.stats().evicted > 100);
        expect(await quiet()).toEqual(before);
      });

      test("count records that are deleted before their retention ends", async () => {
        await Promise.all(
          Array.from({ length: 150 }, async (_, n) =>
            store.append({ ...sampleRecord(sampleId(n)), warnings: [incompressible(27_000)] }),
          ),
        );
        await reopen(1_500_000);
        await until(async () => store.stats().evicted > 0);
        const left = await store.count({});
        expect(left).toBeGreaterThan(40);
        expect(store.stats().evicted).toBe(150 - left);
        expect(await store.get(sampleId(0))).toBeUndefined();
        expect(await store.get(sampleId(149))).toBeDefined();
      });
    });

    test("keeps a record once if it is added twice", async () => {
      await store.append(sampleRecord("x"));
      await store.append(sampleRecord("x", { status: 500 }));
      expect(await store.query({})).toMatchObject({ records: [{ alpha: { status: 200 } }] });
    });

    test.each<[string, Record<string, unknown>]>([
      ["without a member", { timings: undefined }],
      ["with a member of another type", { warnings: "none" }],
      ["with a call of another form", { v4: [{ path: "/v4/vm/instances" }] }],
    ])(
      "leaves a damaged record out of a page and of an export as CSV, and does not return it alone: %s",
      async (_, damage) => {
        await store.append({ ...sampleRecord(sampleId(1)), ...damage });
        await store.append(sampleRecord(sampleId(2)));
        expect(await ids({})).toEqual([sampleId(2)]);
        const reading = store.get(sampleId(1));
        await expect(reading).rejects.toThrow(AuditUnavailableError);
        await expect(reading).rejects.toThrow("a record is damaged");

        const damaged: number[] = [];
        const onDamaged = (records: number): void => void damaged.push(records);
        const options = { format: "csv", query: {}, filterHeader: undefined, onDamaged } as const;
        const exported = (await Array.fromAsync(exportTexts(store, options))).join("");
        expect(exported.match(/^id-\d{6}/gm)).toEqual([sampleId(2)]);
        expect(damaged).toEqual([1]);
      },
    );

    test("rejects invalid records and continues", async () => {
      const cyclic: Record<string, unknown> = {};
      cyclic["self"] = cyclic;
      const record = sampleRecord("x");
      await expect(store.append({ ...record, alpha: { ...record.alpha, body: cyclic } })).rejects.toThrow(
        "serialised as JSON",
      );
      await store.append(sampleRecord("y"));
      expect(store.stats()).toMatchObject({ queued: 0, dropped: 1, written: 1, errors: 0, evicted: 0 });
      expect(store.ready()).toBe(true);
    });

    test("returns a page of large records in parts", async () => {
      const large = "x".repeat(6 * 1024 * 1024);
      for (const id of ["a", "b", "c"]) await store.append({ ...sampleRecord(id), warnings: [large] });
      const first = await store.query({ limit: 3 });
      expect(first.records.map(({ id }) => id)).toEqual(["c", "b"]);
      const rest = await store.query({ limit: 3, before: first.next ?? "" });
      expect(rest).toMatchObject({ records: [{ id: "a" }], next: null });
    });

    test("keeps text with characters that databases treat specially", async () => {
      const text = "\u0000 \ud800 \u2028 ' \" \\ 😀";
      const record = sampleRecord("x");
      await store.append({
        ...record,
        client: { ...record.client, userAgent: "a\u0000b" },
        warnings: [text],
      });
      expect(await store.get("x")).toMatchObject({ warnings: [text] });
    });

    test("commits pending records on close (relaxed)", async () => {
      await store.close();
      const relaxed = await place.open("relaxed");
      for (let n = 0; n < 2500; n += 1) expect(relaxed.append(sampleRecord(sampleId(n)))).toBeUndefined();
      expect(relaxed.stats().queued).toBeGreaterThan(0);
      await relaxed.close();
      expect(relaxed.stats()).toMatchObject({ queued: 0, dropped: 0, written: 2500, errors: 0, evicted: 0 });
      store = await place.open("strict");
      expect(await store.get(sampleId(0))).toBeDefined();
      expect(await store.get(sampleId(2499))).toBeDefined();
    });

    test("rejects all calls after close, and can be closed twice", async () => {
      await store.close();
      await store.close();
      await expect(store.append(sampleRecord("x"))).rejects.toThrow("closed");
      await expect(store.query({})).rejects.toThrow("audit store");
      await expect(store.get("x")).rejects.toThrow("audit store");
      expect(store.ready()).toBe(false);
    });
  });
}
