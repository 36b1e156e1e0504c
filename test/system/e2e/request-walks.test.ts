/** `docs/internals/architecture.md` lists the files that four requests pass. These lists are true. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { REPOSITORY, run } from "./program.ts";

const page = readFileSync(join(REPOSITORY, "docs", "internals", "architecture.md"), "utf8");

const sectionOf = (title: string): string => (page.split(`### ${title}\n`)[1] ?? "").split(/^#/m)[0] ?? "";

/** The files in a section, in the order of the page: rows of `| `src/folder/` | `file.ts` ... |`. */
const readFiles = (title: string): string[] =>
  [...sectionOf(title).matchAll(/^\| `(src\/[^`]*)` +\|(.*)\|$/gm)].flatMap(([, folder = "", files = ""]) =>
    [...files.matchAll(/`([\w-]+\.ts)`/g)].map(([, file = ""]) => join(folder, file)),
  );

const SERVICES = new Set(readFiles("What they call"));
/** Folders in the sentence about libraries. */
const LIBRARIES = [
  ...(sectionOf("What they call").split("**Libraries**")[1] ?? "").matchAll(/`(src\/[\w-]+\/)`/g),
].map(([, folder = ""]) => folder);

/** Called by a timer of other requests, not by the request. */
const IN_BACKGROUND = new Set(["src/gateway/http/receive-body.ts"]);

let traces: Readonly<Record<string, readonly string[]>>;
beforeAll(async () => {
  const script = [join(REPOSITORY, "test", "system", "e2e", "trace-requests.ts")];
  const { out, err, code } = await run([], { script }).ended;
  if (code !== 0) throw new Error(err);
  traces = JSON.parse(out) as typeof traces;
});

const isDeciding = (file: string): boolean => /^src\/(?:app|pipeline)\//.test(file);
const isOfLibrary = (file: string): boolean => LIBRARIES.some((folder) => file.startsWith(folder));

describe.each([
  ["list", "A list with a filter"],
  ["create", "A create"],
  ["native", "A native request"],
  ["legacy", "An observed request"],
])("the walk of the request %s", (name, title) => {
  const walk = readFiles(title);

  test("has at most 34 files, and enters no folder twice", () => {
    expect(walk.length).toBeLessThanOrEqual(34);
    expect(sectionOf(title)).toContain(`${walk.length} files:`);
    const folders = walk.map((file) => dirname(file));
    const entered = folders.filter((folder, index) => folder !== folders[index - 1]);
    expect(entered).toEqual([...new Set(entered)]);
  });

  test("is all of the application and the pipeline that the request executes", () => {
    const executed = traces[name]?.filter(isDeciding) ?? [];
    expect(executed.filter((file) => walk.includes(file) || !IN_BACKGROUND.has(file))).toEqual(
      walk.toSorted(),
    );
  });

  test("leaves out the listed services and libraries, and nothing else", () => {
    const others = traces[name]?.filter((file) => !isDeciding(file) && !isOfLibrary(file)) ?? [];
    expect(others.filter((file) => !SERVICES.has(file))).toEqual([]);
  });
});

describe("services and libraries of the walks", () => {
  test("every listed service is executed by one of the requests", () => {
    const executed = new Set(Object.values(traces).flat());
    expect([...SERVICES].filter((file) => !executed.has(file))).toEqual([]);
  });

  test("none imports the application or the pipeline", () => {
    const executed = [...new Set(Object.values(traces).flat())].filter((file) => !isDeciding(file));
    const imports = executed.flatMap((file) =>
      [...readFileSync(join(REPOSITORY, file), "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g)].map(
        ([, path = ""]) => ({ file, path: relative("", join(dirname(file), path)) }),
      ),
    );
    expect(imports.length).toBeGreaterThan(50);
    expect(imports.filter(({ path }) => isDeciding(path))).toEqual([]);
  });
});
