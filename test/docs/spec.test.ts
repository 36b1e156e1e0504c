/** Each cited id is a statement of `docs/spec`, and each statement has a test. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

const SPEC = join("docs", "spec");
const THIS_FILE = join("test", "docs", "spec.test.ts");

const ID = "(?:[AV]-\\d{3}|T-\\d+(?:\\.\\d+)?|[RL]-\\d{1,2})";
const CITATION = new RegExp(`(?<![\\w-])(${ID})(?: to (${ID}))?(?![\\w-])`, "g");

interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Data of other origin, pictures, and this file. */
const isChecked = (path: string): boolean =>
  path !== THIS_FILE && !path.startsWith(join("test", "spec", "jsonata")) && !/\.(?:png|ico|gz)$/.test(path);

const ROOT_PAGES = readdirSync(".").filter((name) => name.endsWith(".md"));
const FOLDERS = [
  ".ci",
  "bench",
  "bin",
  "deploy",
  "docs",
  "examples",
  "fuzz",
  "mappings",
  "schema",
  "src",
  "test",
];

const files: readonly TextFile[] = [
  ...ROOT_PAGES,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
    ),
  ),
]
  .filter(isChecked)
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

const pages = files.filter(({ path }) => path.startsWith(SPEC) && !path.endsWith("README.md"));
const statements = pages.flatMap(({ text }) =>
  [...text.matchAll(new RegExp(`^- \\*\\*(${ID})\\*\\* \\S`, "gm"))].map(([, id = ""]) => id),
);
const headings = pages.flatMap(({ text }) =>
  [...text.matchAll(new RegExp(`^#+ (${ID}) `, "gm"))].map(([, id = ""]) => id),
);
const knownIds = new Set([...statements, ...headings]);

/** The order of the ids with one letter: `T-8.9` is before `T-8.10`. */
function numberOf(id: string): number {
  const [chapter = 0, section = 0] = id.slice(2).split(".").map(Number);
  return chapter * 1000 + section;
}

/** Returns the cited ids of a text. A range is all statements from its first to its last one. */
function citedIds(text: string): string[] {
  return [...text.matchAll(CITATION)].flatMap(([, first = "", last]) => {
    if (last === undefined) return [first];
    const range = statements.filter(
      (id) => id[0] === first[0] && numberOf(id) >= numberOf(first) && numberOf(id) <= numberOf(last),
    );
    return [first, last, ...range];
  });
}

/** The names of tests are code. What a comment cites has no test yet. */
const withoutComments = (text: string): string => text.replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "");

const citedByTests = new Set(
  files
    .filter(({ path }) => path.endsWith(".test.ts"))
    .flatMap(({ text }) => citedIds(withoutComments(text))),
);

describe("the specification", () => {
  test("has each id once", () => {
    const all = [...statements, ...headings];
    expect(all.filter((id, index) => all.indexOf(id) !== index)).toEqual([]);
    for (const letter of "AVTRL")
      expect(all.filter((id) => id.startsWith(letter)).length).toBeGreaterThan(10);
  });

  test("has a test that is named after each statement", () =>
    expect(statements.filter((id) => !citedByTests.has(id))).toEqual([]));
});

describe("citations", () => {
  test("are ids of the specification", () => {
    const unknown = files.flatMap(({ path, text }) =>
      citedIds(text).flatMap((id) => (knownIds.has(id) ? [] : [`${path}: ${id}`])),
    );
    expect(unknown).toEqual([]);
  });

  test("of a range are all statements in it", () =>
    expect(new Set(citedIds("as alpha does (A-168 to A-170, R-6, T-8.9 to T-8.11)"))).toEqual(
      new Set(["A-168", "A-169", "A-170", "R-6", "T-8.9", "T-8.10", "T-8.11"]),
    ));
});
