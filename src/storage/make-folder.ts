import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder for its owner's eyes, and those above it. Node's own `recursive` tries for ever where a folder says
 * that something in it does not exist when it is to be made, as those of `/proc` do.
 *
 * @throws {Error} of the system where it can't be made
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const above = dirname(path);
  if (above !== path && !isFolder(above)) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if (!isFolder(path)) throw error;
  }
}
