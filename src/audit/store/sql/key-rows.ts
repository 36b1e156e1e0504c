/** Decides the key under which a request is counted in the summaries. Each key is one client. */
import { isLabelKey, isNamedKey, UNACCEPTED } from "../../usage/summary-key.ts";
import type { IndexRow } from "../record-row.ts";
import { renameClient } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";

/**
 * A row of a commit, and the key under which it is counted. `sender` is the key of a label or an application by which
 * the record can be found: the same key, or that of an application in the record that was not accepted at that time.
 */
export interface KeyedRow extends IndexRow {
  readonly key: string;
}

/** The known senders: accepted applications, and the keys of accepted tokens by their fingerprints. */
interface KnownSenders {
  readonly tokens: Map<string, string>;
  readonly applications: Set<string>;
}

/** Looks up the senders of a commit. */
async function findSenders(connection: Connection, rows: readonly IndexRow[]): Promise<KnownSenders> {
  const found = await connection.query<{ fingerprint: string; key: string }>(
    "SELECT fingerprint, key FROM audit_token WHERE fingerprint IN LIST($1)",
    [listOf(new Set(rows.flatMap(({ client }) => client ?? [])))],
  );
  const named = new Set(rows.flatMap(({ sender, accepted }) => (accepted ? [] : (sender ?? []))));
  const known = await connection.query<{ key: string }>(
    `WITH given (key) AS LIST($1)
    SELECT key FROM given WHERE EXISTS (SELECT 1 FROM audit_usage WHERE client = given.key)`,
    [listOf(named)],
  );
  return {
    tokens: new Map(found.map(({ fingerprint, key }) => [fingerprint, key])),
    applications: new Set(known.map(({ key }) => key)),
  };
}

/**
 * Returns the key of a request (`""` instead of null): the label if there is one, otherwise the application, otherwise
 * the token. Any client can send any token, and the id of any application in a call to the login server. So a call
 * without a token is only counted for the application if the login server accepted it in this call, and a token is only
 * counted after v4 accepted it.
 *
 * A token keeps the key that it had with a label or an application, for requests without them: the state store may have
 * been down.
 */
function summaryKeyOf(
  { client, accepted, sender }: IndexRow,
  { tokens, applications }: KnownSenders,
): string {
  if (sender !== null && (accepted || isLabelKey(sender))) return sender;
  if (client === null) return "";
  // The gateway issued the token to the application.
  if (sender !== null && applications.has(sender)) return sender;
  return tokens.get(client) ?? (accepted ? client : UNACCEPTED);
}

/**
 * Decides which rows of a commit have accepted senders, and the keys under which they are counted. The requests of a
 * token that were counted under its fingerprint move to its new key.
 *
 * @returns the rows, and the keys of all tokens of the commit that v4 has accepted, by their fingerprints
 */
export async function keyRows(
  connection: Connection,
  rows: readonly IndexRow[],
): Promise<{ readonly keyed: readonly KeyedRow[]; readonly tokens: ReadonlyMap<string, string> }> {
  const known = await findSenders(connection, rows);
  const { tokens, applications } = known;
  const renamed = new Set<string>();
  for (const { client, accepted, sender } of rows) {
    if (!accepted) continue;
    if (sender !== null) applications.add(sender);
    if (client === null || (sender === null && tokens.has(client))) continue;
    if (sender !== null && (tokens.get(client) ?? client) === client) renamed.add(client);
    tokens.set(client, sender ?? client);
  }
  for (const client of renamed) await renameClient(connection, client, tokens.get(client) ?? client);
  const keyed = rows.map((row): KeyedRow => {
    const key = summaryKeyOf(row, known);
    const named = applications.has(row.sender ?? "") ? row.sender : null;
    return {
      ...row,
      accepted: row.accepted || Number(row.client !== null && tokens.has(row.client)),
      key,
      sender: isNamedKey(key) ? key : named,
    };
  });
  return { keyed, tokens };
}
