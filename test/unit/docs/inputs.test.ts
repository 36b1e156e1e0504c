import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { splitPage } from "../../../fuzz/worst/page.ts";
import { readScripts } from "../../system/hostile/script.ts";

const { rest } = splitPage(readFileSync("docs/inputs.md", "utf8"));

const rowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:Input|Request) \|/.test(line))
    .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

const rows = rowsOf(rest);

test("docs/inputs.md has a row for each script, and no other (npm run hostile:page writes it)", () => {
  expect(rows.map(([name]) => name)).toEqual(readScripts().map(({ name }) => name));
});

test("docs/inputs.md has the gateway's statuses as the scripts expect them", () => {
  const words = ({ answers: responses, closes }: { answers: readonly number[]; closes: boolean }) =>
    [responses.join(" ") || "no response", ...(closes ? ["ended"] : [])].join(", ");
  expect(rows.map(([, gateway]) => gateway)).toEqual(
    readScripts().map(({ expected: { alpha, native } }) =>
      [...new Set([words(alpha), words(native)])].join(" / "),
    ),
  );
});

test("docs/inputs.md lists no input that harms others", () => {
  expect(rows.map((cells) => cells.at(-1))).toEqual(rows.map(() => "yes"));
});
