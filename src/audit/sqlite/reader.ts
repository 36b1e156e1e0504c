import { DatabaseSync } from "node:sqlite";
import type { SQLInputValue, StatementSync } from "node:sqlite";
import { zstdDecompressSync } from "node:zlib";
import { clampLimit, PAGE_SIZE, queryEnd, writeCursor } from "../record-pages.ts";
import type { AuditQuery, TextPage } from "../store.ts";
import { recordText } from "../segment.ts";
import { dayOf, daysOf, MAX_USAGE_ROWS } from "../usage.ts";
import type { ClientUsage, RouteUsage, UsageQuery } from "../usage.ts";
import { ANY_CLIENT, BLOCK_ROWS, callText, createPartitions, suffixOf } from "./partition.ts";
import type { ReaderJob } from "./worker-messages.ts";

type Row = Record<string, unknown>;

interface Where {
  /** With `WHERE`, or empty. */
  readonly text: string;
  readonly values: SQLInputValue[];
}

/** SQL of the value of a column in the row with the greatest `last`. */
const OF_LAST = (column: string): string => `substr(max(format('%015d%s', last, ${column})), 16)`;

const CLIENTS = (where: string): string => `
  SELECT client, ${OF_LAST("agent")} AS agent, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first, max(last) AS last,
    sum(iif(status >= 400, requests, 0)) AS errors, sum(iif(lane = 'native', requests, 0)) AS native
  FROM usage ${where} GROUP BY client ORDER BY requests DESC, client LIMIT ?
`;
const ROUTES = (where: string): string => `
  SELECT client, lane, route, status, sum(requests) AS requests, sum(lossy) AS lossy, min(first) AS first,
    max(last) AS last, ${OF_LAST("sample")} AS sample
  FROM usage ${where} GROUP BY client, lane, route, status
  ORDER BY requests DESC, client, lane, route, status LIMIT ?
`;
const DAYS = (where: string): string => `
  SELECT day, sum(iif(lane = 'alpha', requests, 0)) AS alpha, sum(iif(lane = 'native', requests, 0)) AS native,
    sum(iif(status >= 400, requests, 0)) AS errors, sum(lossy) AS lossy,
    count(DISTINCT iif(lane = 'alpha', client, NULL)) AS alphaClients
  FROM usage ${where} GROUP BY day ORDER BY day
`;

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

/**
 * Opens the database for reading. It runs in a separate thread, so that long queries do not delay commits.
 *
 * @returns A function that runs one job.
 * @throws {Error} If there is no such database.
 */
