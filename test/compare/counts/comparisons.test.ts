/** What replicas share about comparisons. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { setTimeout as delay } from "node:timers/promises";
import { Redaction } from "../../../src/audit/redact/redact.ts";
import type { Log } from "../../../src/base/log/log.ts";
import { createMetrics, type Metrics } from "../../../src/base/metrics/metrics.ts";
import {
  countCases,
  MAX_FIELDS,
  readComparisons,
  readExample,
  resetComparisons,
  type RouteCounts,
  type SourceCounts,
} from "../../../src/compare/counts/counts.ts";
import { countDistinct } from "../../../src/compare/counts/summary.ts";
import { type Comparisons, openComparisons } from "../../../src/compare/counts/comparisons.ts";
import { type KeyValueStore, StateUnavailableError } from "../../../src/base/storage/key-value-store.ts";
import { connectRedis } from "../../../src/gateway/state/redis-client.ts";
import { createRedisStore } from "../../../src/gateway/state/redis-store.ts";
import { openSqliteKeyValueStore } from "../../../src/gateway/state/sqlite-store.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { createRedisServer } from "../../support/redis-server.ts";
import { describeWith } from "../../support/services.ts";
import { waitFor } from "../../support/wait-for.ts";
import { answer, different, equal, LABEL } from "./make-compared.ts";

interface Place {
  open(): Promise<KeyValueStore>;
  remove(): Promise<void>;
}

async function sqlitePlace(): Promise<Place> {
  const directory = temporaryFolder();
  return { open: async () => openSqliteKeyValueStore({ directory }), remove: async () => {} };
}

async function redisPlace(): Promise<Place> {
  const server = await createRedisServer();
  await server.start();
  const links: Awaited<ReturnType<typeof connectRedis>>[] = [];
  return {
    async open() {
      const link = await connectRedis({ url: server.url, onChange: () => {} });
      links.push(link);
      return createRedisStore(link);
    },
    async remove() {
      for (const link of links) await link.close();
      await server.stop();
    },
  };
}

const redaction = new Redaction({ names: ["password"], bodyLimit: 65_536 });
let lines: unknown[];
const log = {
  info: (context: object, message: string) => void lines.push([message, context]),
  warn: (context: object, message: string) => void lines.push([message, context]),
  error() {},
} as unknown as Log;
beforeEach(() => {
  lines = [];
});

/** The counts of a route, with numbers of cases. */
const withNumbers = (route: RouteCounts) => ({
  ...route,
  cases: Object.fromEntries(Object.entries(route.cases).map(([by, cases]) => [by, countCases(cases)])),
  distinct: countDistinct(route),
  distinctDifferent: countCases(route.differing),
});

