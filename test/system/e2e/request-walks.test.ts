/** `docs/internals/architecture.md` lists the files that the request of a list passes. The list is true. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { REPOSITORY, run } from "./program.ts";

const page = readFileSync(join(REPOSITORY, "docs", "internals", "architecture.md"), "utf8");
const section = (page.split("## The walk of a list\n")[1] ?? "").split(/^#/m)[0] ?? "";

/** The files of the section, in the order of the page: rows of `| `src/folder/` | `file.ts` ... |`. */
const walk = [...section.matchAll(/^\| `(src\/[^`]*)` +\|(.*)\|$/gm)].flatMap(([, folder = "", files = ""]) =>
  [...files.matchAll(/`([\w-]+\.ts)`/g)].map(([, file = ""]) => join(folder, file)),
);

test("the walk enters no folder twice", () => {
  const folders = walk.map((file) => dirname(file));
  const entered = folders.filter((folder, index) => folder !== folders[index - 1]);
  expect(entered).toEqual([...new Set(entered)]);
});

test("the walk has all files of the program and of the gateway that the request executes", async () => {
  const script = [join(REPOSITORY, "test", "system", "e2e", "trace-requests.ts")];
  const { out, err, code } = await run([], { script }).ended;
  if (code !== 0) throw new Error(err);
  const executed = (JSON.parse(out) as string[]).filter((file) => /^src\/(?:app|gateway)\//.test(file));
  expect(executed).toEqual(walk.toSorted());
});
