import { describe, expect, test } from "@jest/globals";
import { formatDay, formatMinute, formatMinuteUtc, formatSecondUtc } from "../../../src/base/text/dates.ts";

describe.each([
  ["as ISO 8601", "2026-03-01T14:05:09.999Z"],
  ["in milliseconds", Date.UTC(2026, 2, 1, 14, 5, 9, 999)],
])("a time %s", (_form, time) => {
  test.each([
    ["a day", formatDay, "2026-03-01"],
    ["a minute", formatMinute, "2026-03-01 14:05"],
    ["a minute with its time zone", formatMinuteUtc, "2026-03-01 14:05 UTC"],
    ["a second with its time zone", formatSecondUtc, "2026-03-01 14:05:09 UTC"],
  ])("is formatted as %s, which is not rounded", (_name, format, expected) =>
    expect(format(time)).toBe(expected),
  );
});

test("a day is a day in UTC, in every time zone of the machine", () => {
  expect(formatDay(Date.UTC(2026, 11, 31, 23, 59))).toBe("2026-12-31");
  expect(formatDay(Date.UTC(2027, 0, 1))).toBe("2027-01-01");
});
