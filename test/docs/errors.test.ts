/** The table of error codes, held against the codes in `src/`. The types of the log and of errors require a code. */
import { describe, expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PAGE = "docs/reference/errors.md";
const CODE = /\bAG_[A-Z0-9]+(?:_[A-Z0-9]+)*\b/g;

const codesInSource = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => /\.(?:ts|js)$/.test(path))
  .flatMap((path) => readFileSync(join("src", path), "utf8").match(CODE) ?? []);

const rows = readFileSync(PAGE, "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| `AG_"))
  .map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
/** The codes of each row. Codes with the same cause and remedy share one. */
const codesOfRows = rows.map(([codes = ""]) => codes.match(CODE) ?? []);

describe("docs/reference/errors.md", () => {
  test("has each error code in src/ once, and no others", () => {
    expect(codesOfRows.flat().toSorted()).toEqual([...new Set(codesInSource)].toSorted());
  });

  test("is sorted by the first code of each row", () => {
    const firstCodes = codesOfRows.map(([first]) => first);
    expect(firstCodes).toEqual(firstCodes.toSorted());
  });

  test("gives a cause and a remedy for each code", () => {
    for (const [code, cause = "", remedy = "", ...others] of rows) {
      expect({ code, others, hasCause: cause.length > 20, hasRemedy: remedy.length > 20 }).toEqual({
        code,
        others: [],
        hasCause: true,
        hasRemedy: true,
      });
    }
  });
});
