import { DatabaseSync } from "node:sqlite";
import type { StatementSync } from "node:sqlite";
import { clampLimit, PAGE_SIZE, queryEnd, writeCursor } from "../../record/record-pages.ts";
import { clientsOf, type AuditQuery, type TextPage } from "../store.ts";
import { recordText, tryDecompress, UNREADABLE } from "../segment.ts";
import { dayOf, MAX_RECORDS_COUNTED, type RouteUsage, type TokenActivity } from "../../usage/usage.ts";
import {
  ANY_CLIENT,
  BLOCK_ROWS,
  callText,
  LANE_PATTERNS,
  createPartitions,
  suffixOf,
  type Partitions,
} from "./partition.ts";
import { readCallers } from "./read-callers.ts";
import { addRows, readErasures, readToken, readUsage } from "./read-usage.ts";
import { where, type Term, type Where } from "./where.ts";
import type { ReaderJob } from "./thread/worker-messages.ts";
import { allRows } from "./rows.ts";

/** The statements on the tables of one day. Those of pages depend on the filters, and are prepared when they are used. */
function prepareDay(database: DatabaseSync, day: string) {
  const statements = new Map<string, StatementSync>();
  return {
    byId: database.prepare(`SELECT seq, start, size FROM record_${day} WHERE id = ?`),
    text: database.prepare(`SELECT id FROM text_${day} WHERE text = ?`),
    segment: database.prepare(
      `SELECT seq, last, time, bytes FROM segment_${day} WHERE seq <= ? ORDER BY seq DESC LIMIT 1`,
    ),
    data: database.prepare(`SELECT data FROM segment_${day} WHERE seq = ?`),
    /** The block whose records are not indexed. */
    lastBlock: database.prepare(`SELECT max(seq) / ${BLOCK_ROWS} AS block FROM record_${day}`),
    query(text: string): StatementSync {
      const prepared = statements.get(text) ?? database.prepare(text);
      statements.set(text, prepared);
      return prepared;
    },
  };
}

type Days = Partitions<ReturnType<typeof prepareDay>>;

/** The numbers of a list that is given as JSON. */
const LISTED = "(SELECT value FROM json_each(?))";

/** Where a record is: its day, its number there, and its place in the decompressed segment. */
interface RecordPlace {
  readonly day: string;
  readonly seq: number;
  readonly start: number;
  readonly size: number;
}

type FoundRecord = Omit<RecordPlace, "day"> & { readonly time: number };

/** Records of a day that are read together. */
interface DayPart {
  /** The time of the newest record, or a later one. */
  readonly last: number;
  /** The table, as SQL. */
  readonly from: string;
  readonly where: Where;
}

/** Decompressed segments that are kept, since the records of a page are often in the same few. In bytes. */
const CACHE_BYTES = 4 * 1024 * 1024;

/** The segments, and those that were read last. */
class Segments {
  readonly #days: Days;
  readonly #decompressed = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(days: Days) {
    this.#days = days;
  }

  /** The text of a record. */
  textOf({ day, seq, ...place }: RecordPlace): string {
    const { segment, data } = this.#days.get(day);
    const found = segment.get(seq) ?? {};
    // A number is used again if the newest segment was deleted.
    const key = [day, ...Object.values(found)].join(" ");
    const cachedBytes = this.#decompressed.get(key);
    if (cachedBytes) return recordText(cachedBytes, place);
    const bytes = tryDecompress(data.get(Number(found["seq"]))?.["data"], [place]);
    if (!bytes) return UNREADABLE;
    this.#decompressed.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#decompressed) {
      if (this.#bytes <= CACHE_BYTES || oldest === key) break;
      this.#decompressed.delete(oldest);
      this.#bytes -= length;
    }
    return recordText(bytes, place);
  }
}

/** The records of the database. */
class Records {
  readonly #days: Days;
  readonly #segments: Segments;

  constructor(days: Days) {
    this.#days = days;
    this.#segments = new Segments(days);
  }

