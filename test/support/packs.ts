/** The packs of this repository: the product's, and the examples. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The examples that have a pack, by name. */
export const EXAMPLES: readonly string[] = readdirSync("examples").filter((name) =>
  existsSync(join("examples", name, "pack")),
);

/** The folder of an example's pack. */
export const exampleFolder = (name: string): string => join("examples", name, "pack");

/** The folders of all packs. */
export const PACK_FOLDERS: readonly string[] = ["mappings", ...EXAMPLES.map(exampleFolder)];
