import { describe, expect, test } from "@jest/globals";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pageWithDrawing } from "./draw-rooms.ts";
import { loadedWith } from "./loaded-with.ts";
import { findCircles, mayImport, roomOf, ROOMS, SANDBOX, sourceFiles } from "./source-files.ts";

const MOST_FILES_OF_A_FOLDER = 20;
const MOST_LINES_OF_A_PAGE = 40;

/**
 * The files of the audit's thread. They import files of `base`, and not its door: with the door the thread would load a
 * second copy of each package that `base` uses.
 */
const OF_THREAD = loadedWith(["audit/store/sqlite/thread/worker.ts"]);

const folders = [...new Set(sourceFiles.map(({ path }) => dirname(path)))]
  .filter((folder) => folder !== ".")
  .sort();
const rooms = [...ROOMS, SANDBOX];

test("src/ has the rooms of the list, and the two entries of the program", () => {
  const entries = readdirSync("src", { withFileTypes: true });
  expect(
    entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...rooms].sort());
  expect(
    entries
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["index.ts", "main.ts"]);
});

describe.each(rooms)("the room %s", (room) => {
  const files = sourceFiles.filter(({ path }) => roomOf(path) === room);
  const outside = files.flatMap(({ path, imports }) =>
    imports.filter((file) => roomOf(file) !== room).map((file) => ({ path, file })),
  );

  test("imports only from rooms below it", () => {
    expect(outside.filter(({ file }) => !mayImport(room, roomOf(file)))).toEqual([]);
  });

  test("imports other rooms through their doors", () => {
    const isAllowed = ({ path, file }: (typeof outside)[number]): boolean =>
      file === `${roomOf(file)}/index.ts` || (OF_THREAD.has(path) && file.startsWith("base/"));
    expect(outside.filter((each) => !isAllowed(each))).toEqual([]);
  });

  test("has no files that import each other in a circle", () => {
    expect(findCircles(files)).toEqual([]);
  });

  test(`has a page of at most ${MOST_LINES_OF_A_PAGE} lines, which names all of its folders`, () => {
    const page = join("src", room, "README.md");
    expect(existsSync(page)).toBe(true);
    const text = readFileSync(page, "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(MOST_LINES_OF_A_PAGE);
    const own = readdirSync(join("src", room), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    const rows = [...text.matchAll(/^\| `([\w/-]+)\/` \|/gm)].map(([, folder = ""]) => folder);
    expect(rows.filter((folder) => !folder.includes("/")).sort()).toEqual(own.map(({ name }) => name).sort());
    expect(rows.filter((folder) => !existsSync(join("src", room, folder)))).toEqual([]);
  });
});

test.each(folders)(`src/%s has at most ${MOST_FILES_OF_A_FOLDER} files`, (folder) => {
  expect(sourceFiles.filter(({ path }) => dirname(path) === folder).length).toBeLessThanOrEqual(
    MOST_FILES_OF_A_FOLDER,
  );
});

test("docs/internals/architecture.md has the drawing of today's rooms: npm run draw", () => {
  const page = readFileSync("docs/internals/architecture.md", "utf8");
  expect(page).toBe(pageWithDrawing(page));
});
