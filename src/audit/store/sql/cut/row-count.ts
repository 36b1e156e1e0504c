/** The number of rows in the tables of the summaries. */
import { StoredAmount } from "../stored-amount.ts";

/** Maximum number of rows that one step deletes, because commits wait for it. */
export const STEP_ROWS = 2000;

/** The share of the limit that is kept when there are too many rows: choosing the rows to delete reads the keys of all rows. */
const KEPT = 0.95;
/** Milliseconds between two counts of a table that is below its limit. */
const COUNT_MS = 600_000;

/** Returns the number of rows to keep if there are more than a limit. */
export const keptOf = (limit: number): number => Math.ceil(limit * KEPT);

/** The number of rows of a table. */
export const rowCount = (table: string): StoredAmount =>
  new StoredAmount(async (query) => {
    const [row] = await query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
    return row?.rows ?? 0;
  }, COUNT_MS);