function testComparisons(name: string, makePlace: () => Promise<Place>): void {
  describe(`comparisons in ${name}`, () => {
    let place: Place;
    let store: KeyValueStore;
    let other: KeyValueStore;
    let isDown = false;
    let failing: string | undefined;
    let delayMs = 0;
    let onSet = (): void => {};
    let metrics: Metrics;
    let first: Comparisons;
    let second: Comparisons;

    /** The store, which a test may take down. */
    const fallible = (real: KeyValueStore): KeyValueStore =>
      new Proxy(real, {
        get(target, operation: keyof KeyValueStore) {
          if (operation === "set") onSet();
          if (operation === "get" && delayMs > 0)
            return (key: string) => delay(delayMs).then(() => target.get(key));
          return (isDown || operation === failing) && operation !== "close"
            ? () => Promise.reject(new StateUnavailableError("down"))
            : target[operation];
        },
      });
    const open = (state: KeyValueStore) =>
      openComparisons({
        state: fallible(state),
        redaction: () => redaction,
        cover: (_route, body) => [`seen=${(JSON.parse(body.toString()) as { word: string }).word}`],
        metrics,
        log,
      });

    beforeEach(async () => {
      isDown = false;
      place = await makePlace();
      [store, other] = [await place.open(), await place.open()];
      metrics = createMetrics();
      [first, second] = [open(store), open(other)];
    });
    afterEach(async () => {
      isDown = false;
      failing = undefined;
      delayMs = 0;
      await first.close();
      await second.close();
      metrics.close();
      await store.close();
      await other.close();
      await place.remove();
    });

    async function counted(): Promise<SourceCounts> {
      await first.flush();
      await second.flush();
      const [counts, ...others] = await readComparisons(store);
      expect(others).toEqual([]);
      return counts!;
    }

    async function countedRoute() {
      const { "GET /books": route } = (await counted()).routes;
      return route && withNumbers(route);
    }

    test("of two replicas add up, and each case counts once", async () => {
      for (let n = 0; n < 50; n += 1) first.report(equal(`case ${n}`));
      for (let n = 25; n < 75; n += 1) second.report(equal(`case ${n}`));
      first.report(different("case 80", { client: "Bob" }));
      second.report(different("case 80"));
      second.report(different("case 81"));
      await Promise.all([first.flush(), second.flush()]);
      expect(await countedRoute()).toMatchObject({
        comparisons: 103,
        equal: 100,
        different: 3,
        distinct: 77,
        distinctDifferent: 2,
        fields: [
          { field: "books.label", kind: "value", count: 3, clients: expect.arrayContaining(["Ann", "Bob"]) },
        ],
      });
    });

    test("say why they were not comparable, and which lines accept what they found", async () => {
      first.report(equal("1", { result: "not_comparable", reason: "cursor", key: undefined }));
      first.report(equal("2", { result: "not_comparable", reason: "cursor", key: undefined }));
      second.report(equal("3", { result: "not_comparable", reason: "calls", key: undefined }));
      second.report(equal("4", { result: "accepted", accepted: [LABEL, LABEL] }));
      second.report(different("5", { result: "unstable" }));
      expect(await countedRoute()).toMatchObject({
        comparisons: 5,
        notComparable: { cursor: 2, calls: 1 },
        accepted: 1,
        unstable: 1,
        distinct: 1,
        acceptedLines: { "value books.label": 1 },
        fields: [{ count: 0, unstable: 1, examples: [] }],
      });
      expect(await metrics.text()).toContain(
        'alpha_gateway_comparisons_total{source="candidate",route="GET /books",result="not_comparable",reason="cursor"} 2',
      );
    });

    test("are all counted where they can't be compared, however many of one client come before they are written", async () => {
      for (let n = 0; n < 30_000; n += 1)
        first.report(equal(`${n}`, { result: "not_comparable", reason: "budget", key: undefined }));
      expect(await countedRoute()).toMatchObject({ comparisons: 30_000, notComparable: { budget: 30_000 } });
      expect(lines).not.toContainEqual([expect.any(String), expect.objectContaining({ store: "cases" })]);
    });

    test("have three examples of each field and kind, which have no secrets", async () => {
      const token = "0123456789abcdef";
      const sample = {
        method: "GET",
        path: `/v1/books?password=hunter2hunter2&echo=${token}`,
        filter: null,
        old: answer({ books: [{ label: "Emma", password: "sesame-open-1", echo: token }] }),
        new: answer({ books: [{ label: "emma", password: "sesame-open-2", echo: "hunter2hunter2" }] }),
        tokens: [token],
      };
      const secret = {
        field: "books.password",
        kind: "value",
        old: '"sesame-open-1"',
        new: '"sesame-open-2"',
      } as const;
      for (const one of [first, second])
        for (let n = 0; n < 4; n += 1)
          one.report(different(`${n}`, { sample, differences: [LABEL, secret] }));
      const { fields = [] } = (await countedRoute()) ?? {};
      expect(fields.map(({ examples }) => examples.length)).toEqual([3, 3]);
      const examples = await Promise.all(fields[0]!.examples.map(({ id }) => readExample(other, id)));
      expect(examples[0]).toMatchObject({
        differences: [
          { field: "books.label", old: '"Emma"', new: '"emma"' },
          { old: '"[redacted]"', new: '"[redacted]"' },
        ],
        old: { status: 200, body: { books: [{ label: "Emma", password: "[redacted]" }] } },
      });
      expect(JSON.stringify(examples)).not.toMatch(/hunter2|sesame|0123456789abcdef/);
    });

    test("have one example of a case, however often it comes", async () => {
      for (let n = 0; n < 5; n += 1) first.report(different("same"));
      const flushing = first.flush();
      await Promise.resolve();
      first.report(different("same"));
      await flushing;
      for (let n = 0; n < 5; n += 1) first.report(different("same"));
      const { fields = [] } = (await countedRoute()) ?? {};
      expect(fields.map(({ count, examples }) => [count, examples.length])).toEqual([[11, 1]]);
    });

    test("start again for a new subject, and after a reset, which is logged", async () => {
      first.report(different("1"));
      second.report(equal("2"));
      const before = await counted();
      const [id = ""] = before.routes["GET /books"]?.fields[0]?.examples.map((each) => each.id) ?? [];
      expect(await readExample(store, id)).toBeDefined();
      first.report(equal("3", { subject: "pack:next" }));
      await first.flush();
      // A comparison that was in flight.
      second.report(equal("4"));
      second.report(equal("5", { subject: "pack:next" }));
      expect((await counted()).subject).toBe("pack:next");
      expect(await countedRoute()).toMatchObject({ comparisons: 2, distinct: 2 });
      expect(await readExample(store, id)).toBeUndefined();

      expect(await resetComparisons(other)).toEqual(["candidate"]);
      expect(await readComparisons(store)).toEqual([]);
      first.report(equal("3", { subject: "pack:next" }));
      first.report(equal("6", { subject: "pack:next" }));
      expect(await countedRoute()).toMatchObject({ comparisons: 2, distinct: 2 });
      const begins = (subject: string): unknown[] => [
        "comparisons are counted from the beginning",
        { source: "candidate", subject },
      ];
      expect(lines).toEqual([begins("0123 4567"), begins("pack:next"), begins("pack:next")]);
    });

    test("wait while the store is down, and none is lost", async () => {
      isDown = true;
      for (let n = 0; n < 30; n += 1) first.report(equal(`case ${n}`));
      await first.flush();
      for (let n = 20; n < 40; n += 1) first.report(different(`case ${n}`));
      await first.flush();
      isDown = false;
      const route = await countedRoute();
      expect(route).toMatchObject({ comparisons: 50, distinct: 40, distinctDifferent: 20 });
      expect(route?.fields.map(({ count, examples }) => [count, examples.length])).toEqual([[20, 3]]);
    });

    test("have no more examples that wait, however often the store fails", async () => {
      /** Reports differences of one client in four fields, while earlier ones are being written. */
      const report = (round: number): void => {
        for (let n = 0; n < 4; n += 1) {
          const differences = [{ ...LABEL, field: `books.f${round}-${n}` }];
          first.report(different(`case ${round}-${n}`, { differences }));
        }
      };
      isDown = true;
      for (let round = 0; round < 5; round += 1) {
        const written = first.flush();
        await Promise.resolve();
        report(round);
        await written;
      }
      isDown = false;
      const { fields = [], comparisons } = (await countedRoute()) ?? {};
      expect(comparisons).toBe(20);
      expect(fields.flatMap(({ examples }) => examples)).toHaveLength(3);
      report(5);
      const later = (await countedRoute())?.fields.flatMap(({ examples }) => examples);
      expect(later).toHaveLength(6);
    });

    test("are written soon again where a store takes long, but blocks nothing", async () => {
      delayMs = 40;
      for (const number of [1, 2]) {
        first.report(equal(`${number}`));
        await waitFor(async () => {
          const [counts] = await readComparisons(other);
          return counts?.routes["GET /books"]?.comparisons === number;
        });
        // The write has ended, too.
        await delay(50);
      }
      expect(await countedRoute()).toMatchObject({ comparisons: 2 });
    }, 4000);

    test("count once where the examples of what was compared before can't be deleted", async () => {
      first.report(different("1"));
      await first.flush();
      failing = "deleteAll";
      first.report(equal("2", { subject: "pack:next" }));
      await first.flush();
      failing = undefined;
      expect(await countedRoute()).toMatchObject({ comparisons: 1 });
    });

    test("keep an example that is made while others are written", async () => {
      first.report(different("1"));
      onSet = () => {
        onSet = () => {};
        first.report(different("2"));
      };
      await first.flush();
      const { fields = [] } = (await countedRoute()) ?? {};
      const examples = await Promise.all(fields[0]!.examples.map(({ id }) => readExample(other, id)));
      expect(examples).toEqual([expect.any(Object), expect.any(Object)]);
    });

    test("note what answers have shown", async () => {
      first.report(equal("1", { answer: Buffer.from('{"word":"new"}') }));
      second.report(equal("2", { answer: Buffer.from('{"word":"used"}') }));
      second.report(equal("3", { answer: Buffer.from("no JSON") }));
      first.report(different("4", { result: "unstable", answer: Buffer.from('{"word":"varies"}') }));
      expect((await countedRoute())?.seen.toSorted()).toEqual(["seen=new", "seen=used", "seen=varies"]);
    });

    test("are bounded, whatever is reported", async () => {
      const differences = Array.from({ length: MAX_FIELDS + 50 }, (_, n) => ({
        ...LABEL,
        field: `field ${n}`,
      }));
      for (let client = 0; client < 12; client += 1)
        first.report(
          different(`${client}`, {
            differences: differences.map((each) => ({ ...each, field: `${each.field} of ${client}` })),
            client: "x".repeat(10_000),
            provenBy: `client ${client}`,
          }),
        );
      const counts = await counted();
      expect(counts.routes["GET /books"]?.fields).toHaveLength(MAX_FIELDS);
      expect(counts.routes["GET /books"]?.fields[0]?.clients[0]).toHaveLength(200);
    });

    test.each([MAX_FIELDS + 50, 100 * MAX_FIELDS])(
      "leave room for others where one client shows %i fields, and say so",
      async (fields) => {
        const differences = Array.from({ length: fields }, (_, n) => ({ ...LABEL, field: `field ${n}` }));
        first.report(different("1", { differences }));
        second.report(different("2", { provenBy: "bob", differences: [{ ...LABEL, field: "real" }] }));
        const counts = await counted();
        const all = counts.routes["GET /books"]?.fields ?? [];
        expect(all).toHaveLength(MAX_FIELDS / 10 + 1);
        expect(all.map(({ field }) => field)).toContain("real");
        expect(counts.dropped).toBe(fields - MAX_FIELDS / 10);
        expect(await metrics.text()).toContain(
          `alpha_gateway_comparisons_no_room_total{store="fields"} ${fields - MAX_FIELDS / 10}\n`,
        );
        expect(lines).toContainEqual([expect.any(String), { code: "AG_COMPARISONS_FULL", store: "fields" }]);
      },
    );

    test.each([3000, 30_000])(
      "leave room for others where one client has %i cases, and say so",
      async (cases) => {
        for (let n = 0; n < cases; n += 1) {
          first.report(equal(`${n}`));
          if (n % 1900 === 0) await first.flush();
        }
        for (let n = 0; n < 50; n += 1) first.report(equal(`bob ${n}`, { provenBy: "bob" }));
        const route = await countedRoute();
        expect(route).toMatchObject({ cases: { ann: 1000, bob: 50 }, distinct: 1050, equal: cases + 50 });
        expect(await metrics.text()).toMatch(/comparisons_no_room_total\{store="cases"\} \d+/);
        expect(lines.filter((line) => JSON.stringify(line).includes("AG_COMPARISONS_FULL")).length).toBe(1);
      },
    );

    test("count a client in one set of cases, however many clients there are", async () => {
      for (let client = 0; client < 300; client += 1)
        for (let n = 0; n < 3; n += 1)
          first.report(equal(`${client} ${n}`, { provenBy: `client ${client}` }));
      await first.flush();
      for (let n = 3; n < 6; n += 1) first.report(equal(`299 ${n}`, { provenBy: "client 299" }));
      const { cases = {}, distinct } = (await countedRoute()) ?? {};
      expect(distinct).toBe(903);
      expect(Object.keys(cases).length).toBeLessThanOrEqual(120);
    });

    test("begin again where what is stored is damaged, and go on where a process still has it", async () => {
      first.report(equal("1"));
      await first.flush();
      await store.set("parity:counts:candidate", "{", 60);
      second.report(equal("2"));
      await second.flush();
      expect((await readComparisons(other))[0]?.routes["GET /books"]).toMatchObject({ comparisons: 1 });

      await store.set("parity:counts:candidate", "{", 60);
      second.report(equal("3"));
      await second.flush();
      expect((await readComparisons(other))[0]?.routes["GET /books"]).toMatchObject({ comparisons: 2 });
    });
  });
}

testComparisons("SQLite", sqlitePlace);

const describeRedis = await describeWith("redis-server");
describeRedis("with Redis", () => testComparisons("Redis", redisPlace));