  page(query: AuditQuery): TextPage {
    const limit = clampLimit(query);
    const records: string[] = [];
    let size = 0;
    let next: string | null = null;
    for (const day of this.#daysOfQuery(query)) {
      for (const row of this.#newestOf(day, query, limit + 1 - records.length)) {
        size += row.size;
        if (records.length === limit || (records.length > 0 && size > PAGE_SIZE)) return { records, next };
        records.push(this.#segments.textOf({ ...row, day }));
        next = writeCursor(row);
      }
    }
    return { records, next: null };
  }

  get(id: string): string | undefined {
    for (const day of this.#days.list().toReversed()) {
      const found = allRows<RecordPlace>(this.#days.get(day).byId, id)[0];
      if (found) return this.#segments.textOf({ ...found, day });
    }
    return undefined;
  }

  count(query: AuditQuery): number {
    let sum = 0;
    for (const day of this.#daysOfQuery(query)) {
      for (const { from, where } of this.#partsOf(day, query)) {
        const counted = this.#days.get(day).query(`SELECT count(*) AS count FROM ${from} ${where.text}`);
        sum += Number(counted.get(...where.values)?.["count"]);
      }
    }
    return sum;
  }

  /** Counts the records of a client by route, the newest first. */
  routesOf(client: string): RouteUsage[] {
    const rows: Record<string, unknown>[] = [];
    let counted = 0;
    for (const day of this.#daysOfQuery({})) {
      for (const { from, where } of this.#partsOf(day, { client })) {
        if (counted >= MAX_RECORDS_COUNTED) return addRows(client, rows);
        const found = this.#days
          .get(day)
          .query(
            `SELECT lane, (SELECT text FROM text_${day} WHERE id = route) AS route, status, count(*) AS requests,
              sum(lossy) AS lossy, min(time) AS first, max(time) AS last
            FROM ${from} ${where.text} GROUP BY lane, route, status`,
          )
          .all(...where.values);
        counted += found.reduce((sum, { requests }) => sum + Number(requests), 0);
        rows.push(...found);
      }
    }
    return addRows(client, rows);
  }

  /** The days of a query, newest first. */
  #daysOfQuery(query: AuditQuery): string[] {
    const { since } = query;
    const { cursor, until } = queryEnd(query);
    const first = since === undefined ? "" : suffixOf(dayOf(Date.parse(since)));
    const end = cursor?.time ?? until;
    const last = end === undefined ? "9" : suffixOf(dayOf(end));
    return this.#days
      .list()
      .filter((day) => day >= first && day <= last)
      .toReversed();
  }

  /** The parts of a day that may have records of a query: blocks, or the whole day if the query has only times. */
  #partsOf(day: string, query: AuditQuery): DayPart[] {
    const { text, lastBlock, query: prepare } = this.#days.get(day);
    const idOf = (value: string): number | null => allRows<{ id: number }>(text, value)[0]?.id ?? null;
    const clients = clientsOf(query)
      ?.map(idOf)
      .filter((id) => id !== null);
    const route = query.route === undefined ? undefined : idOf(query.route);
    // No record of the day has this text.
    if (clients?.length === 0 || route === null) return [];
    const { status, lane } = query;
    const times = timesOf(query);
    if ((clients ?? route ?? status ?? lane) === undefined)
      return [{ last: Infinity, from: `record_${day}`, where: where(times) }];
    const ids = clients && JSON.stringify(clients);
    const filters: Term[] = [
      [`(client IN ${LISTED} OR sender IN ${LISTED})`, ids, ids],
      ["route = ?", route],
      ["status = ?", status],
      ["lane = ?", lane],
    ];
    const found = where([
      [`client IN ${LISTED}`, ids ?? `[${ANY_CLIENT}]`],
      ["instr(calls, ?)", callText(route, status)],
      ["calls GLOB ?", lane && LANE_PATTERNS[lane]],
      ...blockTimesOf(query),
    ]);
    const find = prepare(
      `SELECT block, max(last) AS last FROM block_${day} ${found.text} GROUP BY block ORDER BY 2 DESC`,
    );
    const indexed = allRows<{ block: number; last: number }>(find, ...found.values);
    const newest = Number(lastBlock.get()?.["block"]);
    const blocks = [{ block: newest, last: Infinity }, ...indexed.filter(({ block }) => block < newest)];
    return blocks.map(({ block, last }) => {
      const range: Term = ["seq >= ? AND seq < ?", block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS];
      return { last, from: `record_${day} NOT INDEXED`, where: where([range, ...filters, ...times]) };
    });
  }

  /** The newest records of a day. Its parts are read as long as they may have newer records than those that were found. */
  #newestOf(day: string, query: AuditQuery, count: number): FoundRecord[] {
    let newest: FoundRecord[] = [];
    for (const { last, from, where } of this.#partsOf(day, query)) {
      const oldest = newest[count - 1];
      if (oldest && last < oldest.time) break;
      const find = this.#days
        .get(day)
        .query(
          `SELECT time, seq, start, size FROM ${from} ${where.text} ORDER BY time DESC, seq DESC LIMIT ?`,
        );
      const rows = allRows<FoundRecord>(find, ...where.values, count);
      newest = [...newest, ...rows]
        .toSorted((one, other) => other.time - one.time || other.seq - one.seq)
        .slice(0, count);
    }
    return newest;
  }
}

/**
 * Opens the database for reading. It runs in a separate thread, so that long queries do not delay commits.
 *
 * @returns A function that runs one job.
 * @throws {Error} If there is no such database.
 */
export function openReader(file: string): (job: ReaderJob) => unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384");
  const records = new Records(createPartitions(database, (day) => prepareDay(database, day)));

  /** All reads of one job see the same records, and no day is deleted meanwhile. */
  function transaction<T>(read: () => T): T {
    database.exec("BEGIN");
    try {
      return read();
    } finally {
      if (database.isTransaction) database.exec("COMMIT");
    }
  }

  function activityOf(fingerprint: string): TokenActivity {
    const token = readToken(database, fingerprint);
    const isOwnClient = token?.client === fingerprint;
    const routes = isOwnClient
      ? (readUsage(database, { kind: "usage", query: { client: fingerprint } }) as RouteUsage[])
      : records.routesOf(fingerprint);
    return { token, routes };
  }

  return function work(job) {
    if (job.kind === "page") return transaction(() => records.page(job.query));
    if (job.kind === "get") return transaction(() => records.get(job.id));
    if (job.kind === "count") return transaction(() => records.count(job.query));
    if (job.kind === "activity") return transaction(() => activityOf(job.fingerprint));
    if (job.kind === "close") return database.close();
    if (job.kind === "erasures") return readErasures(database);
    if (job.kind === "callers") return readCallers(database, job.query);
    return readUsage(database, job);
  };
}

/** The times of a query as conditions of records. */
function timesOf(query: AuditQuery): Term[] {
  const { cursor, until } = queryEnd(query);
  return [
    ["time >= ?", query.since && Date.parse(query.since)],
    ["time < ?", until],
    ["(time, seq) < (?, ?)", cursor?.time, cursor?.seq],
  ];
}

/** The times of a query as conditions of blocks. */
function blockTimesOf(query: AuditQuery): Term[] {
  const { cursor, until } = queryEnd(query);
  return [
    ["last >= ?", query.since && Date.parse(query.since)],
    ["first < ?", until],
    ["first <= ?", cursor?.time],
  ];
}
