/** Dates, counts and plurals that people read are formatted in one place for the program, and in one for the pages. */
import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where they are formatted. */
const HOMES = new Set([
  "base/text/dates.ts",
  "base/text/counts.ts",
  "base/text/date-time.ts",
  "console/public/format.js",
]);

/** The texts of the v4 service are data, and `jsonata` formats what an expression asks for. */
const OTHERS = ["sandbox/", "jsonata/"];

/** A date that is cut from a time, a plural that is made by hand, and numbers by the rules of a language. */
const FORMATTING =
  /toISOString\(\)\.slice|slice\(11, 1[69]\)|"T", " "|\? "" : "s"|toLocale\w*String|Intl\.(?:Number|DateTime|RelativeTime)Format/g;

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
  (name) => /\.[jt]s$/.test(name) && !HOMES.has(name) && !OTHERS.some((folder) => name.startsWith(folder)),
);

test("nothing else formats a date, a count or a plural", () => {
  const found = files.flatMap((name) =>
    (readFileSync(join("src", name), "utf8").match(FORMATTING) ?? []).map((text) => `${name}: ${text}`),
  );
  expect(found).toEqual([]);
});
