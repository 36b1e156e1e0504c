import { expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { readScripts } from "../hostile/script.ts";

const rows = readFileSync("docs/inputs.md", "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| Input |"))
  .map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));

test("docs/inputs.md has a row for each script, and no other (npm run hostile:page writes it)", () => {
  expect(rows.map(([name]) => name)).toEqual(readScripts().map(({ name }) => name));
});

test("docs/inputs.md has the gateway's answers as the scripts expect them", () => {
  const words = ({ answers, closes }: { answers: readonly number[]; closes: boolean }) =>
    [answers.join(" ") || "no answer", ...(closes ? ["ended"] : [])].join(", ");
  expect(rows.map(([, gateway]) => gateway)).toEqual(
    readScripts().map(({ expected: { alpha, native } }) =>
      [...new Set([words(alpha), words(native)])].join(" / "),
    ),
  );
});

test("docs/inputs.md knows of no input that harms others", () => {
  expect(rows.map((cells) => cells.at(-1))).toEqual(rows.map(() => "yes"));
});
