/** Writes which names clients sent. */
import type { PoolClient } from "pg";
import type { NameList } from "../../usage/name-lists.ts";
import { aggregateSent, bytesOfBits, joinSent, type SentRow } from "../../usage/sent-members.ts";
import { WORTH } from "../stored-row.ts";
import type { Database } from "./database.ts";

/** Maximum number of earlier records of a commit whose bits are added. */
const MOST_EARLIER = 10_000;

/** Adds bits. Those of one pack and route have one length. */
const ADD_SENT = `
  INSERT INTO audit_sent AS kept
    SELECT day, client, route, pack, ('x' || bits)::bit varying
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS given (day, client, route, pack, bits)
  ON CONFLICT (day, client, route, pack) DO UPDATE SET bits = kept.bits | excluded.bits
    WHERE kept.bits <> (kept.bits | excluded.bits)
`;
const addNamesTo = (table: string): string => `
  INSERT INTO ${table} AS kept VALUES ($1, $2, $3::text[], $4)
  ON CONFLICT (pack, route) DO UPDATE SET day = greatest(kept.day, excluded.day)
`;
/** Bits that wait for a token to be accepted. */
const EARLIER_SENT = `
  SELECT time::float8, client, route, sent AS "sentBits" FROM audit
  WHERE client = ANY($1::text[]) AND worth < ${WORTH.accepted} AND sent IS NOT NULL LIMIT ${MOST_EARLIER}
`;
const TAKE_SENT = `
  DELETE FROM audit_sent WHERE client = ANY($1::text[])
  RETURNING day, client, route, pack, bits::text AS bits
`;

type Query = (text: string, values: readonly unknown[]) => Promise<unknown>;

/** Adds rows in the order of their keys, so that replicas never deadlock. Adding them twice changes nothing. */
export async function addSent(query: Query, rows: readonly SentRow[]): Promise<void> {
  if (rows.length === 0) return;
  await query(ADD_SENT, [
    rows.map(({ day }) => day),
    rows.map(({ client }) => client),
    rows.map(({ route }) => route),
    rows.map(({ pack }) => pack),
    rows.map(({ bits }) => bits.toString("hex")),
  ]);
}

export async function addNames(
  database: Database,
  table: "audit_sent_names" | "audit_loss_names",
  lists: readonly NameList[],
): Promise<void> {
  for (const { pack, route, names, day } of lists)
    await database.query(addNamesTo(table), [pack, route, names, day]);
}

/** Adds what was sent with tokens before v4 had accepted them. */
export async function addEarlierSent(
  connection: PoolClient,
  keys: ReadonlyMap<string, string>,
): Promise<void> {
  const { rows } = await connection.query<{ time: number; client: string; route: string; sentBits: string }>(
    EARLIER_SENT,
    [[...keys.keys()]],
  );
  const keyed = rows.map((row) => ({ ...row, key: keys.get(row.client) ?? row.client }));
  await addSent((text, values) => connection.query(text, [...values]), aggregateSent(keyed));
}

/** Adds all that was sent under keys to other keys. */
export async function renameSent(connection: PoolClient, keys: ReadonlyMap<string, string>): Promise<void> {
  const taken = await connection.query<Omit<SentRow, "bits"> & { bits: string }>(TAKE_SENT, [
    [...keys.keys()],
  ]);
  const rows = taken.rows.map((row) => ({
    ...row,
    client: keys.get(row.client) ?? row.client,
    bits: bytesOfBits(row.bits),
  }));
  await addSent((text, values) => connection.query(text, [...values]), joinSent(rows));
}
