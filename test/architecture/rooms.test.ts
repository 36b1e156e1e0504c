import { describe, expect, test } from "@jest/globals";
import { existsSync, readdirSync, readFileSync, type Dirent } from "node:fs";
import { dirname, join } from "node:path";
import { pageWithDrawing } from "./draw-rooms.ts";
import { loadedWith } from "./loaded-with.ts";
import {
  findCircles,
  findUpwardImports,
  mayImport,
  roomOf,
  ROOMS,
  SANDBOX,
  sourceFiles,
} from "./source-files.ts";

const MOST_FILES_OF_A_FOLDER = 20;
const MOST_LINES_OF_A_PAGE = 40;

/**
 * The files of the audit's thread. They import files of `base`, and not its door: with the door the thread would load a
 * second copy of each package that `base` uses.
 */
const OF_THREAD = loadedWith(["audit/store/sqlite/thread/worker.ts"]);

const rooms = [...ROOMS, SANDBOX];

/** The folders in the table of a room's page, in its order. */
const foldersOnPage = (page: string): string[] =>
  [...page.matchAll(/^\| `([\w/-]+)\/` \|/gm)].map(([, folder = ""]) => folder);

test("src/ has the rooms of the list, and the two entries of the program", () => {
  const entries = readdirSync("src", { withFileTypes: true });
  const namesOf = (isOf: (entry: Dirent) => boolean): string[] =>
    entries
      .filter(isOf)
      .map(({ name }) => name)
      .sort();
  expect(namesOf((entry) => entry.isDirectory())).toEqual([...rooms].sort());
  expect(namesOf((entry) => entry.isFile())).toEqual(["index.ts", "main.ts"]);
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
    const rows = foldersOnPage(text);
    expect(rows.filter((folder) => !folder.includes("/")).sort()).toEqual(own.map(({ name }) => name).sort());
    expect(rows.filter((folder) => !existsSync(join("src", room, folder)))).toEqual([]);
  });

  test("lists its folders in the order of imports, those that import no other first", () => {
    const order = foldersOnPage(readFileSync(join("src", room, "README.md"), "utf8"));
    expect(findUpwardImports(files, order)).toEqual([]);
  });
});

test(`a folder has at most ${MOST_FILES_OF_A_FOLDER} files`, () => {
  const byFolder = Map.groupBy(sourceFiles, ({ path }) => dirname(path));
  const large = [...byFolder].filter(([, files]) => files.length > MOST_FILES_OF_A_FOLDER);
  expect(large.map(([folder, files]) => [folder, files.length])).toEqual([]);
});

test("docs/internals/architecture.md has the drawing of today's rooms: npm run draw", () => {
  const page = readFileSync("docs/internals/architecture.md", "utf8");
  expect(page).toBe(pageWithDrawing(page));
});
