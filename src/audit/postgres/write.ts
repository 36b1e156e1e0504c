import type { StoredRow } from "../stored-row.ts";
import { dayOf, UNACCEPTED, usageAgent } from "../usage.ts";
import type { Database } from "./database.ts";

/**
 * Records and their counts in one statement, which is one transaction. Counts are ordered, so that replicas
 * which count the same things wait for one another and never in a circle.
 */
const WRITE = `
  WITH given AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[],
      $8::text[], $9::int[], $10::int[], $11::int[], $13::bool[]) WITH ORDINALITY
      AS row (id, time, client, route, status, day, lane, agent, lossy, start, size, accepted, place)
  ), added AS (
    INSERT INTO audit (id, time, client, route, status, size, record)
      SELECT id, time, client, route, status, size, convert_from(substr($12::bytea, start, size), 'UTF8')::json
        FROM given ORDER BY place
      ON CONFLICT (id) DO NOTHING RETURNING id
  )
  INSERT INTO audit_usage AS kept
    SELECT day, CASE WHEN client IS NULL THEN ''
        WHEN accepted OR EXISTS (SELECT 1 FROM audit_usage u WHERE u.day = given.day AND u.client = given.client)
        THEN client ELSE '${UNACCEPTED}' END,
      lane, coalesce(route, ''), status, count(*), sum(lossy), min(time), max(time),
      (array_agg(id ORDER BY time DESC))[1], (array_agg(agent ORDER BY time DESC))[1]
    FROM given JOIN added USING (id) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (day, client, lane, route, status) DO UPDATE SET
    requests = kept.requests + excluded.requests,
    lossy = kept.lossy + excluded.lossy,
    first = least(kept.first, excluded.first),
    last = greatest(kept.last, excluded.last),
    sample = CASE WHEN excluded.last >= kept.last THEN excluded.sample ELSE kept.sample END,
    agent = CASE WHEN excluded.last >= kept.last THEN excluded.agent ELSE kept.agent END
`;

/**
 * Writes all rows and counts them, or none; without rows it finds out whether it could. The records go as one piece
 * of bytes: of an array of texts the driver would go through each for what has to be escaped.
 *
 * @throws {AuditUnavailable}
 */
export async function writeRows(database: Database, rows: readonly StoredRow[]): Promise<void> {
  // One after an outage may be there twice in a group; the statement could not count it once.
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()];
  const column = <T>(read: (row: StoredRow) => T): T[] => unique.map(read);
  // PostgreSQL counts from 1.
  let next = 1;
  const starts = column(({ record }) => {
    const start = next;
    next += record.length;
    return start;
  });
  await database.query(WRITE, [
    column(({ id }) => id),
    column(({ time }) => time),
    column(({ client }) => client),
    column(({ route }) => route),
    column(({ status }) => status),
    column(({ time }) => dayOf(time)),
    column(({ lane }) => lane),
    column(({ agent }) => usageAgent(agent)),
    column(({ lossy }) => Number(lossy)),
    starts,
    column(({ record }) => record.length),
    Buffer.concat(column(({ record }) => record)),
    column(({ accepted }) => accepted),
  ]);
}
