import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The files of `src/` that are loaded with a file. What is imported by `import()` is loaded later, if at all. */
export function importsOf(file: string): string[] {
  const source = readFileSync(join("src", file), "utf8");
  return [...source.matchAll(/^(?:import|export)(?! type)[^;]*? from "(\.[^"]+)"|^import "(\.[^"]+)"/gm)].map(
    ([, path = "", bare = path]) => relative("src", join("src", dirname(file), path || bare)),
  );
}

/** All files that are loaded with these. */
export function loadedWith(starts: readonly string[]): Set<string> {
  const loaded = new Set(starts);
  for (const file of loaded) for (const path of importsOf(file)) loaded.add(path);
  return loaded;
}
