/** Reads the YAML files of a folder. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PackError } from "./diagnostic.ts";
import { parseYaml, type YamlSource, type YamlText } from "./yaml-source.ts";

/** Limits of one file and of a folder. The largest file of a pack that ships with the gateway has 14 kB. */
const [MAX_FILE_BYTES, MAX_FOLDER_BYTES] = [256 * 1024, 4 * 1024 * 1024];

/** @throws {PackError} if the file exceeds the limits, or is not a regular file. @returns its size in bytes */
function sizeOf(file: string, sizeOfOthers: number): number {
  const refuse = (message: string): never => {
    throw new PackError([{ file, line: 1, column: 1, code: "unreadable", message }]);
  };
  const stats = statSync(file);
  if (!stats.isFile()) return refuse("is not a file");
  const { size } = stats;
  if (size > MAX_FILE_BYTES) return refuse(`has ${size} bytes: a file has at most ${MAX_FILE_BYTES}`);
  if (sizeOfOthers + size > MAX_FOLDER_BYTES)
    return refuse(`the files of this folder have more than ${MAX_FOLDER_BYTES} bytes`);
  return size;
}

/**
 * Reads the texts of all YAML files of a folder, sorted by name.
 *
 * @throws {PackError} If they are larger than a pack can be. {Error} If the folder can't be read.
 */
export function readYamlTexts(directory: string): YamlText[] {
  const names = readdirSync(directory).filter((name) => /\.ya?ml$/.test(name));
  let size = 0;
  return names.sort().map((name) => {
    const file = join(directory, name);
    size += sizeOf(file, size);
    return { file, text: readFileSync(file, "utf8") };
  });
}

/** Reads and parses all YAML files of a folder. @throws As {@link readYamlTexts}. */
export const readYamlFolder = (directory: string): YamlSource[] =>
  readYamlTexts(directory).map(({ file, text }) => parseYaml(file, text));
