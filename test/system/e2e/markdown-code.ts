import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./program.ts";

/** The TypeScript blocks of a page, or of the doc comments of a source file, in order. */
export function typeScriptBlocks(path: string): string[] {
  const text = readFileSync(join(REPOSITORY, path), "utf8").replaceAll(/^ *\* ?/gm, "");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
}
