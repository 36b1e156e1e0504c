import { statSync } from "node:fs";

const identify = (path: string): string | undefined => {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
};

/**
 * Watches an open SQLite database in WAL mode. If an open file is removed or replaced, the system keeps it until it is
 * closed: writes succeed, but are lost when the process ends.
 *
 * @returns a function that describes the problem of the files, or undefined if they are in place
 */
export function holdFile(file: string): () => string | undefined {
  const held = [file, `${file}-wal`].map((path) => [path, identify(path)] as const);
  return () => {
    const lost = held.find(([path, identity]) => identify(path) !== identity);
    return lost && `${lost[0]} was removed or replaced: put it back, or restart to begin with an empty one`;
  };
}