export function openReader(file: string): (job: ReaderJob) => unknown {
  const database = new DatabaseSync(file, { readOnly: true });
  database.exec("PRAGMA busy_timeout = 5000; PRAGMA cache_size = -16384");
  const days = createPartitions(database, (day) => prepareDay(database, day));
  const segments = new Map<string, Uint8Array>();
  let cached = 0;

  /** All reads of one job see the same records, and no day is deleted meanwhile. */
  function transaction<T>(read: () => T): T {
    database.exec("BEGIN");
    try {
      return read();
    } finally {
      if (database.isTransaction) database.exec("COMMIT");
    }
  }

  function textOf({ day, seq, ...place }: RecordPlace): string {
    const { segment, data } = days.get(day);
    const found = segment.get(seq) ?? {};
    // A number is used again if the newest segment was deleted.
    const key = [day, ...Object.values(found)].join(" ");
    const cachedBytes = segments.get(key);
    if (cachedBytes) return recordText(cachedBytes, place);
    const bytes = zstdDecompressSync(data.get(Number(found["seq"]))?.["data"] as Uint8Array);
    segments.set(key, bytes);
    cached += bytes.length;
    for (const [oldest, { length }] of segments) {
      if (cached <= CACHE_BYTES || oldest === key) break;
      segments.delete(oldest);
      cached -= length;
    }
    return recordText(bytes, place);
  }

  /** The days of a query, newest first. */
  function daysOfQuery(query: AuditQuery): string[] {
    const { since } = query;
    const { cursor, until } = queryEnd(query);
    const first = since === undefined ? "" : suffixOf(dayOf(Date.parse(since)));
    const end = cursor?.time ?? until;
    const last = end === undefined ? "9" : suffixOf(dayOf(end));
    return days
      .list()
      .filter((day) => day >= first && day <= last)
      .toReversed();
  }

  /** The parts of a day that may have records of a query: blocks, or the whole day if the query has only times. */
  function partsOf(day: string, query: AuditQuery): DayPart[] {
    const { text, lastBlock, query: prepare } = days.get(day);
    const idOf = (value: string): number | null => (text.get(value)?.["id"] as number | undefined) ?? null;
    const client = query.client === undefined ? undefined : idOf(query.client);
    const route = query.route === undefined ? undefined : idOf(query.route);
    // No record of the day has this text.
    if (client === null || route === null) return [];
    const { status } = query;
    const times = timesOf(query);
    if ((client ?? route ?? status) === undefined)
      return [{ last: Infinity, from: `record_${day}`, where: where(times) }];
    const filters: Term[] = [
      ["client = ?", client],
      ["route = ?", route],
      ["status = ?", status],
    ];
    const found = where([
      ["client = ?", client ?? ANY_CLIENT],
      ["instr(calls, ?)", callText(route, status)],
      ...blockTimesOf(query),
    ]);
    const indexed = prepare(`SELECT block, last FROM block_${day} ${found.text} ORDER BY last DESC`).all(
      ...found.values,
    ) as unknown as { block: number; last: number }[];
    const newest = Number(lastBlock.get()?.["block"]);
    const blocks = [{ block: newest, last: Infinity }, ...indexed.filter(({ block }) => block < newest)];
    return blocks.map(({ block, last }) => {
      const range: Term = ["seq >= ? AND seq < ?", block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS];
      return { last, from: `record_${day} NOT INDEXED`, where: where([range, ...filters, ...times]) };
    });
  }

  /** The newest records of a day. Its parts are read as long as they may have newer records than those that were found. */
  function newestOf(day: string, query: AuditQuery, count: number): FoundRecord[] {
    let newest: FoundRecord[] = [];
    for (const { last, from, where } of partsOf(day, query)) {
      const oldest = newest[count - 1];
      if (oldest && last < oldest.time) break;
      const rows = days
        .get(day)
        .query(
          `SELECT time, seq, start, size FROM ${from} ${where.text} ORDER BY time DESC, seq DESC LIMIT ?`,
        )
        .all(...where.values, count) as unknown as FoundRecord[];
      newest = [...newest, ...rows]
        .toSorted((one, other) => other.time - one.time || other.seq - one.seq)
        .slice(0, count);
    }
    return newest;
  }

  function page(query: AuditQuery): TextPage {
    const limit = clampLimit(query);
    const records: string[] = [];
    let size = 0;
    let next: string | null = null;
    for (const day of daysOfQuery(query)) {
      for (const row of newestOf(day, query, limit + 1 - records.length)) {
        size += row.size;
        if (records.length === limit || (records.length > 0 && size > PAGE_SIZE)) return { records, next };
        records.push(textOf({ ...row, day }));
        next = writeCursor(row);
      }
    }
    return { records, next: null };
  }

  function get(id: string): string | undefined {
    for (const day of days.list().toReversed()) {
      const found = days.get(day).byId.get(id) as unknown as RecordPlace | undefined;
      if (found) return textOf({ ...found, day });
    }
    return undefined;
  }

  function count(query: AuditQuery): number {
    let sum = 0;
    for (const day of daysOfQuery(query)) {
      for (const { from, where } of partsOf(day, query)) {
        const counted = days.get(day).query(`SELECT count(*) AS count FROM ${from} ${where.text}`);
        sum += Number(counted.get(...where.values)?.["count"]);
      }
    }
    return sum;
  }

  function summary(statement: (where: string) => string, query: UsageQuery, limit: number[] = []): Row[] {
    const { text, values } = usageOf(query);
    return database.prepare(statement(text)).all(...values, ...limit);
  }

  return function work(job) {
    if (job.kind === "page") return transaction(() => page(job.query));
    if (job.kind === "get") return transaction(() => get(job.id));
    if (job.kind === "count") return transaction(() => count(job.query));
    if (job.kind === "close") return database.close();
    const { limit = MAX_USAGE_ROWS } = job.query;
    if (job.kind === "days") return summary(DAYS, job.query);
    if (job.kind === "clients") return summary(CLIENTS, job.query, [limit]).map(clientOf);
    return summary(ROUTES, job.query, [limit]).map(routeOf);
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

function usageOf(query: UsageQuery): Where {
  const { first, last } = daysOf(query);
  return where([
    ["day >= ?", first],
    ["day <= ?", last],
    ["client = ?", query.client === null ? "" : query.client],
  ]);
}

type Term = readonly [condition: string, ...values: (SQLInputValue | undefined)[]];

/** Joins the terms that have values with AND. */
function where(terms: readonly Term[]): Where {
  const given = terms.filter(([, value]) => value !== undefined);
  const text = given.map(([condition]) => condition).join(" AND ");
  return {
    text: text && `WHERE ${text}`,
    values: given.flatMap(([, ...values]) => values as SQLInputValue[]),
  };
}

function clientOf({ client, agent, first, last, ...counts }: Row): ClientUsage {
  const numbers = counts as Pick<ClientUsage, "requests" | "lossy" | "errors" | "native">;
  return { client: nullable(client), userAgent: nullable(agent), ...span(first, last), ...numbers };
}

function routeOf({ client, route, first, last, ...rest }: Row): RouteUsage {
  const others = rest as Pick<RouteUsage, "lane" | "status" | "requests" | "lossy" | "sample">;
  return { client: nullable(client), route: nullable(route), ...span(first, last), ...others };
}

function span(first: unknown, last: unknown): { first: string; last: string } {
  return { first: new Date(Number(first)).toISOString(), last: new Date(Number(last)).toISOString() };
}

function nullable(text: unknown): string | null {
  return text === "" ? null : String(text);
}
