import type { DatabaseSync } from "node:sqlite";
import { rowOfText, type StoredRow } from "../stored-row.ts";

/** Records that one step moves, and bytes above which it moves no more. */
const STEP_ROWS = 500;
const STEP_BYTES = 4 * 1024 * 1024;

/** Takes records out of the table `audit` of versions 1 to 3, which had the text of each record in its row. */
export interface Migration {
  /** Some of the oldest records. */
  readonly next: () => readonly StoredRow[];
  /** Deletes these records, and the table with the last of them. @returns How many are left. */
  readonly remove: (rows: readonly StoredRow[]) => number;
}

/** Creates the migration. Without the table there is nothing to do. */
export function createMigration(database: DatabaseSync): Migration {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'audit'");

  let left: number | undefined;

  function next(): readonly StoredRow[] {
    if (table.get() === undefined) return [];
    const rows: StoredRow[] = [];
    let bytes = 0;
    const found = database.prepare(`SELECT record, worth FROM audit ORDER BY time, seq LIMIT ${STEP_ROWS}`);
    for (const { record, worth } of found.iterate()) {
      const row = rowOfText(String(record), Number(worth));
      rows.push(row);
      bytes += row.size;
      if (bytes > STEP_BYTES) break;
    }
    return rows;
  }

  function remove(rows: readonly StoredRow[]): number {
    if (table.get() === undefined) return 0;
    if (rows.length === 0) {
      database.exec("DROP TABLE audit");
      return 0;
    }
    const statement = database.prepare("DELETE FROM audit WHERE id = ?");
    for (const { id } of rows) statement.run(id);
    return countLeft(rows.length);
  }

  /** Counting takes long. The table counts as not empty until it is dropped. */
  function countLeft(removed: number): number {
    left =
      left === undefined
        ? Number(database.prepare("SELECT count(*) AS count FROM audit").get()?.["count"])
        : left - removed;
    return Math.max(left, 1);
  }

  return { next, remove };
}
