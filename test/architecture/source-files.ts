/** The files of `src/`, the rooms that they are in, and what each imports. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The rooms of `src/` from top to bottom: a room imports only from those below it. */
export const ROOMS = [
  "app",
  "console",
  "authoring",
  "migration",
  "compare",
  "gateway",
  "audit",
  "pack",
  "jsonata",
  "base",
] as const;

/** The v4 service to try the gateway with. It stands beside the rooms: it imports from `base` alone. */
export const SANDBOX = "sandbox";

export interface SourceFile {
  /** Its path in `src/`. */
  readonly path: string;
  readonly text: string;
  /** The imported files, as paths in `src/`. */
  readonly imports: readonly string[];
  /** Those of them that are imported for more than their types. */
  readonly valueImports: readonly string[];
}

const IMPORT =
  /^(?:import|export) (?<type>type )?[^;"]*?from "(?<from>\.[^"]+)";|import\("(?<later>\.[^"]+)"\)/gm;

function importsOf(path: string, text: string): Pick<SourceFile, "imports" | "valueImports"> {
  const all = [...text.matchAll(IMPORT)].map(({ groups = {} }) => ({
    file: join(dirname(path), groups["from"] ?? groups["later"] ?? ""),
    isType: groups["type"] !== undefined,
  }));
  const filesOf = (imports: typeof all): string[] => imports.map(({ file }) => file);
  return { imports: filesOf(all), valueImports: filesOf(all.filter(({ isType }) => !isType)) };
}

/** All TypeScript files of `src/`. */
export const sourceFiles: readonly SourceFile[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
  .map((path) => {
    const text = readFileSync(join("src", path), "utf8");
    return { path, text, ...importsOf(path, text) };
  });

/** The room of a file. The two entries of the program, `main.ts` and `index.ts`, belong to `app`. */
export const roomOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] as string) : "app");

/** The first-level folder of a file in its room; undefined for a file at the top of the room. */
const folderOf = (path: string): string | undefined => path.split("/").slice(1, -1)[0];

/**
 * Finds imports of a room that stand against the order of its folders: from a folder into a later one. A nested folder
 * belongs to the one around it. A file at the top that imports a folder comes after all folders, and any other one before
 * them. The room's door does not count.
 *
 * @param order the folders, what uses nothing first
 * @returns each such import as a sentence
 */
export function findUpwardImports(files: readonly SourceFile[], order: readonly string[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const usesFolders = (path: string): boolean =>
    byPath
      .get(path)
      ?.valueImports.some(
        (file) => byPath.has(file) && (folderOf(file) !== undefined || usesFolders(file)),
      ) ?? false;
  const placeOf = (path: string): number => {
    const folder = folderOf(path);
    return folder === undefined ? (usesFolders(path) ? order.length : -1) : order.indexOf(folder);
  };
  return files
    .filter(({ path }) => !/^\w+\/index\.ts$/.test(path))
    .flatMap(({ path, valueImports }) =>
      valueImports
        .filter((file) => byPath.has(file) && placeOf(file) > placeOf(path))
        .map((file) => `${path} imports ${file}, which comes later in the room`),
    );
}

/** Whether a room may import from another one. */
export function mayImport(room: string, other: string): boolean {
  if (room === SANDBOX) return other === "base";
  if (other === SANDBOX) return room === "app";
  return ROOMS.indexOf(room as (typeof ROOMS)[number]) < ROOMS.indexOf(other as (typeof ROOMS)[number]);
}

/**
 * Finds files that import each other in a circle.
 *
 * @returns each circle as the paths of its files
 */
export function findCircles(files: readonly SourceFile[]): string[][] {
  const importsByPath = new Map(files.map(({ path, imports }) => [path, imports]));
  const reachable = (from: string): Set<string> => {
    const found = new Set<string>();
    const waiting = [...(importsByPath.get(from) ?? [])];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (found.has(path)) continue;
      found.add(path);
      waiting.push(...(importsByPath.get(path) ?? []));
    }
    return found;
  };
  const reach = new Map(files.map(({ path }) => [path, reachable(path)]));
  const circles = files
    .filter(({ path }) => reach.get(path)?.has(path))
    .map(({ path }) =>
      [...(reach.get(path) ?? [])]
        .filter((other) => reach.get(other)?.has(path))
        .sort()
        .join(" "),
    );
  return [...new Set(circles)].map((circle) => circle.split(" "));
}
