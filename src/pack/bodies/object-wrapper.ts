/**
 * Wrappers around objects, such as `{ "customer": { … } }`, of both dialects, around single objects and around items of
 * lists.
 */
import {
  createMemberTable,
  type Cursor,
  forEachMember,
  isObjectAt,
  printJson,
  readRaw,
} from "../../base/index.ts";
import { fillShape, findPath, type Shape } from "../values/shape.ts";

/** Reads the object in a wrapper. Returns undefined if the value contains no object. */
export type ReadWrapped = <T>(from: Cursor, readObject: (from: Cursor) => T) => T | undefined;

/** Returns the keys that lead to the object. @param name the name of the resource, for the key `$name` */
export const objectPath = (shape: Shape, name: string): readonly string[] =>
  findPath(shape, "object", { name }) ?? [];

/** Creates a reader of the object at a path; undefined if the path is empty. Other members are skipped. */
export function createObjectReader(path: readonly string[]): ReadWrapped | undefined {
  if (path.length === 0) return undefined;
  const levels = path.map((key) => createMemberTable([key]));
  return (from, readObject) => {
    let found: ReturnType<typeof readObject> | undefined;
    function descend(level: number): void {
      const members = levels[level];
      if (!members) found = readObject(from);
      else if (!isObjectAt(from)) readRaw(from);
      else
        forEachMember(from, members, (number) => {
          if (number === 0) descend(level + 1);
          else readRaw(from);
        });
    }
    descend(0);
    return found;
  };
}

/** Placeholder of the object in the text of a wrapper. It is unique, so no pack contains it. */
const OBJECT = crypto.randomUUID();

/** Returns the texts of a wrapper before and after its object. @param name the name of the resource, for `$name` */
export function wrapperTexts(shape: Shape, name: string): readonly [open: string, close: string] {
  const [open = "", close = ""] = printJson(fillShape(shape, { name, object: OBJECT })).split(
    printJson(OBJECT),
  );
  return [open, close];
}
