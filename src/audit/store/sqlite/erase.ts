/** Erases all that is stored about one client. */
import type { DatabaseSync } from "node:sqlite";
import { ERASE_SEGMENTS, eraseRows, type EraseRequest, type Erasure } from "../erase.ts";
import { compressSync, decompressSync } from "../segment.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { LIST_DAYS } from "./partition.ts";
import { allRows } from "./rows.ts";

/** Where the next step continues. */
export interface ErasePosition {
  /** Suffix of a day. */
  readonly day: string;
  /** Number of the last record that was looked at. */
  readonly seq: number;
}

export interface EraseStep {
  readonly records: number;
  /** Undefined after the last step. */
  readonly next: ErasePosition | undefined;
}

/** The keys of a client and the tokens that belong to it, as SQL. The parameter is a list as JSON. */
const TEXTS = `
  SELECT value FROM json_each(?1) UNION SELECT fingerprint FROM token WHERE key IN (SELECT value FROM json_each(?1))
`;

interface FoundRow {
  readonly seq: number;
  readonly start: number;
  readonly size: number;
  readonly erased: number;
}

/** Erases the client from some segments of a day. */
class DayEraser {
  readonly #database: DatabaseSync;
  readonly #day: string;
  /** The numbers of the client's texts, as SQL. */
  readonly #ids: string;
  readonly #keys: string;

  constructor(database: DatabaseSync, day: string, keys: string) {
    this.#database = database;
    this.#day = day;
    this.#keys = keys;
    this.#ids = `(SELECT id FROM text_${day} WHERE text IN (${TEXTS}))`;
  }

  /** @returns how many records were erased, and the last number that was looked at; undefined at the end of the day */
  step(after: number): { readonly records: number; readonly seq: number | undefined } {
    const found = this.#database
      .prepare(
        `SELECT DISTINCT (SELECT max(seq) FROM segment_${this.#day} WHERE seq <= record.seq) AS segment
         FROM record_${this.#day} AS record
         WHERE seq > ?2 AND (client IN ${this.#ids} OR sender IN ${this.#ids}) ORDER BY seq LIMIT ${ERASE_SEGMENTS}`,
      )
      .all(this.#keys, after)
      .map(({ segment }) => Number(segment));
    if (found.length === 0) {
      this.#eraseTexts();
      return { records: 0, seq: undefined };
    }
    let records = 0;
    let last = after;
    for (const seq of found) {
      const erased = this.#eraseSegment(seq);
      records += erased.records;
      last = Math.max(last, erased.last);
    }
    return { records, seq: last };
  }

  #eraseSegment(seq: number): { readonly records: number; readonly last: number } {
    const day = this.#day;
    const database = this.#database;
    const segment = database.prepare(`SELECT last, data FROM segment_${day} WHERE seq = ?`).get(seq);
    const last = Number(segment?.["last"]);
    const find = database.prepare(
      `SELECT seq, start, size, client IN ${this.#ids} OR ifnull(sender IN ${this.#ids}, 0) AS erased
       FROM record_${day} WHERE seq BETWEEN ?2 AND ?3 ORDER BY start`,
    );
    const rows = allRows<FoundRow>(find, this.#keys, seq, last);
    const judged = rows.map((row) => ({ ...row, isErased: row.erased === 1 }));
    const { bytes, kept } = eraseRows(decompressSync(segment?.["data"], judged), judged);
    const remove = database.prepare(`DELETE FROM record_${day} WHERE seq = ?`);
    for (const row of judged) if (row.isErased) remove.run(row.seq);
    if (kept.length === 0) {
      database.prepare(`DELETE FROM segment_${day} WHERE seq = ?`).run(seq);
      database.prepare(`DELETE FROM owner_${day} WHERE seq = ?`).run(seq);
    } else {
      const data = compressSync(bytes);
      database
        .prepare(`UPDATE segment_${day} SET data = ?, bytes = ? WHERE seq = ?`)
        .run(data, data.length, seq);
      const place = database.prepare(`UPDATE record_${day} SET start = ? WHERE seq = ?`);
      for (const row of kept) place.run(row.start, row.seq);
    }
    return { records: rows.length - kept.length, last };
  }

  /** Deletes the texts of the client and their index. */
  #eraseTexts(): void {
    const day = this.#day;
    this.#database.prepare(`DELETE FROM block_${day} WHERE client IN ${this.#ids}`).run(this.#keys);
    const { changes } = this.#database
      .prepare(`DELETE FROM text_${day} WHERE text IN (${TEXTS})`)
      .run(this.#keys);
    if (changes === 0) return;
    // Its user agents, and tokens that the store has forgotten: no record has them any more.
    const used = ["client", "sender", "route", "agent"]
      .map((column) => `SELECT ${column} FROM record_${day} WHERE ${column} IS NOT NULL`)
      .join(" UNION ");
    this.#database.exec(`DELETE FROM text_${day} WHERE id NOT IN (${used})`);
  }
}

/** Erases records of a client: of some segments, or of a whole day if it has none there. Call it in a transaction. */
export function eraseRecords(
  database: DatabaseSync,
  keys: readonly string[],
  from: ErasePosition | undefined,
): EraseStep {
  const days = database
    .prepare(LIST_DAYS)
    .all()
    .map(({ suffix }) => String(suffix));
  const day = days.find((each) => from === undefined || each >= from.day);
  if (day === undefined) return { records: 0, next: undefined };
  const after = day === from?.day ? from.seq : 0;
  const { records, seq } = new DayEraser(database, day, JSON.stringify(keys)).step(after);
  if (seq !== undefined) return { records, next: { day, seq } };
  const following = days.find((each) => each > day);
  return { records, next: following === undefined ? undefined : { day: following, seq: 0 } };
}

/** Erases the summaries and the tokens of a client, and adds the entry about it. Call it in a transaction. */
export function eraseSummaries(
  database: DatabaseSync,
  { keys, command }: EraseRequest,
  records: number,
): Erasure {
  const list = JSON.stringify(keys);
  const remove = (table: string, condition: string): number =>
    Number(database.prepare(`DELETE FROM ${table} WHERE ${condition}`).run(list).changes);
  const summaries = ["usage", "sent", "loss"].reduce(
    (sum, table) => sum + remove(table, `client IN (${TEXTS})`),
    0,
  );
  const tokens = remove("token", `fingerprint IN (${TEXTS})`);
  // Requests before v4 had accepted the client's token may have been the last ones of these.
  database.exec(`UPDATE usage SET agent = NULL WHERE client IN ('', '${UNACCEPTED}')`);
  const time = Date.now();
  database
    .prepare("INSERT INTO erased VALUES (?, ?, ?, ?, ?)")
    .run(time, command, records, summaries, tokens);
  return { time: new Date(time).toISOString(), command, records, summaries, tokens };
}
