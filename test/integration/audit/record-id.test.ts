import { describe, expect, test } from "vitest";
import { createRecordIds } from "../../../src/audit/record-id.ts";

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

function backwards(): () => number {
  let now = 1_700_000_000_000;
  return () => (now -= 1);
}
