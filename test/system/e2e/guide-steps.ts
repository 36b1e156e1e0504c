/** The steps of a guide: its blocks of code, and what they print. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "./program.ts";

/** The blocks of a page with their languages, in order. */
export const blocksOf = (page: string): (readonly [language: string, text: string])[] =>
  [...readFileSync(join(REPOSITORY, page), "utf8").matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", text = ""]) => [language, text] as const,
  );

/** `...` stands for any text. The whole output is compared. */
export function matcherOf(output: string): RegExp {
  const parts = output.trim().split("...");
  return new RegExp(`^\\s*${parts.map((part) => RegExp.escape(part.trim())).join("[^]*")}\\s*$`);
}
