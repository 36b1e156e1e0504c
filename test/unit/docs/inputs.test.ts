import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { places } from "../../../fuzz/worst/places.ts";
import { isAdminRow, MOST_MB, MOST_MS, splitPage } from "../../../fuzz/worst/section.ts";
import { readScripts } from "../../system/hostile/script.ts";

const { rest, section } = splitPage(readFileSync("docs/results/inputs.md", "utf8"));

const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:Input|Request) \|/.test(line))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

const rows = rowsOf(rest);

test("docs/results/inputs.md has a row for each script, and no other (npm run hostile:page writes it)", () => {
  expect(rows.map(([name]) => name)).toEqual(readScripts().map(({ name }) => name));
});

test("docs/results/inputs.md has the gateway's statuses as the scripts expect them", () => {
  const words = ({ statuses, closes }: { statuses: readonly number[]; closes: boolean }) =>
    [statuses.join(" ") || "no response", ...(closes ? ["ended"] : [])].join(", ");
  expect(rows.map(([, gateway]) => gateway)).toEqual(
    readScripts().map(({ expected: { alpha, native } }) =>
      [...new Set([words(alpha), words(native)])].join(" / "),
    ),
  );
});

test("docs/results/inputs.md lists no input that harms others", () => {
  expect(rows.map((cells) => cells.at(-1))).toEqual(rows.map(() => "yes"));
});

describe("cost of the worst request (npm run fuzz -- worst --page docs/results/inputs.md writes it)", () => {
  const costs = rowsOf(section).map(([of = "", ms, , mb]) => ({ of, ms: Number(ms), mb: Number(mb) }));

  test("has a row for each route, form and header", () => {
    const searched = new Set(places("mappings").candidates.map(({ of }) => of));
    expect(costs.map(({ of }) => of).sort()).toEqual([...searched].sort());
  });

  test(`no request costs more than ${MOST_MS} ms or ${MOST_MB} MB`, () => {
    const expensive = costs.filter((row) => !isAdminRow(row) && !(row.ms <= MOST_MS && row.mb <= MOST_MB));
    expect(expensive).toEqual([]);
  });
});
