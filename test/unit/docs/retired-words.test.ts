import { describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";
import { findInFile, listFiles } from "./find-retired-words.ts";
import { describeFound, findInMarkdown, findInTypeScript } from "./retired-words.ts";

/** Files and folders whose prose is checked. Add a folder to check all pages in it. */
const PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "mappings/README.md", "docs"];

const pages = PAGES.flatMap(listFiles).filter((path) => path.endsWith(".md"));
/** The list of retired words, and its test. */
const isAboutRetiredWords = (path: string): boolean => path.startsWith("test/unit/docs/retired-words");

const sources = ["src", "bench", "fuzz", "test"]
  .flatMap(listFiles)
  .filter((path) => path.endsWith(".ts") && !isAboutRetiredWords(path));

const findInPage = (page: string): string[] => findInMarkdown(readFileSync(page, "utf8")).map(describeFound);

describe("retired words in documents", () => {
  test.each(pages)("%s uses standard terms", (page) => {
    expect(findInPage(page)).toEqual([]);
  });

  test("are found in prose, with their line", () => {
    expect(findInMarkdown("A request\nthat is under way\n").map(describeFound)).toEqual([
      'line 2: "under way" (use: in flight, in progress)',
    ]);
  });

  test("are not looked for in code, in links or within longer words", () => {
    const text = "`answers` and [a page](answer.md), a roadmap\n\n```yaml\nanswers: 1\n```\n";
    expect(findInMarkdown(text)).toEqual([]);
  });
});

describe("retired words in code", () => {
  test.each(sources)("%s uses standard terms", (path) => {
    expect(findInFile(path).map(describeFound)).toEqual([]);
  });

  test.each([
    ["a comment", "/** The road. */", "road"],
    ["a comment of several lines", "/**\n * A call\n * that is told.\n */", "told"],
    ["a message", 'log.error("the road is closed");', "road"],
    ["a template string", "const x = `one ${a} is told ${b}`;", "told"],
    ["the text of a template behind a nested one", "const x = `${a ? `b${c}` : {}} they are told`;", "told"],
    ["a name", "buildRoad();", "buildRoad"],
    ["a constant", "LANE_COUNT", "LANE_COUNT"],
    ["a private member", "this.#underWay", "#underWay"],
    ["a declared name that says nothing alone", "const made = 1;", "made"],
  ])("are found in %s", (_where, source, word) => {
    expect(findInTypeScript(source).map((found) => found.word)).toEqual([word]);
  });

  test.each([
    ["keys", 'row["lane"]; x = { "road": 1 };'],
    ["member names that stored records have", "record.lane"],
    ["regular expressions", "const x = /the road is told/;\nconst y = a / b / told2;"],
    ["queries", 'run("SELECT answer FROM audit");'],
    ["longer words", "roadmap(broadcast);"],
    ["names that are used, not declared", "rule.known"],
    ["code in comments", "/** See `road`. */"],
  ])("are not looked for in %s", (_where, source) => {
    expect(findInTypeScript(source)).toEqual([]);
  });

  test("have their line", () => {
    expect(findInTypeScript("\n\n/**\n * A call\n * that is told.\n */\nroad();")).toMatchObject([
      { line: 5, word: "told" },
      { line: 7, word: "road" },
    ]);
  });
});
