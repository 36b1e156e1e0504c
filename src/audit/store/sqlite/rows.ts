/** Rows of statements. A statement and the form of its rows stand side by side, so that they can be compared. */
import type { SQLInputValue, StatementSync } from "node:sqlite";

/** Returns all rows of a statement. */
export const allRows = <Row>(statement: StatementSync, ...values: readonly SQLInputValue[]): Row[] =>
  statement.all(...values).map((row) => row as Row);
