/** Who came back: a client that calls alpha again after it had been ready. */
import { describe, expect, test } from "@jest/globals";
import type { CallSpan } from "../../../src/audit/usage/usage-reader.ts";
import {
  cameBackOn,
  migrationStateOf,
  type MigrationState,
} from "../../../src/audit/usage/migration-state.ts";

const QUIET_DAYS = 7;

const spans = (lane: CallSpan["lane"], ...days: readonly string[]) =>
  days.map((text) => {
    const [firstDay = "", lastDay = firstDay] = text.split(" to ");
    return { lane, firstDay, lastDay };
  });
const alpha = (...days: readonly string[]) => spans("alpha", ...days);
const native = (...days: readonly string[]) => spans("native", ...days);

describe("a client came back", () => {
  test.each<[string, ReturnType<typeof spans>, MigrationState | null, string | null]>([
    [
      "if it called alpha again after a pause with v4 calls",
      [...alpha("2026-01-01 to 2026-01-10", "2026-02-01"), ...native("2026-01-12 to 2026-02-01")],
      "moving",
      "2026-02-01",
    ],
    [
      "on the last of several returns",
      [
        ...alpha("2026-03-15", "2026-01-01", "2026-02-01"),
        ...native("2026-01-20 to 2026-01-21", "2026-02-10 to 2026-02-20"),
      ],
      "moving",
      "2026-03-15",
    ],
    [
      "once: it is not ready again during a pause as long as the one before",
      [...alpha("2026-01-01", "2026-02-01", "2026-03-01"), ...native("2026-01-20", "2026-02-20")],
      "moving",
      "2026-02-01",
    ],
    [
      "and is still named if it has fallen silent since",
      [...alpha("2026-01-01", "2026-02-01"), ...native("2026-01-20")],
      "silent",
      "2026-02-01",
    ],
    [
      "and is not named any more when it is ready again",
      [...alpha("2026-01-01", "2026-02-01"), ...native("2026-01-20", "2026-03-01")],
      "ready",
      null,
    ],
    [
      "not if it never called v4: a monthly job",
      alpha("2026-01-01", "2026-02-01", "2026-03-01"),
      "not begun",
      null,
    ],
    [
      "not if it calls v4 on the same days only: a monthly job that has begun to move",
      [...alpha("2026-01-01", "2026-02-01"), ...native("2026-01-01", "2026-02-01")],
      "moving",
      null,
    ],
    [
      "not if its pause was no longer than the quiet time",
      [...alpha("2026-01-01", "2026-01-08"), ...native("2026-01-01 to 2026-01-08")],
      "moving",
      null,
    ],
    [
      "if its pause was a day longer",
      [...alpha("2026-01-01", "2026-01-09"), ...native("2026-01-01 to 2026-01-09")],
      "moving",
      "2026-01-09",
    ],
    [
      "not if it called v4 after the pause only",
      [...alpha("2026-01-01", "2026-02-01"), ...native("2026-02-01 to 2026-02-03")],
      "moving",
      null,
    ],
    ["not if it called alpha once", [...alpha("2026-02-01"), ...native("2026-01-01")], "moving", null],
    [
      "not if it is nobody's migration",
      [...alpha("2026-01-01", "2026-02-01"), ...native("2026-01-20")],
      null,
      null,
    ],
  ])("%s", (_, given, state, day) => {
    expect(cameBackOn(given, state, { quietDays: QUIET_DAYS })).toBe(day);
  });

  test("by any of its keys: one token has moved, and another one has not", () => {
    const ofKeys = [...alpha("2026-01-01 to 2026-01-05"), ...alpha("2026-02-01"), ...native("2026-01-10")];
    expect(cameBackOn(ofKeys, "moving", { quietDays: QUIET_DAYS })).toBe("2026-02-01");
    const overlapping = [...ofKeys, ...alpha("2026-01-04 to 2026-01-30")];
    expect(cameBackOn(overlapping, "moving", { quietDays: QUIET_DAYS })).toBeNull();
  });
});

describe("a client that has paused for 30 days before", () => {
  const now = Date.parse("2026-06-01T00:00:00Z");
  const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString();

  test.each<[string, number, MigrationState]>([
    ["is moving in a pause that is no longer, as a monthly job has it", 30, "moving"],
    ["is ready in a longer pause", 31, "ready"],
  ])("%s", (_, days, state) => {
    const calls = { lastAlpha: daysAgo(days), lastNative: daysAgo(1), longestPauseMs: 30 * 86_400_000 };
    expect(migrationStateOf({ client: "a", ...calls }, { quietDays: QUIET_DAYS, now })).toBe(state);
  });
});
