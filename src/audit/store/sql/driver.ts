/** The database of the audit store. Each statement is only written once. */
import { plainText } from "../../record/plain-text.ts";

/** A value of a statement, or of a row. */
export type Value = string | number | null | Uint8Array;

/**
 * A connection to a database. Statements use PostgreSQL's spelling, with `$1` for the first value. `LIST($1)` means the
 * texts, and `NUMBERS($1)` the numbers, of a list that `listOf` has written. A driver translates the parts that its
 * database spells differently.
 */
export interface Connection {
  /** Returns the rows of a statement. Counts and times are numbers. */
  readonly query: <Row extends object>(text: string, values?: readonly Value[]) => Promise<Row[]>;
  /** Runs a statement that returns no rows. @returns the number of changed rows */
  readonly run: (text: string, values?: readonly Value[]) => Promise<number>;
  /**
   * Adds rows to a table.
   *
   * @param rows All have the same columns, in the same order
   * @param conflict The clause for existing rows: `ON CONFLICT ...`
   */
  readonly insert: (table: string, rows: readonly object[], conflict?: string) => Promise<void>;
}

/** A database with the tables of `schema.ts`. */
export interface Driver {
  /** Runs one statement that reads. */
  readonly query: Connection["query"];
  /** Runs statements that read, all on the same snapshot. */
  readonly read: <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>;
  /** Runs statements that write, in one transaction, while no other process writes. */
  readonly write: <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>;
  /** Whether an error of `write` is caused by the values of a row, so that other rows can be written. */
  readonly isOfValues: (error: unknown) => boolean;
  /** Runs after a commit of records. @throws {Error} If the records are not in the expected file. */
  readonly check: () => void;
  /**
   * Removes deleted data from the files of the database, as far as possible. Between two steps, commits can run.
   *
   * @param step The number of the step, from 0
   * @returns whether there is a further step
   * @throws {Error} if it is not possible now
   */
  readonly forget: (step: number) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** A list as the value of a statement. */
export const listOf = (values: Iterable<string | number>): string =>
  JSON.stringify(Array.from(values, (value) => (typeof value === "string" ? plainText(value) : value)));
