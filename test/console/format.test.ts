import { expect, test } from "@jest/globals";
// @ts-expect-error The pages are JavaScript without declarations.
import { dayOf, percent, plural, stageMs } from "../../src/console/public/format.js";

test.each([
  ["a count of one", plural(1, "call"), "1 call"],
  ["a count of several", plural(2, "call"), "2 calls"],
  ["one of a word with another plural", plural(1, "loss", "losses"), "1 loss"],
  ["several of a word with another plural", plural(2, "loss", "losses"), "2 losses"],
  ["a share", percent(1, 3), "33 %"],
  ["a share of nothing", percent(0, 0), "–"],
  ["the time of a stage", stageMs(0.0421), "0.042 ms"],
  ["the day of a time in UTC", dayOf("2026-03-01T23:59:59.000Z"), "2026-03-01"],
  ["the day of milliseconds", dayOf(Date.UTC(2026, 2, 1)), "2026-03-01"],
])("%s reads %s", (_name, text, expected) => expect(text).toBe(expected));
