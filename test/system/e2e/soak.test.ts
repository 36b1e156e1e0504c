import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { faultsOf, type Outcome, type Sample } from "../../../bench/soak/verdict.ts";
import { killAll, REPOSITORY, run } from "./program.ts";

afterEach(killAll);

test("a short soak run with all clients and operators succeeds and leaks no descriptor", async () => {
  const script = [join(REPOSITORY, "bench", "soak.ts")];
  const { code, out, err } = await run(["--seconds", "15", "--rate", "40"], { script }).ended;

  expect(out).toContain("Verdict: steady: nothing failed, nothing grew");
  const done = [...out.matchAll(/^ +(\d+) (an? .+|no token|creates .+)$/gm)];
  expect(done.length).toBeGreaterThan(20);
  expect(done.filter(([, times]) => Number(times) === 0)).toEqual([]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
}, 180_000);

/** Half an hour without changes, except the given values of each minute. */
function halfAnHour(changed: (minute: number) => Partial<Sample> = () => ({})): Outcome {
  const samples = Array.from({ length: 30 }, (_, minute) => ({
    second: (minute + 1) * 60,
    responses: 5400,
    p99: 20,
    residentMb: 300,
    heapMb: 80,
    descriptors: 90,
    ...changed(minute),
  }));
  const done = new Map([["a list", 780]]);
  return { samples, failures: { count: 0, first: [] }, done, descriptors: { before: 50, after: 52 } };
}

describe("judging a soak run of half an hour", () => {
  test("passes if nothing grows", () => expect(faultsOf(halfAnHour())).toEqual([]));

  test("passes if it grows and is slow while it warms up", () => {
    const warmingUp = halfAnHour((minute) =>
      minute < 5 ? { residentMb: 200 + 20 * minute, heapMb: 40 + 8 * minute, p99: 100 - 16 * minute } : {},
    );
    expect(faultsOf(warmingUp)).toEqual([]);
  });

  test("passes with one bad minute", () => {
    const hiccup = halfAnHour((minute) => (minute === 27 ? { p99: 900, residentMb: 350 } : {}));
    expect(faultsOf(hiccup)).toEqual([]);
  });

  test.each<[string, (minute: number) => Partial<Sample>, RegExp]>([
    ["resident memory", (minute) => ({ residentMb: 300 + 4 * minute }), /^resident memory grew by 56\.0 MB/],
    ["the heap", (minute) => ({ heapMb: 80 + minute }), /^the heap grew by 14\.0 MB/],
    ["what clients wait", (minute) => ({ p99: 20 + 2 * minute }), /^p99 rose from 38\.0 to 70\.0 ms/],
  ])("fails if %s keeps growing", (_, changed, result) => {
    expect(faultsOf(halfAnHour(changed))).toEqual([expect.stringMatching(result)]);
  });

  test("fails if descriptors stay open", () => {
    const outcome = { ...halfAnHour(), descriptors: { before: 50, after: 70 } };
    expect(faultsOf(outcome)).toEqual(["descriptors grew from 50 to 70"]);
  });

  test("fails if a request failed or an action never ran", () => {
    const failures = { count: 2, first: ["a list: got 500", "a list: got 500"] };
    expect(faultsOf({ ...halfAnHour(), failures, done: new Map([["a file sent", 0]]) })).toEqual([
      "2 failed: a list: got 500 | a list: got 500",
      "never done: a file sent",
    ]);
  });
});
