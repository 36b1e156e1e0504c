import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { places } from "../../fuzz/worst/places.ts";
import { isAdminRow, MOST_MB, MOST_MS } from "../../fuzz/worst/section.ts";
import { readScripts } from "../system/hostile/script.ts";

/** The rows of a table without its head, each as its cells. */
const rowsOf = (path: string): string[][] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split("\t"));

const rows = rowsOf("docs/results/inputs.tsv");

test("docs/results/inputs.tsv has a row for each script, and no other (npm run hostile:page writes it)", () => {
  expect(rows.map(([about, name]) => [about, name])).toEqual(
    readScripts().map(({ about, name }) => [about, name]),
  );
});

test("docs/results/inputs.tsv has the gateway's statuses as the scripts expect them", () => {
  const words = ({ statuses, closes }: { statuses: readonly number[]; closes: boolean }) =>
    [statuses.join(" ") || "no response", ...(closes ? ["ended"] : [])].join(", ");
  expect(rows.map(([, , gateway]) => gateway)).toEqual(
    readScripts().map(({ expected: { alpha, native } }) =>
      [...new Set([words(alpha), words(native)])].join(" / "),
    ),
  );
});

test("docs/results/inputs.tsv lists no input that harms other clients", () => {
  expect(rows.map((cells) => cells.at(-1))).toEqual(rows.map(() => "yes"));
});

describe("cost of the worst request (npm run fuzz -- worst --page docs/results/inputs.md writes it)", () => {
  const costs = rowsOf("docs/results/costs.tsv").map(([of = "", ms, , mb]) => ({
    of,
    ms: Number(ms),
    mb: Number(mb),
  }));

  test("has a row for each route, form and header", () => {
    const searched = new Set(places("mappings").candidates.map(({ of }) => of));
    expect(costs.map(({ of }) => of).sort()).toEqual([...searched].sort());
  });

  test(`no request costs more than ${MOST_MS} ms or ${MOST_MB} MB`, () => {
    const expensive = costs.filter((row) => !isAdminRow(row) && !(row.ms <= MOST_MS && row.mb <= MOST_MB));
    expect(expensive).toEqual([]);
  });
});
