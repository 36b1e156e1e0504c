/** Descriptions of SQLite's primary result codes (sqlite.org/rescode.html) for operators. */
const MEANINGS: Readonly<Record<number, string>> = {
  5: "another process holds the database",
  8: "the database may not be written",
  10: "the disk fails",
  11: "the database is damaged",
  13: "the disk is full",
  14: "the database file cannot be opened",
  26: "the file is not a database",
};

/** Describes an error of SQLite for operators, followed by its own message, without the path of the file. */
export function describeSqliteError(error: unknown): string {
  const { message = String(error), errcode = 0 } = (error ?? {}) as { message?: string; errcode?: number };
  // The low byte of an extended code is the primary code.
  const meaning = MEANINGS[errcode & 0xff];
  return meaning === undefined ? message : `${meaning} (${message})`;
}
