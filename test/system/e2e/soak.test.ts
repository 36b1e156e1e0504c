import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { faultsOf, type Outcome, type Sample } from "../../../bench/soak/verdict.ts";
import { killAll, REPOSITORY, run } from "./program.ts";

afterEach(killAll);

test("under everything that clients and operators do, all goes as it should and no descriptor stays open", async () => {
  const script = [join(REPOSITORY, "bench", "soak.ts")];
  const { code, out, err } = await run(["--seconds", "15", "--rate", "40"], { script }).ended;

  expect(out).toContain("Verdict: steady: nothing failed, nothing grew");
  const done = [...out.matchAll(/^ +(\d+) (an? .+|no token|creates .+)$/gm)];
  expect(done.length).toBeGreaterThan(20);
  expect(done.filter(([, times]) => Number(times) === 0)).toEqual([]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
}, 180_000);

/** Half an hour in which all stays as it is, but for what is given of each minute. */
function halfAnHour(changed: (minute: number) => Partial<Sample> = () => ({})): Outcome {
  const samples = Array.from({ length: 30 }, (_, minute) => ({
    second: (minute + 1) * 60,
    answers: 5400,
    p99: 20,
    residentMb: 300,
    heapMb: 80,
    descriptors: 90,
    ...changed(minute),
  }));
  const done = new Map([["a list", 780]]);
  return { samples, failures: { count: 0, first: [] }, done, descriptors: { before: 50, after: 52 } };
}

describe("a run of half an hour", () => {
  test("in which nothing changes is steady", () => expect(faultsOf(halfAnHour())).toEqual([]));

  test("may grow while it warms up, and be slow then", () => {
    const warmingUp = halfAnHour((minute) =>
      minute < 5 ? { residentMb: 200 + 20 * minute, heapMb: 40 + 8 * minute, p99: 100 - 16 * minute } : {},
    );
    expect(faultsOf(warmingUp)).toEqual([]);
  });

  test("may have a bad minute", () => {
    const hiccup = halfAnHour((minute) => (minute === 27 ? { p99: 900, residentMb: 350 } : {}));
    expect(faultsOf(hiccup)).toEqual([]);
  });

  test.each<[string, (minute: number) => Partial<Sample>, RegExp]>([
    ["resident memory", (minute) => ({ residentMb: 300 + 4 * minute }), /^resident memory grew by 56\.0 MB/],
    ["the heap", (minute) => ({ heapMb: 80 + minute }), /^the heap grew by 14\.0 MB/],
    ["what clients wait", (minute) => ({ p99: 20 + 2 * minute }), /^p99 rose from 38\.0 to 70\.0 ms/],
  ])("in which %s goes on growing is not", (_, changed, told) => {
    expect(faultsOf(halfAnHour(changed))).toEqual([expect.stringMatching(told)]);
  });

  test("after which descriptors are open that were not before is not", () => {
    const outcome = { ...halfAnHour(), descriptors: { before: 50, after: 70 } };
    expect(faultsOf(outcome)).toEqual(["descriptors grew from 50 to 70"]);
  });

  test("in which something failed, or was never done, is not", () => {
    const failures = { count: 2, first: ["a list: got 500", "a list: got 500"] };
    expect(faultsOf({ ...halfAnHour(), failures, done: new Map([["a file sent", 0]]) })).toEqual([
      "2 failed: a list: got 500 | a list: got 500",
      "never done: a file sent",
    ]);
  });
});
