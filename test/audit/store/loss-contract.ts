import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { NumberedNames } from "../../../src/audit/record/numbered-names.ts";
import type { LossQuery } from "../../../src/audit/usage/loss-usage.ts";
import { createMigrationJudge, spansOf } from "../../../src/audit/usage/migration-state.ts";
import { nameClients } from "../../../src/audit/usage/name-clients.ts";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { NO_CLIENTS } from "../../../src/audit/clients/client-directory.ts";
import { sampleRecord } from "../record/sample-record.ts";
import type { StorePlace } from "./store-contract.ts";

const NAMES = [
  "detail owner: v4 has none",
  "meaning mode: shown as another",
  "rounding size: a part of a GB",
];
const PACK = { names: NAMES };

/** The texts of losses without their severities. */
const textOf = (name: string): string => name.slice(name.indexOf(" ") + 1);

const day = (n: number): string => `2026-03-0${n}T10:00:00.000Z`;

/** What every audit store has to do with losses, and with the days on which clients called. */
export function testLosses(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`losses of the audit store in ${name}`, () => {
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

    /** Stores a record that lost these, by the first letters of their names. */
    async function put(
      id: string,
      lost: string,
      varied: Parameters<typeof sampleRecord>[1] = {},
      { names }: typeof PACK = PACK,
      requests?: number,
    ): Promise<void> {
      const bits = new Uint8Array(Math.ceil(names.length / 8));
      for (const [index, each] of names.entries())
        if (lost.includes(each.slice(0, 1)))
          bits[index >> 3] = (bits[index >> 3] ?? 0) | (0x80 >> (index & 7));
      const texts = names.filter((each) => lost.includes(each.slice(0, 1))).map(textOf);
      await store.append({
        ...sampleRecord(id, { ...varied, losses: texts }),
        ...(lost !== "" && { lost: new NumberedNames(names, bits) }),
        ...(requests !== undefined && { requests }),
      });
    }

    const losses = async (query: LossQuery = {}): Promise<string[]> =>
      (await store.losses(query)).map(
        ({ client, severity, requests, firstDay, lastDay }) =>
          `${client} ${severity} ${requests} ${firstDay.slice(-1)}-${lastDay.slice(-1)}`,
      );

    test("are counted by client, route and day, and ranked by weight, then by requests", async () => {
      await put("a", "dr", { client: "c1", time: day(1) });
      await put("b", "d", { client: "c1", time: day(1) });
      await put("c", "dm", { client: "c1", time: day(3) });
      await put("d", "", { client: "c1", time: day(4) });
      await put("e", "r", { client: "c2", time: day(2) });
      await put("f", "r", { client: "c2", time: day(2) });
      expect(await losses()).toEqual([
        "c1 meaning 1 3-3",
        "c1 detail 3 1-3",
        "c2 rounding 2 2-2",
        "c1 rounding 1 1-1",
      ]);
      expect(await store.losses({ severity: "meaning" })).toEqual([
        {
          client: "c1",
          route: "GET /vm/instances",
          loss: "mode: shown as another",
          severity: "meaning",
          requests: 1,
          firstDay: "2026-03-03",
          lastDay: "2026-03-03",
        },
      ]);
    });

    test("are filtered by client, by route and by day", async () => {
      await put("a", "d", { client: "c1", time: day(1) });
      await put("b", "d", { client: "c1", time: day(2), route: "GET /vm/instances/:id" });
      await put("c", "d", { client: "c2", time: day(3) });
      await put("d", "d", { client: null, time: day(3) });
      expect(await losses({ client: "c2" })).toEqual(["c2 detail 1 3-3"]);
      expect(await losses({ client: null })).toEqual(["null detail 1 3-3"]);
      expect(await losses({ clients: ["c1", null], since: day(2) })).toHaveLength(2);
      expect(await losses({ route: "GET /vm/instances/:id" })).toEqual(["c1 detail 1 2-2"]);
      expect(await losses({ until: day(1) })).toEqual(["c1 detail 1 1-1"]);
      expect(await losses({ limit: 2 })).toHaveLength(2);
    });

    test("have the weight of the pack in which they happened last", async () => {
      const other = { names: ["new list: of another pack", "meaning owner: v4 has none"] };
      await put("a", "d", { client: "c1", time: day(1) });
      await put("b", "m", { client: "c1", time: day(2) }, other);
      expect(await losses()).toEqual(["c1 meaning 2 1-2"]);
    });

    test("of one application are those of all its tokens, also if it becomes known later", async () => {
      await put("a", "d", { client: "t1" });
      await put("b", "d", { client: "t2", application: "app" });
      await put("c", "d", { client: "t1", application: "app" });
      expect(await losses()).toEqual(["application:app detail 3 1-1"]);
    });

    test("with a token that v4 never accepted are not counted, and are once v4 has accepted it", async () => {
      await put("a", "d", { client: "t1", accepted: false });
      await put("b", "m", { client: "made-up", accepted: false });
      expect(await losses()).toEqual([]);
      await put("c", "d", { client: "t1", accepted: true });
      expect(await losses()).toEqual(["t1 detail 2 1-1"]);
      await put("d", "d", { client: "t1", accepted: true });
      expect(await losses()).toEqual(["t1 detail 3 1-1"]);
    });

    test("that were counted under a label are not counted again when v4 accepts the token", async () => {
      await put("a", "d", { client: "t1", accepted: false, label: "web" });
      expect(await losses()).toEqual(["label:web detail 1 1-1"]);
      await put("b", "d", { client: "t1", accepted: true, label: "web" });
      expect(await losses()).toEqual(["label:web detail 2 1-1"]);
    });

    test("of a record that is stored twice count once", async () => {
      await put("a", "d", { client: "c1" });
      await put("a", "d", { client: "c1" });
      expect(await losses()).toEqual(["c1 detail 1 1-1"]);
    });

    test("count all requests that a record stands for", async () => {
      await put("a", "d", { client: "c1" }, PACK, 5);
      expect(await losses()).toEqual(["c1 detail 5 1-1"]);
    });

    test("outlive records, as long as summaries", async () => {
      await put("a", "m", { client: "c1", time: day(1) });
      await put("b", "d", { client: "c1", time: "2026-12-01T10:00:00.000Z" });
      await store.close();
      const clock = () => Date.parse("2026-12-31T10:00:00Z");
      store = await place.open("strict", { clock, retentionDays: 10, usageRetentionDays: 100 });
      while ((await losses()).length > 1 || (await store.count({})) > 0)
        await new Promise((done) => setTimeout(done, 20));
      expect(await losses()).toEqual(["c1 detail 1 1-1"]);
    });

    test("have at most as many rows as summaries: the oldest days go", async () => {
      for (let n = 1; n <= 5; n += 1) await put(`${n}`, "d", { client: `c${n}`, time: day(n) });
      await store.close();
      store = await place.open("strict", { summaryRows: 2 });
      while ((await losses()).length > 2) await new Promise((done) => setTimeout(done, 20));
      expect((await losses()).toSorted()).toEqual(["c4 detail 1 4-4", "c5 detail 1 5-5"]);
    });

    test("are erased with their client", async () => {
      await put("a", "d", { client: "t1", application: "app" });
      await put("b", "d", { client: "c2" });
      await store.erase({ keys: ["application:app"], command: "audit erase" });
      expect(await losses()).toEqual(["c2 detail 1 1-1"]);
    });

    test("are no part of a record", async () => {
      await put("a", "d");
      expect(await store.get("a")).toEqual(sampleRecord("a", { losses: ["owner: v4 has none"] }));
    });

    describe("days with calls", () => {
      const call = (id: string, client: string | null, date: string, lane: "alpha" | "native" = "alpha") =>
        store.append(sampleRecord(id, { client, lane, time: `${date}T10:00:00.000Z` }));

      test("are joined to spans, unless a pause is longer", async () => {
        await call("a", "c1", "2026-02-27");
        await call("b", "c1", "2026-03-06");
        await call("c", "c1", "2026-03-14");
        await call("d", "c1", "2026-03-14");
        await call("e", "c1", "2026-03-10", "native");
        await call("f", "c2", "2026-01-01", "native");
        await call("g", null, "2026-01-01");
        await store.append(sampleRecord("h", { client: "made-up", accepted: false }));
        const span = (client: string, lane: string, firstDay: string, lastDay: string) => ({
          client,
          lane,
          firstDay,
          lastDay,
        });
        expect(await store.spans({ days: 7 })).toEqual([
          span("c1", "alpha", "2026-02-27", "2026-03-06"),
          span("c1", "alpha", "2026-03-14", "2026-03-14"),
          span("c1", "native", "2026-03-10", "2026-03-10"),
          span("c2", "native", "2026-01-01", "2026-01-01"),
        ]);
        expect(await store.spans({ days: 8, clients: ["c1"] })).toHaveLength(2);
        expect(await store.spans({ days: 7, clients: ["c2"] })).toHaveLength(1);
      });

      test("say which clients came back, whatever happens to their records", async () => {
        const month = (n: number, date: string): string => `2026-0${n}-${date}`;
        for (const n of [1, 2, 3, 4, 5]) await call(`job-${n}`, "monthly job", month(n, "15"));
        for (const name of ["back", "finished"]) {
          await call(`${name}-1`, name, month(1, "10"));
          for (const n of [1, 2, 3, 4, 5]) await call(`${name}-native-${n}`, name, month(n, "20"), "native");
          await call(`${name}-2`, name, month(3, "01"));
        }
        await call("back-3", "back", month(5, "12"));
        await call("both-1", "never ready", month(1, "10"));
        await call("both-2", "never ready", month(5, "01"), "native");
        await call("both-3", "never ready", month(5, "01"));
        await call("both-4", "never ready", month(5, "10"), "native");
        await call("both-5", "never ready", month(5, "15"));
        await store.close();
        const clock = () => Date.parse("2026-05-21T10:00:00Z");
        store = await place.open("strict", { clock, retentionDays: 2 });
        while ((await store.count({})) > 2) await new Promise((done) => setTimeout(done, 20));

        const quiet = { quietDays: 14, now: clock() };
        const named = nameClients(await store.clients({}), NO_CLIENTS);
        const judge = createMigrationJudge(await store.spans(spansOf({}, quiet)), named, quiet);
        const states = named.map((client) => {
          const { state, cameBack } = judge(client);
          return `${client.client}: ${state}, ${cameBack}`;
        });
        expect(states.toSorted()).toEqual([
          "back: moving, 2026-05-12",
          "finished: ready, null",
          "monthly job: not begun, null",
          "never ready: moving, null",
        ]);
      });
    });
  });
}
