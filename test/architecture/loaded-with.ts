import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What a file of `src/` loads. What is imported by `import()` is loaded later, if at all. */
const loadedBy = (file: string): string[] =>
  [
    ...readFileSync(join("src", file), "utf8").matchAll(
      /^(?:import|export)(?! type)[^;]*? from "([^"]+)"|^import "([^"]+)"/gm,
    ),
  ].map(([, path = "", bare = path]) => path || bare);

/** The files of `src/` that are loaded with a file. */
export const importsOf = (file: string): string[] =>
  loadedBy(file)
    .filter((path) => path.startsWith("."))
    .map((path) => relative("src", join("src", dirname(file), path)));

/** The packages that are loaded with a file. */
export const packagesOf = (file: string): string[] =>
  loadedBy(file).filter((name) => !name.startsWith(".") && !name.startsWith("node:"));

/** All files that are loaded with these. */
export function loadedWith(starts: readonly string[]): Set<string> {
  const loaded = new Set(starts);
  for (const file of loaded) for (const path of importsOf(file)) loaded.add(path);
  return loaded;
}
