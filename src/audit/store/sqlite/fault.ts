/** Descriptions of SQLite's primary result codes (sqlite.org/rescode.html) for operators. */
const MEANINGS: Readonly<Record<number, string>> = {
  5: "another process holds the database",
  8: "the database may not be written",
  10: "the disk fails",
  11: "the database is damaged",
  13: "the disk is full",
  14: "the database file can't be opened",
  26: "the file is not a database",
};

/** Describes an error of SQLite for operators, followed by its own message, without the path of the file. */
export function describeSqliteError(error: unknown): string {
  const { message = String(error), errcode = 0 } = (error ?? {}) as { message?: string; errcode?: number };
  // The low byte of an extended code is the primary code.
  const meaning = MEANINGS[errcode & 0xff];
  return meaning === undefined ? message : `${meaning} (${message})`;
}

/** The primary result codes of errors that a value causes: too long, a constraint, or a wrong type. */
const CODES_OF_VALUES: ReadonlySet<number> = new Set([18, 19, 20]);

/** Whether an error is caused by the values of a row: SQLite rejects them, or `node:sqlite` can't pass them to it. */
export function isErrorOfValues(error: unknown): boolean {
  const { code, errcode = 0 } = (error ?? {}) as { code?: string; errcode?: number };
  return CODES_OF_VALUES.has(errcode & 0xff) || code === "ERR_INVALID_ARG_TYPE";
}
