/** The statements that write the tables of one day. */
import type { DatabaseSync } from "node:sqlite";
import type { Segment } from "../segment.ts";
import type { IndexRow } from "../stored-row.ts";
import type { Keyed } from "../../usage/summary-key.ts";
import { usageAgent, worthOf } from "../../usage/usage.ts";
import { prepareOwners } from "./size-limit.ts";

/** Maximum number of earlier records that one commit moves to a client whose token v4 has accepted. */
export const MOST_MOVED = 1000;

/** Finds the numbers of texts, or adds the texts. A segment has few texts, so they are looked up once for it. */
function createTextIds({ text: find, addText }: DayStatements): (text: string | null) => number | null {
  const ids = new Map<string, number>();
  return function textId(text) {
    if (text === null) return null;
    const id = ids.get(text) ?? Number(find.get(text)?.["id"] ?? addText.run(text).lastInsertRowid);
    ids.set(text, id);
    return id;
  };
}

/** A segment and its compressed bytes. */
export interface CompressedSegment extends Pick<Segment, "day" | "owner"> {
  readonly rows: readonly Keyed<IndexRow>[];
  readonly data: Uint8Array;
}

/** The statements on the tables of one day. */
export function prepareDay(database: DatabaseSync, day: string) {
  return {
    owners: prepareOwners(database, day),
    text: database.prepare(`SELECT id FROM text_${day} WHERE text = ?`),
    addText: database.prepare(`INSERT INTO text_${day} (text) VALUES (?)`),
    add: database.prepare(
      `INSERT INTO record_${day} (id, time, client, sender, route, status, lane, method, request_id, agent, lossy, accepted, sent, lost, start,
          size)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    addSegment: database.prepare(`INSERT INTO segment_${day} VALUES (?, ?, ?, ?, ?, ?)`),
    claim: database.prepare(
      `UPDATE record_${day} SET accepted = 1 WHERE seq IN (
        SELECT seq FROM record_${day} WHERE client = ? AND accepted = 0 LIMIT ${MOST_MOVED}
      ) RETURNING seq, id, time, status, lane, lossy, sent AS sentBits, lost AS lostBits,
        (SELECT text FROM text_${day} WHERE id = sender) AS sender,
        (SELECT text FROM text_${day} WHERE id = client) AS client,
        (SELECT text FROM text_${day} WHERE id = route) AS route,
        (SELECT text FROM text_${day} WHERE id = agent) AS agent`,
    ),
    promote: database.prepare(
      `UPDATE segment_${day} SET worth = ? WHERE seq = (SELECT max(seq) FROM segment_${day} WHERE seq <= ?)
        RETURNING seq`,
    ),
  };
}

export type DayStatements = ReturnType<typeof prepareDay>;

/** Inserts the records of a segment that are not stored yet. @returns Their rows. */
export function insertSegment(
  statements: DayStatements,
  { owner, rows, data }: CompressedSegment,
): Keyed<IndexRow>[] {
  const textId = createTextIds(statements);
  const seqs: number[] = [];
  const added = rows.filter((row) => {
    const agent = row.accepted ? null : usageAgent(row.agent);
    const { changes, lastInsertRowid } = statements.add.run(
      row.id,
      row.time,
      textId(row.client),
      textId(row.sender ?? null),
      textId(row.route),
      row.status,
      row.lane,
      row.method,
      row.requestId,
      textId(agent),
      Number(row.lossy),
      Number(row.accepted),
      row.accepted ? null : (row.sentBits ?? null),
      row.accepted ? null : (row.lostBits ?? null),
      row.start,
      row.size,
    );
    if (changes > 0) seqs.push(Number(lastInsertRowid));
    return changes > 0;
  });
  const [first] = seqs;
  if (first === undefined) return [];
  const time = added.reduce((latest, row) => Math.max(latest, row.time), 0);
  const worth = added.reduce((most, row) => Math.max(most, worthOf(row)), 0);
  statements.addSegment.run(first, seqs.at(-1) ?? first, time, worth, data.length, data);
  statements.owners.own.run(owner, first);
  return added;
}
