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
}

const IMPORT = /^(?:import|export) [^;"]*?from "(?<from>\.[^"]+)";|import\("(?<later>\.[^"]+)"\)/gm;

const importsOf = (path: string, text: string): string[] =>
  [...text.matchAll(IMPORT)].map(({ groups = {} }) =>
    join(dirname(path), groups["from"] ?? groups["later"] ?? ""),
  );

/** All TypeScript files of `src/`. */
export const sourceFiles: readonly SourceFile[] = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .sort()
  .map((path) => {
    const text = readFileSync(join("src", path), "utf8");
    return { path, text, imports: importsOf(path, text) };
  });

/** The room of a file. The two entries of the program, `main.ts` and `index.ts`, belong to `app`. */
export const roomOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] as string) : "app");

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
