import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const fileOf = (name: string): string => join(import.meta.dirname, "corpus", `${name}.json`);

/** Inputs of earlier runs that reached something new, and those that once crashed. */
export function readCorpus(name: string): string[] {
  const file = fileOf(name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : [];
}

/** Writes the corpus for later runs, one input per line. */
export function keepCorpus(name: string, inputs: readonly string[]): void {
  const lines = [...new Set(inputs)].map((input) => `  ${JSON.stringify(input)}`);
  writeFileSync(fileOf(name), `[\n${lines.join(",\n")}\n]\n`);
}
