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
const codesInPage = rows.map(([code = ""]) => code.replaceAll("`", ""));

describe("docs/reference/errors.md", () => {
  test("has one row for each error code in src/, and no other rows", () => {
    expect([...codesInPage].toSorted()).toEqual([...new Set(codesInSource)].toSorted());
  });

  test("is sorted by code", () => {
    expect(codesInPage).toEqual(codesInPage.toSorted());
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
