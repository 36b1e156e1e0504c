import { describe, expect, test } from "vitest";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { findRetiredWords } from "./retired-words.ts";

/** Files and folders whose prose is checked. Add a folder to check all pages in it. */
const CHECKED = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "mappings/README.md", "docs"];

/** Written by commands, out of texts in `test/system/hostile`, `test/system/chaos`, `fuzz` and `bench`: change them there first. */
const GENERATED = new Set(["docs/inputs.md", "docs/faults.md", "docs/fuzzing.md", "docs/soak.md"]);

const pages = CHECKED.flatMap((path) =>
  statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name))
    : [path],
).filter((path) => path.endsWith(".md") && !GENERATED.has(path));

/** The threats of the threat model are written beside their tests: its prose is checked, its tables are not yet. */
const textOf = (page: string): string => {
  const text = readFileSync(page, "utf8");
  return page === "docs/threat-model.md" ? text.replaceAll(/^\|.*$/gm, "") : text;
};

describe("retired words", () => {
  test.each(pages)("%s uses standard terms", (page) => {
    expect(findRetiredWords(textOf(page))).toEqual([]);
  });

  test("are found in prose, with their line", () => {
    expect(findRetiredWords("A request\nthat is under way\n")).toEqual([
      'line 2: "under way" (use: in flight, in progress)',
    ]);
  });

  test("are not looked for in code, in links or within longer words", () => {
    const text = "`answers` and [a page](answer.md), a roadmap\n\n```yaml\nanswers: 1\n```\n";
    expect(findRetiredWords(text)).toEqual([]);
  });
});
