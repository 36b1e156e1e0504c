import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { AuditStore } from "../../../src/audit/store/store.ts";
import { sampleId, sampleRecord } from "../record/sample-record.ts";
import type { StorePlace } from "./store-contract.ts";

const TOKEN = "0123456789abcdef";
const OTHER = "fedcba9876543210";
const FREEZE = Date.parse("2026-03-02T00:00:00Z");
const BEFORE = "2026-03-01T10:00:00.000Z";
const AFTER = "2026-03-03T10:00:00.000Z";
const ROUTES = ["GET /vm/instances"];

type Varied = NonNullable<Parameters<typeof sampleRecord>[1]>;

/** What every audit store has to answer about single clients, by which the gateway decides about their requests. */
export function testDecisions(name: string, makePlace: () => Promise<StorePlace>): void {
  describe(`decisions of the audit store in ${name}`, () => {
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

    let records = 0;
    const put = async (...all: Varied[]): Promise<void> => {
      await Promise.all(
        all.map(async (varied) => store.append(sampleRecord(sampleId((records += 1)), varied))),
      );
    };

    const wasServed = (...clients: string[]): Promise<boolean> =>
      store.decisions.wasServed({ clients, before: FREEZE, routes: ROUTES });

    describe("a client used the client's API before", () => {
      test.each<[string, Varied, boolean]>([
        ["if its token was accepted before the day", { time: BEFORE }, true],
        ["if it only got errors before the day", { time: BEFORE, status: 404 }, true],
        ["if the old service answered it before the day", { time: BEFORE, lane: "legacy" }, true],
        ["if it was served since", { time: AFTER }, true],
        ["not if it was only refused since", { time: AFTER, status: 403 }, false],
        ["not if it called no route of the pack since", { time: AFTER, route: "POST /oauth/token" }, false],
        ["not if it used the new API alone", { time: BEFORE, lane: "native", route: null }, false],
        ["not if another token was used", { time: BEFORE, client: OTHER }, false],
        ["not if its token was not accepted", { time: BEFORE, accepted: false }, false],
      ])("%s", async (_title, varied, expected) => {
        await put(varied);
        expect(await wasServed(TOKEN)).toBe(expected);
      });

      test("if one of its keys has", async () => {
        await put({ time: BEFORE, client: OTHER, application: "app" });
        expect(await wasServed(TOKEN)).toBe(false);
        expect(await wasServed(TOKEN, "application:app")).toBe(true);
      });

      test("by a token that is counted under its label or its application", async () => {
        await put({ time: BEFORE, label: "acme" }, { time: BEFORE, client: OTHER, application: "app" });
        expect(await wasServed(TOKEN)).toBe(true);
        expect(await wasServed(OTHER)).toBe(true);
      });

      test("however much it does beside it", async () => {
        const natively = (time: string, n: number): Varied => ({
          time,
          lane: "native",
          route: null,
          status: n,
        });
        await put({ time: BEFORE });
        await put(
          ...Array.from({ length: 1000 }, (_, n) => natively(AFTER, 100 + n)),
          ...Array.from({ length: 1000 }, (_, n) => natively("2026-02-01T10:00:00.000Z", 100 + n)),
          { time: "2026-03-04T10:00:00.000Z" },
        );
        expect(await wasServed(TOKEN)).toBe(true);
      });
    });

    describe("the calls of a client", () => {
      const range = { since: "2026-03-01T12:00:00.000Z", until: "2026-03-03T12:00:00.000Z" };
      const callsOf = (...clients: string[]) => store.decisions.callsOf({ clients, ...range });

      test("are those of all its keys in the days of the range", async () => {
        await put({ time: "2026-02-28T12:00:00.000Z" }, { time: BEFORE }, { time: AFTER });
        await put({ time: AFTER, client: OTHER }, { time: AFTER, lane: "native", route: null });
        expect(await callsOf(TOKEN)).toEqual({ requests: 2, hasCalled: true });
        expect(await callsOf(TOKEN, OTHER)).toEqual({ requests: 3, hasCalled: true });
        expect(await callsOf("aaaaaaaaaaaaaaaa")).toEqual({ requests: 0, hasCalled: false });
      });

      test.each<[string, string]>([
        ["before its first moment", BEFORE],
        ["at its end", range.until],
      ])("are none in the range if all were %s", async (_title, time) => {
        await put({ time });
        expect(await callsOf(TOKEN)).toEqual({ requests: 1, hasCalled: false });
      });
    });

    test("tokens come in pages, without those that sent no call of the client's API lately", async () => {
      const fingerprintOf = (n: number): string => n.toString(16).padStart(16, "0");
      await put(
        ...Array.from({ length: 1001 }, (_, n) => ({ time: AFTER, client: fingerprintOf(n) })),
        { time: BEFORE, client: OTHER },
        { time: AFTER, client: TOKEN, lane: "native" as const, route: null },
      );
      const pageAfter = async (after: string): Promise<readonly string[]> =>
        (await store.decisions.tokenPage({ after, since: "2026-03-02T00:00:00.000Z" })).map(
          ({ fingerprint }) => fingerprint,
        );
      const first = await pageAfter("");
      expect(first).toEqual(Array.from({ length: 1000 }, (_, n) => fingerprintOf(n)));
      expect(await pageAfter(first.at(-1) ?? "")).toEqual([fingerprintOf(1000)]);
      expect(await pageAfter(fingerprintOf(1000))).toEqual([]);
    });

    test("no client's past takes a statement that is not one", async () => {
      expect(await wasServed("' OR '1'='1", '"]', "\\")).toBe(false);
      expect(await wasServed()).toBe(false);
    });
  });
}
