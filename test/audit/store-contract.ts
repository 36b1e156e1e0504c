import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { AuditDurability, AuditQuery, AuditStore } from "../../src/audit/store.ts";
import { sampleId, sampleRecord } from "./sample-record.ts";

/** An implementation under test: `open` gives a store over the same, at first empty, place each time. */
export interface StorePlace {
  readonly open: (durability: AuditDurability) => Promise<AuditStore>;
  readonly remove: () => Promise<void>;
}

/** What every audit store has to do. Strict stores are used where a test needs to know of the commit. */
export function storeContract(name: string, makePlace: () => Promise<StorePlace>): void {
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

    test("gives a record back whole, alone and in a page", async () => {
      const record = sampleRecord(sampleId(1));
      await store.append(record);
      expect(await store.get(record.id)).toEqual(record);
      expect(await store.query({})).toEqual({ records: [record], next: null });
    });

    test("knows nothing of other ids", async () => {
      expect(await store.get("no-such-id")).toBeUndefined();
      expect(await store.query({ before: sampleId(0) })).toEqual({ records: [], next: null });
    });

    test("gives 50 of the newest where no limit is named, and 500 at most", async () => {
      await fill(502);
      expect(await ids({})).toHaveLength(50);
      expect(await ids({ limit: 5000 })).toHaveLength(500);
      expect((await ids({ limit: 2 })).toSorted()).toEqual([sampleId(500), sampleId(501)]);
    });

    test.each([0, 1, 2, 25])("leads through %i records page by page, while others come in", async (count) => {
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

    describe("narrows", () => {
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
        ["by the cursor", { before: "c" }, "ba"],
        [
          "by all at once",
          { client: "c1", route: "POST /x", status: 200, since: "2026-01-01T00:00:00.000Z" },
          "c",
        ],
        ["to nothing", { client: "c1' OR '1'='1" }, ""],
      ])("%s", async (_, query, found) => expect((await ids(query)).join("")).toBe(found));

      test("and pages what is left", async () => {
        const first = await store.query({ client: "c1", limit: 1 });
        expect(first).toMatchObject({ records: [{ id: "c" }], next: "c" });
        expect(await store.query({ client: "c1", limit: 1, before: "c" })).toMatchObject({
          records: [{ id: "b" }],
          next: null,
        });
      });
    });

    test("keeps a record that comes twice once", async () => {
      await store.append(sampleRecord("x"));
      await store.append(sampleRecord("x", { status: 500 }));
      expect(await store.query({})).toMatchObject({ records: [{ alpha: { status: 200 } }] });
    });

    test("refuses what is no JSON, and goes on", async () => {
      const cyclic: Record<string, unknown> = {};
      cyclic["self"] = cyclic;
      const record = sampleRecord("x");
      await expect(store.append({ ...record, alpha: { ...record.alpha, body: cyclic } })).rejects.toThrow(
        "no JSON",
      );
      await store.append(sampleRecord("y"));
      expect(store.stats()).toEqual({ queued: 0, dropped: 1, written: 1, errors: 0 });
      expect(store.ready()).toBe(true);
    });

    test("commits on close what a relaxed store had taken", async () => {
      await store.close();
      const relaxed = await place.open("relaxed");
      for (let n = 0; n < 2500; n += 1) expect(relaxed.append(sampleRecord(sampleId(n)))).toBeUndefined();
      expect(relaxed.stats().queued).toBeGreaterThan(0);
      await relaxed.close();
      expect(relaxed.stats()).toEqual({ queued: 0, dropped: 0, written: 2500, errors: 0 });
      store = await place.open("strict");
      expect(await store.get(sampleId(0))).toBeDefined();
      expect(await store.get(sampleId(2499))).toBeDefined();
    });

    test("after close takes nothing, answers nothing, and closes again in peace", async () => {
      await store.close();
      await store.close();
      await expect(store.append(sampleRecord("x"))).rejects.toThrow("closed");
      await expect(store.query({})).rejects.toThrow("audit store");
      await expect(store.get("x")).rejects.toThrow("audit store");
      expect(store.ready()).toBe(false);
    });
  });
}
