/**
 * Draws the rooms of `src/` and who imports whom, as Mermaid, into `docs/internals/architecture.md`. Run it with
 * `npm run draw`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { roomOf, ROOMS, SANDBOX, sourceFiles } from "./source-files.ts";

const PAGE = "docs/internals/architecture.md";
const BEGIN = "<!-- drawn by npm run draw -->";
const END = "<!-- end of the drawing -->";

/** The folders of a room, one level deep. */
const foldersOf = (room: string): string[] => [
  ...new Set(
    sourceFiles
      .filter(({ path }) => path.startsWith(`${room}/`) && path.split("/").length > 2)
      .map(({ path }) => path.split("/")[1] as string),
  ),
];

/** The drawing: each room with its folders, and an arrow to each room that it imports from. */
export function drawRooms(): string {
  const rooms = [...ROOMS, SANDBOX];
  const boxes = rooms.map((room) => {
    const folders = foldersOf(room);
    return `  ${room}["<b>${room}</b>${folders.length > 0 ? `<br>${folders.join(" · ")}` : ""}"]`;
  });
  const arrows = rooms.flatMap((room) => {
    const files = sourceFiles.filter(({ path }) => roomOf(path) === room);
    const imported = new Set(files.flatMap(({ imports }) => imports.map(roomOf)));
    const others = rooms.filter((other) => other !== room && imported.has(other));
    return others.length > 0 ? [`  ${room} --> ${others.join(" & ")}`] : [];
  });
  return ["```mermaid", "flowchart TD", ...boxes, ...arrows, "```"].join("\n");
}

/** The page with the drawing of today's code. */
export function pageWithDrawing(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end === -1) throw new Error(`${PAGE} has no place for the drawing`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${drawRooms()}\n\n${page.slice(end)}`;
}

if (import.meta.main) writeFileSync(PAGE, pageWithDrawing(readFileSync(PAGE, "utf8")));
