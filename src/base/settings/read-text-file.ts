import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Maximum bytes. */
const MAX_TEXT_FILE = 4 * 1024 * 1024;

/** A file that is not a regular file of a usual size. Its code is like a system error's. */
export class UnfitFileError extends Error {
  override readonly name = "UnfitFileError";
  readonly code: "ENOTFILE" | "EFBIG";

  constructor(code: UnfitFileError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Reads a file that an operator names. A pipe would be waited for, and a device read, without end.
 *
 * @throws {UnfitFileError} If it is no file, or is larger than 4 MB; an error of the system, such as `ENOENT`.
 */
export function readTextFile(file: string): string {
  // Windows has no such flag, and no such files.
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
