/** How many rows the tables of the summaries may have. */
import { StoredAmount } from "../stored-amount.ts";

/** Rows that one step deletes: commits wait for it. */
export const STEP_ROWS = 2000;

/** The share of the rows that is left when there were too many: to choose those that go reads the keys of all. */
const KEPT = 0.95;
/** Milliseconds between two counts of a table that is below its limit. */
const COUNT_MS = 600_000;

/** How many rows are left when there were more than a limit. */
export const keptOf = (limit: number): number => Math.ceil(limit * KEPT);

/** The number of rows of a table. */
export const rowCount = (table: string): StoredAmount =>
  new StoredAmount(async (query) => {
    const [row] = await query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`);
    return row?.rows ?? 0;
  }, COUNT_MS);
