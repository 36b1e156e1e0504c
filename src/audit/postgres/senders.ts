/** Looks up what the store knows of the senders of a commit. */
import { sendersOf, type KnownSenders, type Sender } from "../summary-key.ts";
import type { Database } from "./database.ts";

const TOKEN_KEYS = "SELECT fingerprint, key FROM audit_token WHERE fingerprint = ANY($1::text[])";
const APPLICATIONS = `
  SELECT key FROM unnest($1::text[]) AS given (key)
  WHERE EXISTS (SELECT 1 FROM audit_usage u WHERE u.client = given.key)
`;
/** Looks up the senders of a commit. */
export async function findSenders(database: Database, rows: readonly Sender[]): Promise<KnownSenders> {
  const { tokens, applications } = sendersOf(rows);
  const found =
    tokens.length === 0
      ? []
      : await database.query<{ fingerprint: string; key: string }>(TOKEN_KEYS, [tokens]);
  const known =
    applications.length === 0 ? [] : await database.query<{ key: string }>(APPLICATIONS, [applications]);
  return {
    tokens: new Map(found.map(({ fingerprint, key }) => [fingerprint, key])),
    applications: new Set(known.map(({ key }) => key)),
  };
}
