import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Maximum bytes. */
const MAX_TEXT_FILE = 4 * 1024 * 1024;

/** The file is not a regular file, or is too large. The code has the form of a system error's. */
export class UnfitFileError extends Error {
  override readonly name = "UnfitFileError";
  readonly code: "ENOTFILE" | "EFBIG";

  constructor(code: UnfitFileError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Reads a file that an operator names. Other kinds are rejected: reading a pipe or a device would never end.
 *
 * @throws {UnfitFileError} if it is not a regular file, or is larger than 4 MB; or an error of the system, such as
 *   `ENOENT`
 */
export function readTextFile(file: string): string {
  // Windows has neither this flag nor such files.
  const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(opened);
    if (!stats.isFile()) throw new UnfitFileError("ENOTFILE", "it is not a file");
    if (stats.size > MAX_TEXT_FILE)
      throw new UnfitFileError("EFBIG", `has ${stats.size} bytes: it may have ${MAX_TEXT_FILE}`);
    return readFileSync(opened, "utf8");
  } finally {
    closeSync(opened);
  }
}
