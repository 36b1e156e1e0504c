/** Counts which losses requests had. The statements are parts of those of the writer. */
import { UNACCEPTED } from "../../usage/summary-key.ts";

/** The losses of rows that have `day`, `key`, `route`, `lost` and `requests`. */
const countedIn = (rows: string, requests: string): string => `
  SELECT day, key, route, split_part(lost, ' ', 1), bit, ${requests}
  FROM (SELECT *, ('x' || split_part(lost, ' ', 2))::bit varying AS bits FROM ${rows} WHERE lost IS NOT NULL) AS lossy
    CROSS JOIN LATERAL generate_series(0, length(bits) - 1) AS bit
  WHERE get_bit(bits, bit) = 1 AND route IS NOT NULL AND key <> '${UNACCEPTED}'
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
`;

const ADDED = `
  ON CONFLICT (day, client, route, pack, place) DO UPDATE SET requests = kept.requests + excluded.requests
`;

/**
 * Adds the losses of rows to the counts. They are ordered by key, so that replicas that update the same rows never deadlock.
 *
 * @param rows The rows, as SQL
 * @param requests How many requests a group of rows stands for, as SQL
 */
export const countLosses = (rows: string, requests: string): string =>
  `INSERT INTO audit_loss AS kept ${countedIn(rows, requests)} ${ADDED}`;

/** Adds all that is counted under keys ($1) to other keys ($2). */
export const RENAME_LOSSES = `
  WITH gone AS (
    DELETE FROM audit_loss WHERE client = ANY($1::text[]) RETURNING *
  )
  INSERT INTO audit_loss AS kept
    SELECT day, key, route, pack, place, sum(requests)
    FROM gone JOIN unnest($1::text[], $2::text[]) AS given (client, key) USING (client)
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ${ADDED}
`;

/** Deletes the oldest rows above a number. */
export const OLDEST_LOSSES = `
  DELETE FROM audit_loss WHERE ctid IN (
    SELECT ctid FROM audit_loss ORDER BY day
    LIMIT greatest(0, (SELECT count(*) FROM audit_loss) - $1::bigint)
  )
`;
