/** The table of error codes, held against the codes in `src/`. The types of the log and of errors require a code. */
import { describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "docs/reference/errors.md";
const CODE = /\bAG_[A-Z0-9]+(?:_[A-Z0-9]+)*\b/g;

const codesInSource = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => /\.(?:ts|js)$/.test(path))
  .flatMap((path) => readFileSync(join("src", path), "utf8").match(CODE) ?? []);

const page = readFileSync(PAGE, "utf8");

/** The rows of a section. A section with one remedy for all of its codes has it above its table. */
const rowsOf = (section: string): string[][] =>
  section
    .split("\n")
    .filter((line) => line.startsWith("| `AG_"))
    .map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
/** The codes of each row. Codes with the same cause and remedy share one. */
const codesOfRows = rowsOf(page).map(([codes = ""]) => codes.match(CODE) ?? []);

describe("docs/reference/errors.md", () => {
  test("contains each error code in src/ once, and no other codes", () => {
    expect(codesOfRows.flat().toSorted()).toEqual([...new Set(codesInSource)].toSorted());
  });

  test("is sorted by the first code of each row, in each section", () => {
    for (const section of page.split("\n## ")) {
      const firstCodes = rowsOf(section).map(([codes = ""]) => codes.match(CODE)?.[0] ?? "");
      expect(firstCodes).toEqual(firstCodes.toSorted());
    }
  });

  test("gives a cause and a remedy for each code", () => {
    for (const section of page.split("\n## ").slice(1)) {
      const hasCommonRemedy = /^.+\n\n[^|]{20,}/.test(section);
      for (const [codes, cause = "", remedy = "", ...others] of rowsOf(section))
        expect({
          codes,
          others,
          hasCause: cause.length > 20,
          hasRemedy: hasCommonRemedy || remedy.length > 20,
        }).toEqual({ codes, others: [], hasCause: true, hasRemedy: true });
    }
  });
});
