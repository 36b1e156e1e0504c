/** The names that the package exports, and the files that declare them. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface ExportedName {
  readonly name: string;
  /** The file that declares it, as a path in the repository. */
  readonly path: string;
}

const EXPORT = /^export (?:type )?\{(?<names>[^}]+)\} from "(?<from>\.[^"]+)";/gm;

/** The names that a file passes on, with the files that it has them from. */
const passedOn = (path: string): ExportedName[] =>
  [...readFileSync(path, "utf8").matchAll(EXPORT)].flatMap(({ groups = {} }) => {
    const { names = "", from = "" } = groups;
    return names
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "")
      .map((each) => ({ name: each.replace("type ", ""), path: join(dirname(path), from) }));
  });

/** The public API. A name that comes through the door of a room has the file behind the door. */
export const publicApi = (root = "."): ExportedName[] =>
  passedOn(join(root, "src/index.ts")).map((exported) => {
    const isDoor = exported.path.endsWith("/index.ts");
    return (isDoor && passedOn(exported.path).find(({ name }) => name === exported.name)) || exported;
  });
