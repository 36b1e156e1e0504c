import { existsSync } from "node:fs";
import { join } from "node:path";

/** The pack that came along with the program: beside `src/` in a checkout, beside `dist/` in a package. */
const OWN = join(import.meta.dirname, "..", "..", "mappings");

/** The folder of the mapping pack: the given one, `./mappings` where there is one, else the program's own. */
export const packFolder = (given: string | undefined): string =>
  given ?? (existsSync("mappings") ? "mappings" : OWN);
