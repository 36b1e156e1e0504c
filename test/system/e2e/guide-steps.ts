/** The steps of a guide: its blocks of code, and what they print. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { REPOSITORY } from "./program.ts";

/** The blocks of a page with their languages, in order. */
export const blocksOf = (page: string): (readonly [language: string, text: string])[] =>
  [...readFileSync(resolve(REPOSITORY, page), "utf8").matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = "", text = ""]) => [language, text] as const,
  );

const patternOf = (output: string): string =>
  output
    .trim()
    .split("...")
    .map((part) => RegExp.escape(part.trim()))
    .join("[^]*");

/** Matches the whole output. `...` stands for any text. */
export const matcherOf = (output: string): RegExp => new RegExp(`^\\s*${patternOf(output)}\\s*$`);

/** Matches an output that has this somewhere. */
export const partMatcherOf = (output: string): RegExp => new RegExp(patternOf(output));
