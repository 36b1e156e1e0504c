/** Moves the earlier requests of tokens, which were counted under `UNACCEPTED`, to the tokens' clients. */
import { type TableRow, WORTH } from "../record-row.ts";
import { countRows, countTokens, uncountRows } from "./count-rows.ts";
import { listOf, type Connection } from "./driver.ts";

/** Maximum number of earlier records that one commit moves to clients whose tokens v4 has accepted. */
const MOST_CLAIMED = 1000;

/**
 * Moves the earlier requests of a token to its client, once the records of a commit show that v4 has accepted the token.
 *
 * @param keys The keys of these tokens
 */
export async function claimEarlier(
  connection: Connection,
  clients: ReadonlySet<string>,
  keys: ReadonlyMap<string, string>,
): Promise<void> {
  if (clients.size === 0) return;
  const found = await connection.query<TableRow>(
    `SELECT * FROM audit WHERE client IN LIST($1) AND accepted = 0 LIMIT ${MOST_CLAIMED}`,
    [listOf(clients)],
  );
  if (found.length === 0) return;
  await connection.run(
    "UPDATE audit SET accepted = 1, agent = NULL, sent = NULL, lost = NULL WHERE seq IN NUMBERS($1)",
    [listOf(found.map(({ seq }) => seq))],
  );
  await connection.run(
    `UPDATE audit_segment SET worth = ${WORTH.accepted} WHERE worth < ${WORTH.accepted} AND seq IN NUMBERS($1)`,
    [listOf(new Set(found.map(({ segment }) => segment)))],
  );
  const rows = found.map((row) => ({
    ...row,
    accepted: 1,
    key: keys.get(row.client ?? "") ?? row.client ?? "",
  }));
  // Requests with a label are already counted under the label.
  const uncounted = rows.filter(({ sender }) => sender === null);
  await countRows(connection, uncounted);
  await uncountRows(connection, uncounted);
  await countTokens(connection, rows, keys);
}
