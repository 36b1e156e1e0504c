import { compressBatch, type Batch } from "../segment.ts";
import { WORTH } from "../stored-row.ts";
import type { NameList } from "../../usage/name-lists.ts";
import { aggregateSent } from "../../usage/sent-members.ts";
import { keyRows, sendersOf, UNACCEPTED, type KnownSenders, type Sender } from "../../usage/summary-key.ts";
import { acceptedClients, dayOf, usageAgent } from "../../usage/usage.ts";
import type { Database } from "./database.ts";
import { countLosses, RENAME_LOSSES } from "./losses.ts";
import { addEarlierSent, addNames, addSent, renameSent } from "./sent.ts";

const TOKEN_KEYS = "SELECT fingerprint, key FROM audit_token WHERE fingerprint = ANY($1::text[])";
const APPLICATIONS = `
  SELECT key FROM unnest($1::text[]) AS given (key)
  WHERE EXISTS (SELECT 1 FROM audit_usage u WHERE u.client = given.key)
`;
/** Looks up the senders of a commit. */
async function findSenders(database: Database, rows: readonly Sender[]): Promise<KnownSenders> {
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

/** Adds counts. They are ordered by key, so that replicas that update the same rows never deadlock. */
const ADDED = `
  ON CONFLICT (day, client, lane, route, status) DO UPDATE SET
    requests = kept.requests + excluded.requests,
    lossy = kept.lossy + excluded.lossy,
    first = least(kept.first, excluded.first),
    last = greatest(kept.last, excluded.last),
    sample = CASE WHEN excluded.last >= kept.last THEN excluded.sample ELSE kept.sample END,
    agent = CASE WHEN excluded.last >= kept.last THEN excluded.agent ELSE kept.agent END
`;
const TOKENS_ADDED = `
  ON CONFLICT (fingerprint) DO UPDATE SET
    key = excluded.key,
    agent = CASE WHEN excluded.last >= seen.last THEN excluded.agent ELSE seen.agent END,
    first = least(seen.first, excluded.first),
    last = greatest(seen.last, excluded.last),
    last_alpha = greatest(seen.last_alpha, excluded.last_alpha),
    last_native = greatest(seen.last_native, excluded.last_native),
    requests = seen.requests + excluded.requests,
    native = seen.native + excluded.native
`;
/** The counts of tokens. @param requests How many requests a row stands for, as SQL */
const tokenSums = (requests: string): string => `
  (array_agg(agent ORDER BY time DESC))[1], min(time), max(time), coalesce(max(time) FILTER (WHERE lane <> 'native'), 0),
  coalesce(max(time) FILTER (WHERE lane = 'native'), 0), ${requests},
  coalesce(${requests} FILTER (WHERE lane = 'native'), 0)
`;

/**
 * Rows, segments and counts in one statement, which is one transaction. `part` is the number of a segment in the batch,
 * `key` the one under which a row is counted, and `token_key` that of its token.
 */
const WRITE = `
  WITH given AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[],
      $8::text[], $9::int[], $10::int[], $11::int[], $12::bool[], $13::int[], $14::int[], $15::text[], $16::text[],
      $17::text[], $18::text[], $19::text[], $25::text[], $26::text[])
      WITH ORDINALITY AS row (id, time, client, route, status, day, lane, agent, lossy, start, size, counted,
        requests, part, method, request_id, key, sender, token_key, sent, lost, place)
  ), parts AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('audit_segment', 'id')) AS segment, part, first, bytes, owner
    FROM unnest($20::int[], $21::int[], $24::text[]) WITH ORDINALITY AS p (first, bytes, owner, part)
  ), added AS (
    INSERT INTO audit (id, time, client, sender, route, status, size, worth, lane, agent, lossy, start, method,
        request_id, sent, lost, segment)
      SELECT id, time, client, sender, route, status, size,
          CASE WHEN client IS NOT NULL AND counted THEN ${WORTH.accepted}
            WHEN status >= 400 THEN ${WORTH.refused} ELSE ${WORTH.unaccepted} END,
          lane, CASE WHEN NOT counted THEN agent END, lossy, start, method, request_id,
          CASE WHEN NOT counted THEN sent END, CASE WHEN NOT counted THEN lost END, segment
        FROM given JOIN parts USING (part) ORDER BY place
      ON CONFLICT (id) DO NOTHING RETURNING id, segment, time, worth
  ), stored AS (
    INSERT INTO audit_segment (id, time, worth, records, bytes, owner, data)
      SELECT segment, latest, most, records, bytes, owner, substr($22::bytea, first, bytes)
      FROM parts JOIN (
        SELECT segment, max(time) AS latest, max(worth) AS most, count(*) AS records FROM added GROUP BY segment
      ) AS sums USING (segment)
  ), summed AS (
    INSERT INTO audit_usage AS kept
      SELECT day, key, lane, coalesce(route, ''), status, sum(requests), sum(lossy), min(time), max(time),
        (array_agg(id ORDER BY time DESC))[1], (array_agg(agent ORDER BY time DESC))[1]
      FROM given JOIN (SELECT id FROM added) AS new USING (id) WHERE requests > 0
      GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    ${ADDED}
  ), counted_losses AS (
    ${countLosses("given JOIN (SELECT id FROM added) AS new USING (id)", "sum(requests)")}
  ), counted_tokens AS (
    INSERT INTO audit_token AS seen
      SELECT client, min(token_key), ${tokenSums("sum(requests)")}
      FROM given JOIN (SELECT id FROM added) AS new USING (id)
      WHERE client IS NOT NULL AND counted AND requests > 0 GROUP BY client ORDER BY client
    ${TOKENS_ADDED}
  )
  SELECT EXISTS (SELECT 1 FROM audit WHERE client = ANY($23::text[]) AND worth < ${WORTH.accepted}) AS late
`;

/** Maximum number of earlier records that one commit moves to clients whose tokens v4 has accepted. */
const MOST_MOVED = 1000;
/** Requests with a label are counted under it already. */
const MOVE = `
  WITH moved AS (
    UPDATE audit SET worth = ${WORTH.accepted} WHERE seq IN (
      SELECT seq FROM audit WHERE client = ANY($1::text[]) AND worth < ${WORTH.accepted}
      LIMIT ${MOST_MOVED} FOR UPDATE SKIP LOCKED
    ) RETURNING id, time, client, sender, route, status, lane, agent, lossy, lost, segment
  ), promoted AS (
    UPDATE audit_segment SET worth = ${WORTH.accepted} WHERE id IN (SELECT segment FROM moved)
  ), keyed AS (
    SELECT moved.*, key, to_char(to_timestamp(time / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
    FROM moved JOIN unnest($1::text[], $2::text[]) AS given (client, key) USING (client)
  ), counted_tokens AS (
    INSERT INTO audit_token AS seen
      SELECT client, min(key), ${tokenSums("count(*)")} FROM keyed GROUP BY client ORDER BY client
    ${TOKENS_ADDED}
  ), counted_losses AS (
    ${countLosses("(SELECT * FROM keyed WHERE sender IS NULL) AS own", "count(*)")}
  ), summed AS (
    SELECT day, key AS client,
      lane, coalesce(route, '') AS route, status, count(*) AS requests, sum(lossy) AS lossy, min(time) AS first,
      max(time) AS last, (array_agg(id ORDER BY time DESC))[1] AS sample,
      (array_agg(agent ORDER BY time DESC))[1] AS agent
    FROM keyed WHERE sender IS NULL GROUP BY 1, 2, 3, 4, 5
  )
  INSERT INTO audit_usage AS kept
    SELECT * FROM summed
    UNION ALL
    SELECT day, '${UNACCEPTED}', lane, route, status, -sum(requests), -sum(summed.lossy), ${Number.MAX_SAFE_INTEGER}, 0, '', NULL
    FROM summed WHERE EXISTS (
      SELECT 1 FROM audit_usage u WHERE u.day = summed.day AND u.client = '${UNACCEPTED}' AND u.lane = summed.lane
        AND u.route = summed.route AND u.status = summed.status
    ) GROUP BY 1, 2, 3, 4, 5
    ORDER BY 1, 2, 3, 4, 5
  ${ADDED}
  RETURNING day
`;
const UNCOUNT_EMPTY = `
  DELETE FROM audit_usage WHERE client = '${UNACCEPTED}' AND requests <= 0 AND day = ANY($1::text[])
`;

const RENAME = `
  WITH gone AS (
    DELETE FROM audit_usage WHERE client = ANY($1::text[]) RETURNING *
  )
  INSERT INTO audit_usage AS kept
    SELECT day, key, lane, route, status, sum(requests), sum(lossy), min(first), max(last),
      (array_agg(sample ORDER BY last DESC))[1], (array_agg(agent ORDER BY last DESC))[1]
    FROM gone JOIN unnest($1::text[], $2::text[]) AS given (client, key) USING (client)
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ${ADDED}
`;

/** Adds all that is counted under keys to other keys. */
const rename = (database: Database, keys: ReadonlyMap<string, string>): Promise<void> =>
  database.transaction(async (connection) => {
    await connection.query(RENAME, [[...keys.keys()], [...keys.values()]]);
    await renameSent(connection, keys);
    await connection.query(RENAME_LOSSES, [[...keys.keys()], [...keys.values()]]);
  });

/** The place of each part in the concatenation of all. PostgreSQL counts from 1. */
function startsOf(parts: readonly Uint8Array[]): number[] {
  let next = 1;
  return parts.map(({ length }) => (next += length) - length);
}

/** New lists of what clients may send, and of what routes may lose. */
interface NewNames {
  readonly names: readonly NameList[];
  readonly lossNames: readonly NameList[];
}

/**
 * Writes and counts all rows of a batch, or none. Without rows it only checks whether the database works. The segments are one binary
 * parameter: the driver would escape each string of an array.
 *
 * @returns The bytes of the compressed segments.
 * @throws {AuditUnavailableError} If the database can't be written.
 */
export async function insertBatch(
  database: Database,
  batch: Batch,
  { names, lossNames }: NewNames,
): Promise<number> {
  const parts = await compressBatch(batch);
  const given = batch.segments.flatMap((segment, index) =>
    segment.rows.map((row) => ({ ...row, part: index + 1 })),
  );
  const { rows, renamed, tokens } = keyRows(given, await findSenders(database, given));
  // Before the tokens get their new keys: if this fails, so does the commit, and it is tried again.
  if (renamed.size > 0) await rename(database, renamed);
  await addNames(database, "audit_sent_names", names);
  await addNames(database, "audit_loss_names", lossNames);
  await addSent(database.query, aggregateSent(rows));
  const column = <T>(read: (row: (typeof rows)[number]) => T): T[] => rows.map(read);
  const clients = [...acceptedClients(given)];
  const data = Buffer.concat(parts);
  const [written] = await database.query<{ late: boolean }>(WRITE, [
    column(({ id }) => id),
    column(({ time }) => time),
    column(({ client }) => client),
    column(({ route }) => route),
    column(({ status }) => status),
    column(({ time }) => dayOf(time)),
    column(({ lane }) => lane),
    column(({ agent }) => usageAgent(agent)),
    column(({ lossy }) => Number(lossy)),
    column(({ start }) => start),
    column(({ size }) => size),
    column(({ accepted }) => accepted),
    column(({ requests = 1 }) => requests),
    column(({ part }) => part),
    column(({ method }) => method),
    column(({ requestId }) => requestId),
    column(({ key }) => key),
    column(({ sender }) => sender ?? null),
    column(({ client }) => tokens.get(client ?? "") ?? null),
    startsOf(parts),
    parts.map(({ length }) => length),
    data,
    clients,
    batch.segments.map(({ owner }) => owner),
    column(({ sentBits }) => sentBits ?? null),
    column(({ lostBits }) => lostBits ?? null),
  ]);
  if (written?.late)
    await moveToClients(database, new Map(clients.map((each) => [each, tokens.get(each) ?? each])));
  return data.length;
}

/**
 * Moves earlier requests to the clients whose tokens v4 has accepted. If that fails, the next commit of the client does it: the
 * rows themselves are written.
 */
async function moveToClients(database: Database, keys: ReadonlyMap<string, string>): Promise<void> {
  const moving = database.transaction(async (connection) => {
    await addEarlierSent(connection, keys);
    const { rows } = await connection.query<{ day: string }>(MOVE, [[...keys.keys()], [...keys.values()]]);
    await connection.query(UNCOUNT_EMPTY, [[...new Set(rows.map(({ day }) => day))]]);
  });
  await moving.catch(() => {});
}
