import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const TRACE = "jsonata/trace/";

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);

/** The files of `src/` that are loaded with a file. What is imported by `import()` is loaded later, if at all. */
function importsOf(file: string): string[] {
  const source = readFileSync(join("src", file), "utf8");
  return [...source.matchAll(/^(?:import|export)(?! type)[^;]*? from "(\.[^"]+)"|^import "(\.[^"]+)"/gm)].map(
    ([, path = "", bare = path]) => relative("src", join("src", dirname(file), path || bare)),
  );
}

/** All files that are loaded with these. */
function loadedWith(starts: readonly string[]): Set<string> {
  const loaded = new Set(starts);
  for (const file of loaded) for (const path of importsOf(file)) loaded.add(path);
  return loaded;
}

const inTrace = (paths: Iterable<string>): string[] => [...paths].filter((path) => path.startsWith(TRACE));

test("what serves requests never loads the traced form of expressions", () => {
  const serving = files.filter((file) => /^(?:app|pipeline|mapping|jsonata\/index)\b/.test(file));
  expect(serving).toContain("app/public-app.ts");
  expect(loadedWith(["jsonata/compile.ts"])).toContain("jsonata/compiler/generate.ts");
  expect(inTrace(loadedWith([...serving, "index.ts", "cli/serve.ts", "main.ts"]))).toEqual([]);
});

test("only the tools that trace a request import the traced form of expressions", () => {
  const importing = files.filter((file) => !file.startsWith(TRACE) && inTrace(importsOf(file)).length > 0);
  expect(importing.filter((file) => !file.startsWith("tools/trace/"))).toEqual([]);
});
