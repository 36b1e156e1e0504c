/** `docs/internals/architecture.md` lists the files that three requests pass. These lists are true. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { REPOSITORY, run } from "./program.ts";

const page = readFileSync(join(REPOSITORY, "docs", "internals", "architecture.md"), "utf8");

/** The files of one walk, in the order of the page: rows of `| `src/folder/` | `file.ts` ... |`. */
function readWalk(title: string): string[] {
  const [, section = ""] = page.split(`### ${title}\n`);
  const [rows = ""] = section.split(/^#/m);
  return [...rows.matchAll(/^\| `(src\/[^`]*)` +\|(.*)\|$/gm)].flatMap(([, folder = "", files = ""]) =>
    [...files.matchAll(/`([\w-]+\.ts)`/g)].map(([, file = ""]) => join(folder, file)),
  );
}

let traces: Readonly<Record<string, readonly string[]>>;
beforeAll(async () => {
  const script = [join(REPOSITORY, "test", "system", "e2e", "trace-requests.ts")];
  const { out, err, code } = await run([], { script }).ended;
  if (code !== 0) throw new Error(err);
  traces = JSON.parse(out) as typeof traces;
});

/** Called by a timer, not by the request. */
const IN_BACKGROUND = new Set(["src/pipeline/http/read-body.ts"]);

describe.each([
  ["list", "A list with a filter"],
  ["create", "A create"],
  ["native", "A native request"],
])("the walk of the request %s", (name, title) => {
  const walk = readWalk(title);

  test("has at most 30 files, and enters no folder twice", () => {
    expect(walk.length).toBeGreaterThan(10);
    expect(walk.length).toBeLessThanOrEqual(30);
    const folders = walk.map((file) => dirname(file));
    const entered = folders.filter((folder, index) => folder !== folders[index - 1]);
    expect(entered).toEqual([...new Set(entered)]);
  });

  test("has files that the request executes", () => {
    expect(walk.filter((file) => !traces[name]?.includes(file))).toEqual([]);
  });

  test("has all files of the application and the pipeline that the request executes", () => {
    const executed = traces[name]?.filter((file) => /^src\/(?:app|pipeline)\//.test(file)) ?? [];
    expect(executed.filter((file) => !walk.includes(file) && !IN_BACKGROUND.has(file))).toEqual([]);
  });
});
