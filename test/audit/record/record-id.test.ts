import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createRecordIds } from "../../../src/audit/record/record-id.ts";
import { recordTime } from "../../../src/audit/record/record-time.ts";

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function take(count: number, next: () => string): string[] {
  return Array.from({ length: count }, next);
}

describe("record ids", () => {
  test("are UUIDs of version 7", () => {
    for (const id of take(50, createRecordIds())) expect(id).toMatch(VERSION_7);
  });

  test("start with their time (the example of RFC 9562, A.6)", () => {
    expect(createRecordIds(() => Date.parse("2022-02-22T14:22:22-05:00"))()).toMatch(/^017f22e2-79b0-7000-/);
  });

  test("have the time in their first 48 bits", () => {
    let now = 0;
    const next = createRecordIds(() => now);
    const [start, end] = [Date.parse("2026-01-01"), Date.parse("2100-01-01")];
    const times = fc.sample(fc.integer({ min: start, max: end }), 500).toSorted((a, b) => a - b);
    for (now of new Set(times)) expect(next().slice(0, 13).replace("-", "")).toBe(hex48(now));
  });

  test.each([
    ["a clock that stands", () => 1_700_000_000_000],
    ["a clock that runs back", backwards()],
    ["the machine's clock", Date.now],
  ])("sort by creation time under %s", (_, clock) => {
    const ids = take(20_000, createRecordIds(clock));
    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("are different in two processes in the same millisecond", () => {
    const clock = () => 1_700_000_000_000;
    expect(createRecordIds(clock)()).not.toBe(createRecordIds(clock)());
  });
});

test("the time of a record is written as Date.toISOString does", () => {
  const times = fc.sample(fc.integer({ min: 0, max: Date.parse("2100-01-01") }), 500);
  const borders = [0, 59_999, 60_000, 999, 1000, Date.parse("2026-12-31T23:59:59.999Z")];
  for (const time of [...times, ...borders]) expect(recordTime(time)).toBe(new Date(time).toISOString());
});

const hex48 = (number: number): string => number.toString(16).padStart(12, "0");

function backwards(): () => number {
  let now = 1_700_000_000_000;
  return () => (now -= 1);
}
