import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  AuditUnavailableError,
  type AuditDurability,
  type AuditQuery,
  type AuditStore,
  type StoreOptions,
} from "../../../src/audit/store/store.ts";
import { RECORD_FILTERS, type RecordFilter } from "../../../src/audit/queries/read-query.ts";
import { exportTexts } from "../../../src/audit/export/export-records.ts";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { NumberedNames } from "../../../src/audit/record/numbered-names.ts";
import type { UsageQuery } from "../../../src/audit/usage/usage.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incompressible, sampleId, sampleRecord } from "../record/sample-record.ts";

/** An implementation under test: `open` gives a store over the same, at first empty, place each time. */
export interface StorePlace {
  readonly open: (durability: AuditDurability, limits?: Limits) => Promise<AuditStore>;
  readonly remove: () => Promise<void>;
}

type Limits = Partial<
  Pick<
    StoreOptions,
    | "retentionDays"
    | "usageRetentionDays"
    | "sizeLimit"
    | "summaryRows"
    | "summaryTokens"
    | "namedClients"
    | "onTooManyClients"
    | "onRefused"
    | "clock"
  >
>;

/** Nothing is too old or too much, also in some years. */
export const UNLIMITED = { retentionDays: 36_500, usageRetentionDays: 36_500, sizeLimit: 1e12 } as const;

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

    test("stores records whose texts have U+0000 and halves of pairs", async () => {
      const odd = (text: string): string => `\ud800${text}\u0000\udc00`;
      const sample = sampleRecord("a", { client: odd("client"), route: odd("route") });
      for (const accepted of [false, true]) {
        const id = odd(`id-${accepted}`);
        const label = accepted ? { label: odd("label") } : { application: odd("application") };
        await store.append({
          ...sample,
          id,
          requestId: odd("request"),
          client: { ...sample.client, ...label, accepted, userAgent: odd("agent") },
          sent: new NumberedNames([odd("name")], Buffer.from([0x80])),
          lost: new NumberedNames([odd("loss")], Buffer.from([0x80])),
        });
      }
      expect(store.ready()).toBe(true);
      expect(await ids({ client: odd("client") })).toHaveLength(2);
      expect(await store.usage({ client: `label:${odd("label")}` })).toMatchObject([{ requests: 2 }]);
    });

    describe("a record that the database refuses", () => {
      const refused = sampleRecord(sampleId(7), { status: "none" as unknown as number });
      const records = Array.from({ length: 20 }, (_, n) => (n === 7 ? refused : sampleRecord(sampleId(n))));
      const others = records.filter((record) => record !== refused).map(({ id }) => id);

      test("is the only one that is rejected (strict)", async () => {
        const results = await Promise.allSettled(records.map(async (record) => store.append(record)));
        expect(results.flatMap(({ status }, n) => (status === "rejected" ? [n] : []))).toEqual([7]);
        expect((await ids({})).toSorted()).toEqual(others);
        expect(store.ready()).toBe(true);
        expect(store.stats()).toMatchObject({ written: 19, dropped: 1, queued: 0, errors: 0 });
      });

      test("is the only one that is lost, and is reported once (relaxed)", async () => {
        const reported: string[] = [];
        await store.close();
        store = await place.open("relaxed", { onRefused: (requestId) => void reported.push(requestId) });
        for (const record of records) void store.append(record);
        while (store.stats().written < 19) await new Promise((done) => setTimeout(done, 20));
        expect((await ids({})).toSorted()).toEqual(others);
        expect(reported).toEqual([refused.requestId]);
        expect(store.ready()).toBe(true);
        expect(store.stats()).toMatchObject({ written: 19, dropped: 1, queued: 0, errors: 0 });
      });
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

      const byEach: Readonly<Record<RecordFilter, readonly [AuditQuery, found: string]>> = {
        client: [{ client: "c1" }, "cb"],
        lane: [{ lane: "native" }, ""],
        route: [{ route: "POST /x" }, "dc"],
        status: [{ status: 420 }, "b"],
        since: [{ since: "2026-01-03T00:00:00.000Z" }, "dc"],
        until: [{ until: "2026-01-03T00:00:00.000Z" }, "ba"],
      };

      test.each<[string, AuditQuery, string]>([
        ...RECORD_FILTERS.map((name): [string, AuditQuery, string] => [name, ...byEach[name]]),
        [
          "all at once",
          { client: "c1", route: "POST /x", status: 200, since: "2026-01-01T00:00:00.000Z" },
          "c",
        ],
        ["a client that nobody has", { client: "c1' OR '1'='1" }, ""],
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
          ...(n % 700 === 0 && { lane: "native" as const, route: null }),
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
        { lane: "native" },
        { lane: "alpha", status: 404 },
        { lane: "native", client: "c1", status: 404 },
        { clients: ["rare", "c1"], status: 404 },
      ];
      for (const query of queries) {
        const matching = records
          .filter(
            ({ time, lane, client, alpha: { route, status } }) =>
              (query.client ?? client.fingerprint) === client.fingerprint &&
              (query.clients?.includes(client.fingerprint ?? "") ?? true) &&
              (query.lane ?? lane) === lane &&
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
            otherAgents: ["new/2", "old/1"],
            requests: 4,
            errors: 1,
            native: 1,
            lossy: 2,
            first: day(1),
            last: day(3),
            label: null,
            application: null,
            fingerprint: "c1",
            lastAlpha: day(2),
            lastNative: day(3),
            longestPauseMs: 22 * 3_600_000,
            tokens: 1,
          },
          expect.objectContaining({ client: null, requests: 1, errors: 1, native: 0 }),
        ]);
        expect(await store.clients({ until: day(3, 0).replace("T0:", "T00:") })).toMatchObject([
          { client: "c1", userAgent: "new/2", requests: 3 },
        ]);
        expect(await store.clients({ limit: 1 })).toHaveLength(1);
      });

      test("list the programs of a client, the last user agent of each, five at most", async () => {
        const put = async (id: string, agent: string, hour: number): Promise<void> =>
          store.append(sampleRecord(id, { client: "c3", agent, time: day(5, hour) }));
        for (const [index, agent] of ["sync/1", "billing/1", "sync/2 (linux)", "billing/2"].entries())
          await put(`program-${index}`, agent, 10 + index);
        const [two] = await store.clients({ client: "c3" });
        expect(two).toMatchObject({ userAgent: "billing/2", otherAgents: ["sync/2 (linux)"] });
        for (let n = 0; n < 8; n += 1) await put(`more-${n}`, `other-${n}/1`, 14 + n);
        const [many] = await store.clients({ client: "c3" });
        expect(many).toMatchObject({
          userAgent: "other-7/1",
          otherAgents: ["other-6/1", "other-5/1", "other-4/1", "other-3/1"],
        });
      });

      test("list as many clients as are wanted, those of the most days and routes, with all of their counts", async () => {
        const put = async (id: string, client: string, day: number, varied: object): Promise<void> =>
          store.append(
            sampleRecord(`most-${id}`, { client, time: `2026-03-0${day}T10:00:00.000Z`, ...varied }),
          );
        await put("a", "few days", 1, {});
        await put("b", "few days", 2, {});
        await put("c", "two days", 1, {});
        await put("d", "two days", 3, { route: "GET /x" });
        await put("e", "two days", 3, {});
        for (const id of ["f", "g", "h", "i"]) await put(id, "one day", 1, {});
        const list = async (query: UsageQuery) =>
          (await store.clients({ clients: ["few days", "two days", "one day"], ...query })).map(
            ({ client, requests }) => `${client} ${requests}`,
          );
        expect(await list({ mostClients: 2 })).toEqual(["two days 3", "few days 2"]);
        expect(await list({ mostClients: 1, clients: ["few days", "one day"] })).toEqual(["few days 2"]);
        expect(await list({ mostClients: 1, since: "2026-03-02T00:00:00.000Z" })).toEqual(["two days 2"]);
        expect(await list({ limit: 2 })).toEqual(["one day 4", "two days 3"]);
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
        expect(await store.usage({ route: "GET /vm/instances" })).toHaveLength(2);
        expect(await store.usage({ route: "GET /dns/zones" })).toEqual([]);
        expect(await store.usage({ lane: "native" })).toMatchObject([{ sample: "d" }]);
      });

      test("count calls that the old service answered as calls of the client's API", async () => {
        const legacy = { lane: "legacy", losses: [] } as const;
        await store.append(sampleRecord("f", { ...legacy, time: day(4), client: "c1", route: "GET /old" }));
        await store.append(sampleRecord("g", { ...legacy, time: day(5), client: "c2", route: "GET /old" }));
        expect(await store.clients({ clients: ["c1"] })).toMatchObject([
          { native: 1, lastAlpha: day(4), lastNative: day(3) },
        ]);
        expect(await store.tokens({ fingerprint: "c2" })).toMatchObject([{ lastAlpha: day(5), native: 0 }]);
        expect((await store.days({})).slice(3)).toMatchObject([
          { alpha: 1, native: 0, alphaClients: 1 },
          { alpha: 1, native: 0, alphaClients: 1 },
        ]);
        expect(await store.usage({ clients: ["c1"], isClientApi: true })).toHaveLength(3);
        expect((await store.usage({ lane: "legacy" })).map(({ sample }) => sample).toSorted()).toEqual([
          "f",
          "g",
        ]);
        expect((await store.query({ lane: "legacy" })).records.map(({ id }) => id)).toEqual(["g", "f"]);
        const callers = await store.callers({ routes: ["GET /old"] });
        expect(new Set(callers.callers.map(({ client }) => client))).toEqual(new Set(["c1", "c2"]));
      });

      test("list days, where requests without a token are no client", async () => {
        const counts = { alpha: 1, native: 0, errors: 0, lossy: 1, alphaClients: 1 };
        expect(await store.days({})).toEqual([
          { ...counts, day: "2026-01-01", alpha: 2, errors: 1 },
          { ...counts, day: "2026-01-02" },
          { ...counts, day: "2026-01-03", native: 1, errors: 1, lossy: 0, alphaClients: 0 },
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

    describe("clients", () => {
      const token = (n: number): string => `token-${n}`;
      const put = async (id: string, varied: Parameters<typeof sampleRecord>[1]) =>
        store.append(sampleRecord(id, varied));
      const clients = async () =>
        (await store.clients({})).map(({ client, requests }) => `${client} ${requests}`);

      test("are applications, whose tokens are listed, and not the tokens", async () => {
        await Promise.all(
          Array.from({ length: 300 }, async (_, n) =>
            put(sampleId(n), { client: token(n % 100), application: "app", accepted: true, agent: `a/${n}` }),
          ),
        );
        await put("x", { client: token(7), application: "app", accepted: true, lane: "native", route: null });
        expect(await store.clients({})).toMatchObject([
          { client: "application:app", application: "app", label: null, fingerprint: null, requests: 301 },
        ]);
        expect((await store.clients({}))[0]?.tokens).toBe(100);
        const tokens = await store.tokens({ client: "application:app" });
        expect(tokens).toHaveLength(100);
        expect(tokens[0]).toMatchObject({
          fingerprint: token(7),
          requests: 4,
          native: 1,
          client: "application:app",
        });
        expect(await store.tokens({ fingerprint: "token-9" })).toHaveLength(11);
        expect(await store.tokens({ fingerprint: "oken-9" })).toEqual([]);
        const named = await store.tokens({ fingerprints: [token(9), token(7), "oken-9"] });
        expect(named.map(({ fingerprint }) => fingerprint)).toEqual([token(7), token(9)]);
        expect(await store.tokens({ fingerprints: [] })).toEqual([]);
        expect(tokens[1]).toMatchObject({
          requests: 3,
          native: 0,
          lastNative: null,
          lastAlpha: expect.any(String),
        });
      });

      test("are labels that a proxy gives, whatever the token is", async () => {
        await put("a", { client: token(1), label: "Billing", application: "app", accepted: true });
        await put("b", { client: token(2), label: "Billing", accepted: false, status: 401 });
        await put("c", { client: null, label: "Billing" });
        expect(await store.clients({})).toMatchObject([
          { client: "label:Billing", label: "Billing", application: null, requests: 3 },
        ]);
      });

      describe("and what one token did", () => {
        const routesOf = async (fingerprint: string) =>
          (await store.activity({ fingerprint })).routes.map(
            ({ lane, route, status, requests }) => `${lane} ${route} ${status} ${requests}`,
          );

        test("is its own, where several tokens are one client", async () => {
          const first = { client: token(1), application: "app", accepted: true };
          await put("a", { ...first, time: "2026-02-01T10:00:00.000Z" });
          await put("b", { ...first, time: "2026-02-03T10:00:00.000Z", losses: [] });
          await put("c", { ...first, status: 404 });
          await put("d", { ...first, lane: "native", route: null });
          await put("e", { ...first, client: token(2), route: "GET /domains" });
          await put("f", { client: token(1), label: "Billing" });
          expect(await routesOf(token(1))).toEqual([
            "alpha GET /vm/instances 200 3",
            "alpha GET /vm/instances 404 1",
            "native null 200 1",
          ]);
          expect((await store.activity({ fingerprint: token(1) })).routes[0]).toMatchObject({
            lossy: 2,
            first: "2026-02-01T10:00:00.000Z",
            last: "2026-03-01T10:00:00.000Z",
            sample: "",
          });
          expect(await routesOf(token(2))).toEqual(["alpha GET /domains 200 1"]);
          expect((await store.activity({ fingerprint: token(2) })).token).toMatchObject({
            fingerprint: token(2),
            client: "application:app",
            requests: 1,
          });
        });

        test("is read from the summaries, where a token is a client of its own", async () => {
          await put("a", { client: token(1), accepted: true });
          await store.append({ ...sampleRecord("b", { client: token(1), status: 420 }), requests: 9 });
          expect(await routesOf(token(1))).toEqual([
            "alpha GET /vm/instances 420 9",
            "alpha GET /vm/instances 200 1",
          ]);
        });

        test("is found in all blocks of a day", async () => {
          const records = Array.from({ length: 2100 }, (_, n) =>
            sampleRecord(sampleId(n), { client: token(n % 3), application: "app", accepted: true }),
          );
          await Promise.all(records.map(async (record) => store.append(record)));
          expect(await routesOf(token(1))).toEqual(["alpha GET /vm/instances 200 700"]);
        });

        test("is nothing for a token that was never seen", async () => {
          await put("a", { client: token(1), accepted: true });
          expect(await store.activity({ fingerprint: token(2) })).toEqual({ token: undefined, routes: [] });
        });
      });

      test("don't have requests that are no calls, which have records all the same", async () => {
        const page = { client: token(1), accepted: true, route: "GET /page" };
        await store.append({ ...sampleRecord("a", page), requests: 0 });
        await store.append({ ...sampleRecord("b", { ...page, client: null }), requests: 0 });
        expect(await store.clients({})).toEqual([]);
        expect(await store.days({})).toEqual([]);
        expect((await store.activity({ fingerprint: token(1) })).token).toBeUndefined();
        await put("c", { client: token(1), accepted: true });
        await store.append({
          ...sampleRecord("d", { ...page, time: "2026-04-01T10:00:00.000Z" }),
          requests: 0,
        });
        expect(await store.clients({})).toMatchObject([
          { client: token(1), requests: 1, lastAlpha: "2026-03-01T10:00:00.000Z" },
        ]);
        expect(await ids({})).toHaveLength(4);
      });

      test("are not applications that a call only names; those accepted before find its record", async () => {
        const named = { client: null, accepted: false, route: "POST /oauth/token", status: 400 };
        await put("a", { ...named, application: "made-up" });
        await put("b", { ...named, application: "app" });
        expect(await clients()).toEqual(["null 2"]);
        await put("c", { ...named, application: "app", accepted: true, status: 200 });
        await put("d", { ...named, application: "app" });
        expect((await clients()).toSorted()).toEqual(["application:app 1", "null 3"]);
        expect(await ids({ client: "application:app" })).toEqual(["d", "c"]);
      });

      test("keep the requests of a token from before its application was known", async () => {
        await put("a", { client: token(1), accepted: true, time: "2026-02-01T10:00:00.000Z" });
        await put("b", { client: token(2), accepted: true });
        await put("c", { client: token(1), application: "app", accepted: true });
        expect((await clients()).toSorted()).toEqual(["application:app 2", "token-2 1"]);
        expect(await store.days({ client: "application:app" })).toHaveLength(2);
        expect(await store.tokens({ client: "application:app" })).toMatchObject([
          { fingerprint: token(1), requests: 2, first: "2026-02-01T10:00:00.000Z" },
        ]);
      });

      test("are known by their tokens where a request does not have the application", async () => {
        await put("a", { client: token(1), application: "app", accepted: true });
        await put("b", { client: token(1), accepted: false, status: 420 });
        expect(await clients()).toEqual(["application:app 2"]);
      });

      test("are found in the records, several at once, in a lane", async () => {
        await put("a", { client: token(1), application: "app", accepted: true });
        await put("b", { client: token(2), label: "Billing" });
        await put("c", { client: token(3) });
        await put("d", { client: token(3), lane: "native", route: null });
        await put("e", { client: token(4) });
        expect(await ids({ client: "application:app" })).toEqual(["a"]);
        expect(await ids({ client: "label:Billing" })).toEqual(["b"]);
        const several = { clients: ["application:app", "label:Billing", token(3)] };
        expect(await ids(several)).toEqual(["d", "c", "b", "a"]);
        expect(await ids({ ...several, lane: "alpha" })).toEqual(["c", "b", "a"]);
        expect(await ids({ lane: "native" })).toEqual(["d"]);
        expect(await store.count({ ...several, lane: "alpha" })).toBe(3);
        expect(await ids({ clients: [] })).toEqual([]);
      });

      test("are filtered in the summaries, several at once, in a lane", async () => {
        await put("a", { client: token(1), application: "app", accepted: true });
        await put("b", { client: token(2), lane: "native", route: null });
        await put("c", { client: null });
        const query = { clients: ["application:app", token(2), null] };
        expect(await store.clients(query)).toHaveLength(3);
        expect(await store.usage({ ...query, lane: "alpha" })).toHaveLength(2);
        expect(await store.clients({ ...query, lane: "native" })).toMatchObject([{ client: token(2) }]);
      });
    });

    describe("names that clients sent", () => {
      const NAMES = ["body.label", "body.plan", "query.page", "filter.status", "body.plan=small"];
      const MORE = [...NAMES, "body.plan=large", "query.x", "query.y", "query.z"];
      /** A record whose client sent these names. */
      const put = async (
        id: string,
        sent: readonly string[],
        varied: Parameters<typeof sampleRecord>[1] = {},
        pack = { names: NAMES },
      ) => {
        const bits = new Uint8Array(Math.ceil(pack.names.length / 8));
        for (const name of sent) {
          const index = pack.names.indexOf(name);
          bits[index >> 3] = (bits[index >> 3] ?? 0) | (0x80 >> (index & 7));
        }
        const members = new NumberedNames(pack.names, bits);
        await store.append({ ...sampleRecord(id, varied), sent: members });
      };
      const day = (n: number) => `2026-03-0${n}T10:00:00.000Z`;
      const sent = async (query: UsageQuery = {}) =>
        (await store.sent(query)).map(
          ({ client, name, firstDay, lastDay, requests }) =>
            `${client} ${name} ${firstDay.slice(-1)}-${lastDay.slice(-1)} ${requests}`,
        );

      test("are joined by client and day, and listed with the requests of their route", async () => {
        await put("a", ["body.label"], { client: "c1", time: day(1) });
        await put("b", ["query.page", "body.label"], { client: "c1", time: day(1) });
        await put("c", ["body.label"], { client: "c1", time: day(3) });
        await put("d", [], { client: "c1", time: day(4) });
        await put("e", ["filter.status"], { client: "c2", time: day(2) });
        expect((await sent()).toSorted()).toEqual([
          "c1 body.label 1-3 4",
          "c1 query.page 1-1 4",
          "c2 filter.status 2-2 1",
        ]);
        expect(await sent({ client: "c2" })).toEqual(["c2 filter.status 2-2 1"]);
        expect(await sent({ since: day(2), client: "c1" })).toEqual(["c1 body.label 3-3 2"]);
      });

      test("are those of their pack, and of no other", async () => {
        await put("a", ["body.plan=small"], { client: "c1" });
        const other = { names: MORE };
        await put("b", ["query.z"], { client: "c1" }, other);
        await put("c", ["body.plan=large"], { client: "c1" }, other);
        const names = (await store.sent({})).map(({ name }) => name).toSorted();
        expect(names).toEqual(["body.plan=large", "body.plan=small", "query.z"]);
      });

      test("are stored with records of two days and two packs that are written together", async () => {
        const other = { names: MORE };
        await Promise.all([
          put("a", ["body.label"], { client: "c1", time: day(1) }),
          put("b", ["body.label"], { client: "c1", time: day(2) }),
          put("c", ["query.z"], { client: "c1", time: day(2) }, other),
        ]);
        expect((await sent()).toSorted()).toEqual(["c1 body.label 1-2 3", "c1 query.z 2-2 3"]);
        const { counted } = await store.callers({ routes: ["GET /vm/instances"] });
        expect(counted.get("GET /vm/instances")).toEqual(new Set(MORE));
      });

      test("of one application are those of all its tokens", async () => {
        await put("a", ["body.label"], { client: "t1", application: "app" });
        await put("b", ["body.plan"], { client: "t2", application: "app" });
        const rows = await store.sent({ client: "application:app" });
        expect(rows.map(({ name }) => name).toSorted()).toEqual(["body.label", "body.plan"]);
      });

      test("stay with a token whose application becomes known", async () => {
        await put("a", ["body.label"], { client: "t1" });
        await put("b", ["body.plan"], { client: "t2" });
        await put("c", ["query.page"], { client: "t1", application: "app" });
        const rows = await store.sent({ client: "application:app" });
        expect(rows.map(({ name }) => name).toSorted()).toEqual(["body.label", "query.page"]);
      });

      test("with a token that v4 never accepted are not listed, and are once v4 has accepted it", async () => {
        await put("a", ["body.label"], { client: "t1", accepted: false });
        await put("b", ["body.plan"], { client: "made-up", accepted: false });
        expect(await sent()).toEqual([]);
        await put("c", [], { client: "t1", accepted: true });
        const rows = await store.sent({});
        expect(rows.map(({ client, name }) => [client, name])).toEqual([["t1", "body.label"]]);
      });

      test("are kept with the names of their pack as long as summaries", async () => {
        const clock = () => Date.parse("2026-12-31T10:00:00Z");
        await put("a", ["body.label"], { client: "c1", time: day(1) });
        await put("b", ["query.z"], { client: "c1", time: "2026-12-01T10:00:00.000Z" }, { names: MORE });
        const names = async () => (await store.sent({})).map(({ name }) => name).toSorted();
        expect(await names()).toEqual(["body.label", "query.z"]);
        await store.close();
        store = await place.open("strict", { clock, retentionDays: 10, usageRetentionDays: 100 });
        while ((await names()).length > 1) await new Promise((done) => setTimeout(done, 20));
        expect(await names()).toEqual(["query.z"]);
      });

      test("are found by route, with the days on which they were sent and the requests of these days", async () => {
        const other = { names: MORE };
        await put("a", ["body.label"], { client: "c1", time: day(1) });
        await put("b", ["body.plan"], { client: "c1", time: day(1), status: 400 });
        await put("c", ["query.z", "body.label"], { client: "c1", time: day(3) }, other);
        await put("d", [], { client: "c1", time: day(4) });
        await put("e", ["body.label"], { client: "c2", time: day(2), route: "GET /else" });
        await put("f", ["body.label"], { client: "c3", time: day(2), accepted: false });
        await put("g", ["body.label"], { client: null, time: day(2) });
        await put("h", [], { client: null, time: day(5), status: 404 });
        const routes = ["GET /vm/instances", "GET /nowhere"];
        const { callers, sent: names, counted, namesSince } = await store.callers({ routes });
        expect(namesSince).toBe("2026-03-01");
        expect(callers.toSorted((one, two) => (one.last < two.last ? -1 : 1))).toEqual([
          expect.objectContaining({ client: null, requests: 1, days: 1, last: day(2) }),
          {
            client: "c1",
            route: "GET /vm/instances",
            requests: 4,
            days: 3,
            firstDay: "2026-03-01",
            last: day(4),
            userAgent: "sample/1.0",
          },
        ]);
        const lines = names.map(
          ({ client, name, days, firstDay, lastDay, requests }) =>
            `${client} ${name} ${days} ${firstDay.slice(-1)}-${lastDay.slice(-1)} ${requests}`,
        );
        expect(lines.toSorted()).toEqual([
          "c1 body.label 2 1-3 3",
          "c1 body.plan 1 1-1 2",
          "c1 query.z 1 3-3 1",
          "null body.label 1 2-2 1",
        ]);
        expect([...counted.keys()]).toEqual(["GET /vm/instances"]);
        expect(counted.get("GET /vm/instances")).toEqual(new Set(MORE));
        const many = [...routes, ...Array.from({ length: 100 }, (_, number) => `GET /other/${number}`)];
        const { sent: same, callers: sameCallers } = await store.callers({ routes: many });
        expect(new Set(same)).toEqual(new Set(names));
        expect(new Set(sameCallers)).toEqual(new Set(callers));
        const later = await store.callers({ routes, since: day(3) });
        expect(later.callers).toMatchObject([{ client: "c1", requests: 2, days: 2 }]);
      });

      test("are no part of a record", async () => {
        await put("a", ["body.label"]);
        expect(await store.get("a")).toEqual(sampleRecord("a"));
      });

      test("are added by several commits, also after the store was opened again", async () => {
        await put("a", ["body.label"], { client: "c1" });
        await store.close();
        store = await place.open("strict");
        await put("b", ["query.page"], { client: "c1" });
        expect((await store.sent({})).map(({ name }) => name)).toEqual(["body.label", "query.page"]);
      });
    });

    describe("erasing a client", () => {
      const day = (n: number) => `2026-03-0${n}T10:00:00.000Z`;
      const request = { keys: ["application:app", "c9"], command: "audit erase" };
      /** 600 records of three days, a third of them of the client. */
      async function fillWithClients(): Promise<void> {
        await Promise.all(
          Array.from({ length: 600 }, async (_, n) =>
            store.append(
              sampleRecord(sampleId(n), {
                time: day(1 + (n % 3)),
                client: `c${n % 9}`,
                ...(n % 3 === 1 && { client: `t${n % 6}`, application: "app", accepted: true }),
              }),
            ),
          ),
        );
        await store.append(sampleRecord("last", { client: "c9", time: day(4) }));
      }

      test("removes only its records, summaries and tokens", async () => {
        await fillWithClients();
        const others = (await store.query({ limit: 500 })).records.filter(
          ({ client }) => client.application === undefined && client.fingerprint !== "c9",
        );
        const before = (await store.clients({})).filter(({ client }) => /^c[0-8]$/.test(client ?? ""));
        const done: number[] = [];
        const erasure = await store.erase(request, (count) => done.push(count));
        expect(erasure).toMatchObject({ records: 201, tokens: 3, command: "audit erase" });
        expect(done.at(-1)).toBe(201);
        expect(await store.count({})).toBe(400);
        expect(await store.count({ clients: request.keys })).toBe(0);
        expect(await store.get("last")).toBeUndefined();
        const left: AuditRecord[] = [];
        let next: string | null | undefined;
        do {
          const page = await store.query({ limit: 500, ...(next && { before: next }) });
          left.push(...page.records);
          next = page.next;
        } while (next);
        expect(left).toHaveLength(400);
        expect(left).toEqual(expect.arrayContaining(others));
        expect(await store.clients({})).toEqual(before);
        expect(await store.tokens({ client: "application:app" })).toEqual([]);
        expect(await store.erasures()).toEqual([erasure]);
      });

      test("is done by another process while records are written", async () => {
        await fillWithClients();
        const other = await place.open("strict");
        const erasing = other.erase(request);
        await Promise.all(
          Array.from({ length: 200 }, async (_, n) =>
            store.append(sampleRecord(`during-${n}`, { client: "c1", time: day(1) })),
          ),
        );
        expect(await erasing).toMatchObject({ records: 201 });
        await other.close();
        expect(await store.count({})).toBe(600);
        expect(await store.get("during-7")).toMatchObject({ id: "during-7" });
      });

      test("leaves no user agent in the counts of strangers, where its first requests were", async () => {
        const first = { accepted: false, agent: "billing/1" };
        for (const [id, client] of Object.entries({ a: "stranger", b: "c9" }))
          await store.append(sampleRecord(id, { ...first, client }));
        await store.append(sampleRecord("c", { client: "c9", accepted: true }));
        await store.erase(request);
        expect(await store.clients({})).toMatchObject([
          { client: "unaccepted", requests: 1, userAgent: null },
        ]);
      });

      test("of an unknown client erases nothing, and is recorded", async () => {
        await fillWithClients();
        const nothing = { records: 0, summaries: 0, tokens: 0 };
        expect(await store.erase({ ...request, keys: ["nobody"] })).toMatchObject(nothing);
        expect(await store.count({})).toBe(601);
        expect(await store.erasures()).toHaveLength(1);
      });
    });

    describe("size limits", () => {
      /** Opens it again with a limit: what is too much is deleted at the start. */
      async function reopen(limits: Limits): Promise<void> {
        await store.close();
        store = await place.open("strict", limits);
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

      test("count requests before v4 accepted a token as the client's, if a check of the token shows it", async () => {
        const before = { accepted: false, route: "GET /regions" };
        for (const [id, client] of Object.entries({ a: "c1", b: "made-up" }))
          await store.append(sampleRecord(id, { ...before, client }));
        const check = sampleRecord("c", { client: "c1", accepted: true, route: "token check" });
        await store.append({ ...check, requests: 0 });
        await store.append(sampleRecord("d", { ...before, client: "c1" }));
        expect(await store.clients({})).toMatchObject([
          { client: "c1", requests: 2 },
          { client: "unaccepted", requests: 1 },
        ]);
        expect(await store.usage({ client: "c1" })).toMatchObject([{ route: "GET /regions", requests: 2 }]);
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
        await reopen({ sizeLimit: 1_100_000 });
        await until(async () => store.stats().evicted > 0);
        expect(await left()).toEqual(["completed", "real"]);
        await reopen({ sizeLimit: 500_000 });
        await until(async () => store.stats().evicted > 0);
        expect(await left()).toEqual(["real"]);
      });

      test("count requests with a token that was accepted before as the client's", async () => {
        await store.append(sampleRecord("a", { client: "c1", accepted: true }));
        await store.append(sampleRecord("b", { client: "c1", accepted: false, status: 401 }));
        expect(await store.clients({})).toMatchObject([{ client: "c1", requests: 2, errors: 1 }]);
      });

      test("delete summaries of strangers first, then of the largest client, and no records for them", async () => {
        const day = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n, 10)).toISOString();
        const put = async (id: string, n: number, varied: object) =>
          store.append(sampleRecord(`${id}-${n}`, { time: day(n), ...varied }));
        await Promise.all(
          Array.from({ length: 100 }, async (_, n) =>
            Promise.all([
              put("stranger", n, { client: `made-up-${n}`, accepted: false, status: 401 }),
              put("busy", n, { client: "busy" }),
              put("failing", n, { client: "busy", status: 404 }),
              put("native", n, { client: "busy", lane: "native", route: null }),
            ]),
          ),
        );
        for (const n of [0, 90]) await put("quarterly", n, { client: "quarterly" });
        await put("finished", 1, { client: "finished" });

        const rows = async (client: string) => store.usage({ client });
        await reopen({ summaryRows: 303 });
        await until(async () => (await store.clients({})).length === 3);
        expect(await rows("busy")).toHaveLength(3);
        await reopen({ summaryRows: 150 });
        await until(async () => (await store.usage({ client: "busy" })).length === 2);
        expect((await store.days({ client: "busy" })).map(({ errors }) => errors)).not.toContain(1);
        await reopen({ summaryRows: 3 });
        await until(async () => (await store.days({})).length === 3);
        expect(
          (await store.clients({})).map(({ client, lastAlpha }) => `${client} ${lastAlpha}`).toSorted(),
        ).toEqual([`busy ${day(99)}`, `finished ${day(1)}`, `quarterly ${day(90)}`]);
        expect(await store.count({})).toBe(403);
        // Two clients lost requests and user agents.
        await until(async () => store.stats().evictedClients === 4);
        expect(store.stats().evicted).toBe(0);
      });

      test("delete names, losses and programs of the client with the most, regardless of the age of those of other clients", async () => {
        const day = (n: number): string => new Date(Date.UTC(2026, 0, 1 + n, 10)).toISOString();
        const write = async (id: string, client: string, n: number, agent: string, names: number) => {
          const list = Array.from({ length: names }, (_, index) => `detail member-${index}: ${client}`);
          const all = new NumberedNames(list, new Uint8Array(Math.ceil(names / 8)).fill(0xff));
          const record = sampleRecord(id, { client, time: day(n), agent, accepted: true });
          await store.append({ ...record, sent: all, lost: all });
        };
        for (const n of [0, 1]) await write(`quiet-${n}`, "quiet", n, "quiet/1", 3);
        for (let n = 0; n < 60; n += 1)
          await write(`busy-${n}`, "busy", 2 + (n % 12), `${"abcde"[n % 5]}busy/1`, 100);

        const ofQuiet = async () => [
          (await store.sent({ client: "quiet" })).length,
          (await store.losses({ client: "quiet" })).length,
          (await store.clients({ client: "quiet" })).map(({ userAgent }) => userAgent),
        ];
        const before = await ofQuiet();
        expect(before).toEqual([3, 3, ["quiet/1"]]);
        const cut: number[] = [];
        await reopen({ summaryRows: 40, onTooManyClients: () => void cut.push(1) });
        await until(async () => (await store.losses({ client: "busy" })).length < 40);
        await until(async () => (await store.sent({ client: "busy" })).length < 160);
        expect(await ofQuiet()).toEqual(before);
        expect(cut).toEqual([1]);
        expect(store.stats().evictedClients).toBeGreaterThan(0);
      });

      describe("of the summaries hold however many clients have one row each", () => {
        const NAMED = "0000000000000001";
        const day = (n: number): string => new Date(Date.UTC(2026, 0, n, 10)).toISOString();
        const newcomer = (n: number): string => `ff${String(n).padStart(14, "0")}`;

        /** Adds a client with a name that called once, clients that called on two days, and then many of one day. */
        async function fillWith(newcomers: number, others: number): Promise<void> {
          await store.append(sampleRecord("named", { client: NAMED, time: day(1) }));
          const twoDays = Array.from({ length: others }, (_, n) => [`aa${n}`, `bb${n}`] as const);
          for (const [n, ids] of twoDays.entries())
            for (const [index, id] of ids.entries())
              await store.append(
                sampleRecord(id, { client: `other-${n}`, time: day(2 + index), accepted: true }),
              );
          await Promise.all(
            Array.from({ length: newcomers }, async (_, n) =>
              store.append(
                sampleRecord(newcomer(n), { client: newcomer(n), time: day(5 + (n % 20)), accepted: true }),
              ),
            ),
          );
        }
        const keys = async (): Promise<(string | null)[]> =>
          (await store.clients({})).map(({ client }) => client);
        const countClients = async (): Promise<number> => (await keys()).length;
        const namedClients = (): readonly string[] => [NAMED];

        test.each([8, 800])("and %d newcomers push out nobody else", async (newcomers) => {
          await fillWith(newcomers, 3);
          let warnings = 0;
          await reopen({ summaryRows: 40, namedClients, onTooManyClients: () => void (warnings += 1) });
          const left = Math.min(newcomers, 31);
          await until(async () => (await countClients()) === 4 + left);
          expect(await keys()).toEqual(expect.arrayContaining([NAMED, "other-0", "other-1", "other-2"]));
          for (const client of ["other-0", "other-1", "other-2"])
            expect((await store.days({ client })).map(({ day: called }) => called)).toHaveLength(2);
          // The newest stay.
          const oldest = (await store.days({})).map(({ day: called }) => called).at(3);
          expect(oldest).toBe(newcomers > 31 ? "2026-01-24" : "2026-01-05");
          expect(store.stats().evictedClients).toBe(newcomers - left);
          expect(warnings).toBe(newcomers > left ? 1 : 0);
          expect((await store.tokens({ fingerprint: "" })).length).toBe(4 + left);
          expect(await store.count({})).toBe(7 + newcomers);
        });

        // They are cut to 95 % of the maximum, so that this is seldom.
        test("which then have half, and of the others the oldest go", async () => {
          await fillWith(800, 30);
          await reopen({ summaryRows: 40, namedClients });
          await until(async () => (await countClients()) === 38);
          const left = await keys();
          expect(left).toContain(NAMED);
          expect(left.filter((key) => key?.startsWith("ff"))).toHaveLength(20);
          expect(left.filter((key) => key?.startsWith("other"))).toHaveLength(17);
        });

        test.each([8, 800])("and %d tokens of newcomers push out no other token", async (newcomers) => {
          await fillWith(newcomers, 3);
          await reopen({ summaryTokens: 10, namedClients });
          const tokens = async () => (await store.tokens({ fingerprint: "" })).map(({ client }) => client);
          await until(async () => (await tokens()).length === 10);
          expect(await tokens()).toEqual(expect.arrayContaining([NAMED, "other-0", "other-1", "other-2"]));
        });
      });

      test("keep the summaries of records that are too old or too many", async () => {
        const clock = () => Date.parse("2026-12-31T10:00:00Z");
        const quarterly = ["2026-01-01", "2026-04-01", "2026-07-01", "2026-10-01"];
        for (const day of quarterly)
          await store.append({
            ...sampleRecord(day, { time: `${day}T10:00:00.000Z`, client: "quarterly" }),
            warnings: [incompressible(60_000)],
          });
        await reopen({ clock, retentionDays: 30, usageRetentionDays: 400, sizeLimit: 1000 });
        await until(async () => (await store.count({})) === 0);
        expect(await store.clients({})).toMatchObject([
          {
            requests: 4,
            first: "2026-01-01T10:00:00.000Z",
            lastAlpha: "2026-10-01T10:00:00.000Z",
            longestPauseMs: 92 * 86_400_000,
          },
        ]);
        await reopen({ clock, usageRetentionDays: 100 });
        await until(async () => (await store.days({})).length === 1);
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

        await reopen({ sizeLimit: 1_500_000 });
        await until(async () => JSON.stringify(await read("flood")).length < 1_900_000);
        const flood = await read("flood");
        // Without their bodies the records are small.
        expect(flood).toHaveLength(120);
        expect(store.stats().evicted).toBe(0);
        expect(flood.at(-1)?.alpha.body).toMatchObject({ truncated: true, bytes: null });
        expect(flood.at(-1)).toMatchObject({ id: "flood-0-0", alpha: { method: "GET", status: 400 } });
        expect(flood[0]?.alpha.body).toHaveLength(60_000);

        await reopen({ sizeLimit: 500_000 });
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
        await reopen({ sizeLimit: 900_000 });
        await until(async () => store.stats().evicted > 100);
        expect(await quiet()).toEqual(before);
      });

      test("spare quiet clients and a busy one while 300 tokens of one network flood", async () => {
        const put = async (id: string, client: string, address: string, length: number): Promise<void> => {
          const record = sampleRecord(id, { client, address, accepted: true, status: 400 });
          await store.append({ ...record, warnings: [incompressible(length)] });
        };
        for (let n = 0; n < 5; n += 1)
          await Promise.all(
            Array.from({ length: 10 }, (_, m) => put(`busy-${n}-${m}`, "busy", "198.51.100.99", 8000)),
          );
        for (let n = 0; n < 15; n += 1)
          await Promise.all([
            ...Array.from({ length: 100 }, (_, m) =>
              put(`flood-${n}-${m}`, `flood-${(n * 100 + m) % 300}`, `2001:db8:1:${m}::1`, 5000),
            ),
            ...Array.from({ length: 2 }, (_, m) =>
              put(`quiet-${n}-${m}`, `quiet-${(2 * n + m) % 10}`, `198.51.100.${(2 * n + m) % 10}`, 300),
            ),
          ]);
        const read = async (name: string, count: number) => {
          const all = Array.from({ length: count }, (_, n) => `${name}-${n}`);
          return (await Promise.all(all.map((client) => store.query({ client, limit: 500 })))).flatMap(
            ({ records }) => records,
          );
        };
        const quiet = await read("quiet", 10);
        const busy = (await store.query({ client: "busy", limit: 500 })).records;
        expect([quiet.length, busy.length]).toEqual([30, 50]);
        await reopen({ sizeLimit: 1_500_000 });
        await until(async () => store.stats().evicted > 1000);
        expect(await read("quiet", 10)).toEqual(quiet);
        expect((await store.query({ client: "busy", limit: 500 })).records).toEqual(busy);
        const flood = Array.from({ length: 300 }, (_, n) => `flood-${n}`);
        expect(await store.count({ clients: flood })).toBeGreaterThan(50);
      });

      test("count records that are deleted before their retention ends", async () => {
        await Promise.all(
          Array.from({ length: 150 }, async (_, n) =>
            store.append({ ...sampleRecord(sampleId(n)), warnings: [incompressible(27_000)] }),
          ),
        );
        await reopen({ sizeLimit: 1_500_000 });
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
        await expect(reading).rejects.toThrow(`The record ${sampleId(1)} is damaged.`);

        const damaged: number[] = [];
        const onDamaged = (records: number): void => void damaged.push(records);
        const options = { format: "csv", query: {}, onDamaged } as const;
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

    test("deletes records older than their retention at its start, and counts older than theirs", async () => {
      const clock = () => Date.parse("2026-03-31T00:00:00Z");
      const at = (time: string) => async (_: unknown, n: number) =>
        store.append(sampleRecord(`${time} ${n}`, { time }));
      await Promise.all(Array.from({ length: 1500 }, at("2026-02-28T23:59:59.999Z")));
      await store.append(sampleRecord("young", { time: "2026-03-01T00:00:00.000Z" }));
      await store.append(sampleRecord("ancient", { time: "2025-02-01T00:00:00.000Z" }));
      await store.close();
      store = await place.open("strict", { clock, retentionDays: 30, usageRetentionDays: 400 });
      await waitFor(async () => (await store.count({})) === 1);
      await waitFor(async () => (await store.days({})).length === 2);
      expect(await store.query({})).toMatchObject({ records: [{ id: "young" }], next: null });
    });

    test("deletes only the oldest records above the size limit", async () => {
      for (let n = 0; n < 40; n += 1) {
        const time = new Date(Date.UTC(2026, 2, 1, 0, n)).toISOString();
        await store.append({ ...sampleRecord(sampleId(n), { time }), warnings: [incompressible(134_000)] });
      }
      await store.close();
      store = await place.open("strict", { sizeLimit: 2_000_000 });
      await waitFor(async () => (await store.count({})) < 20);
      const left = await ids({ limit: 100 });
      expect(left).toEqual(left.map((_, n) => sampleId(39 - n)));
      expect(left.length).toBeGreaterThan(10);
      expect(await store.clients({})).toMatchObject([{ requests: 40 }]);
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
