/** What is deleted first when the store is full. */
import type { RecordColumns } from "./record-row.ts";

/**
 * The priority of records when the store is full. Deleted first are rejected requests of callers whose token v4 has not
 * accepted, then other requests of such callers, then the rest.
 */
export const WORTH = { refused: 0, unaccepted: 1, accepted: 2 } as const;

/** Returns the clients whose tokens v4 has accepted in one of the rows. */
export const acceptedClients = (rows: readonly Pick<RecordColumns, "client" | "accepted">[]): Set<string> =>
  new Set(rows.flatMap(({ client, accepted }) => (client !== null && accepted ? [client] : [])));

/** Returns the priority of a record, one of `WORTH`. */
export const worthOf = ({
  client,
  status,
  accepted,
}: Pick<RecordColumns, "client" | "status" | "accepted">): number =>
  client !== null && accepted ? WORTH.accepted : status >= 400 ? WORTH.refused : WORTH.unaccepted;
