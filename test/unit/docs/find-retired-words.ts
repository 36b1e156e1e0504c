/**
 * Prints the retired words in files and folders: `node test/unit/docs/find-retired-words.ts src/pipeline docs`.
 * The exit code is 1 where there is one.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { allowedNames, findInMarkdown, findInTypeScript, type FoundWord } from "./retired-words.ts";

/** The retired words of a TypeScript file or a Markdown page. */
export function findInFile(path: string): FoundWord[] {
  const text = readFileSync(path, "utf8");
  return path.endsWith(".md") ? findInMarkdown(text) : findInTypeScript(text, allowedNames(path));
}

/** The TypeScript files and Markdown pages in a folder, or the file itself. */
export function listFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => /\.(?:ts|md)$/.test(name))
    .toSorted();
}

if (import.meta.main) {
  const lines = process.argv
    .slice(2)
    .flatMap(listFiles)
    .flatMap((file) => findInFile(file).map(({ line, word, use }) => `${file}:${line} ${word} → ${use}`));
  for (const line of lines) console.log(line);
  if (lines.length > 0) process.exitCode = 1;
}
