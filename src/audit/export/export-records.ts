import { STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { readRecord } from "../read-record.ts";
import type { AuditRecord, RecordedBody } from "../record.ts";
import type { AuditQuery, AuditStore } from "../store.ts";
import { CSV_HEAD, csvLine } from "./csv.ts";

/** The start of a HAR 1.2 file. Custom members have names with `_`, as the format requires. */
const HAR_HEAD = '{"log":{"version":"1.2","creator":{"name":"alpha-gateway","version":"1"},"entries":[\n';
const HAR_TAIL = "\n]}}\n";

/** HAR needs absolute URLs, and hosts are not recorded. Names in `.invalid` never resolve (RFC 6761). */
const ALPHA = "http://alpha.invalid";
const V4 = "http://v4.invalid";

interface HarExchange {
  readonly url: string;
  readonly method: string;
  readonly filter: string | null;
  readonly body?: RecordedBody;
  readonly status: number | null;
  readonly response?: RecordedBody;
  /** Milliseconds. */
  readonly ms: number;
  /** Bytes, where known. */
  readonly bytes?: { readonly in: number; readonly out: number };
}

/** Returns the entries of a record: the request of the client, then its v4 calls. A native request is only one entry. */
function harEntries(record: AuditRecord, filterHeader: string | undefined): object[] {
  const { alpha, v4, lane, timings, bytes } = record;
  const asked = {
    ...alpha,
    url: ALPHA + alpha.path + (alpha.query && `?${alpha.query}`),
    ms: timings.total,
    bytes,
  };
  const called = v4.map((call) => ({ ...call, url: V4 + call.path }));
  const exchanges: HarExchange[] =
    lane === "native" ? [{ ...asked, url: asked.url.replace(ALPHA, V4) }] : [asked, ...called];
  return exchanges.map((exchange, place) => ({
    ...entry(exchange, record, filterHeader),
    _record: record.id,
    _dialect: lane === "native" || place > 0 ? "v4" : "alpha",
    ...(place === 0 && {
      _client: record.client.fingerprint,
      ...(record.client.application !== undefined && { _application: record.client.application }),
      ...(record.client.label !== undefined && { _label: record.client.label }),
      _losses: record.losses,
      _warnings: record.warnings,
    }),
  }));
}

function entry(
  exchange: HarExchange,
  { time, client }: AuditRecord,
  filterHeader: string | undefined,
): object {
  const { url, method, filter, body, status, response, ms, bytes } = exchange;
  const headers = [
    ...(filter === null || filterHeader === undefined ? [] : [{ name: filterHeader, value: filter }]),
    ...(client.userAgent === null ? [] : [{ name: "User-Agent", value: client.userAgent }]),
  ];
  const message = { httpVersion: "HTTP/1.1", cookies: [], headersSize: -1 };
  return {
    startedDateTime: time,
    time: ms,
    request: {
      ...message,
      method,
      url,
      headers,
      queryString: queryOf(url),
      ...(body !== undefined && { postData: { mimeType: "application/json", text: textOf(body) } }),
      bodySize: bytes?.in ?? -1,
    },
    response: {
      ...message,
      // A call without a response has status 0, as in browsers.
      status: status ?? 0,
      statusText: (status !== null && STATUS_CODES[status]) || "",
      headers: [],
      content: contentOf(response, bytes?.out),
      redirectURL: "",
      bodySize: bytes?.out ?? -1,
    },
    cache: {},
    timings: { send: 0, wait: ms, receive: 0 },
  };
}

function contentOf(response: RecordedBody, bytes: number | undefined): object {
  const text = response === undefined ? undefined : textOf(response);
  return {
    size: bytes ?? (text === undefined ? 0 : Buffer.byteLength(text)),
    mimeType: "application/json",
    ...(text !== undefined && { text }),
  };
}

function queryOf(url: string): { name: string; value: string }[] {
  const query = url.includes("?") ? url.slice(url.indexOf("?") + 1) : "";
  return [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
}

function textOf(body: RecordedBody): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}

/** All export formats. */
export const EXPORT_FORMATS = ["ndjson", "ndjson.zst", "csv", "har"] as const;
/** The format of an export. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Options of {@link exportTexts}. */
export interface ExportOptions {
  readonly format: ExportFormat;
  /** `limit` and `before` are ignored: all matching records are exported. */
  readonly query: AuditQuery;
  /** Name of the header with the filter, for HAR. Without it HAR files have no filters. */
  readonly filterHeader: string | undefined;
  /** Called with the number of exported records after each page. */
  readonly onRecords?: (done: number) => void;
}

/** Whether a value is the name of an export format. */
export const isExportFormat = (format: unknown): format is ExportFormat =>
  EXPORT_FORMATS.some((known) => known === format);

/** Records of one read: few, since they are all in memory, and other queries run in between. */
const PAGE_ROWS = 100;

interface Writer {
  readonly head: string;
  /** The records of a page, each a JSON text. */
  readonly page: (records: readonly string[], first: boolean) => string;
  readonly tail: string;
}

/**
 * Exports all matching records, newest first, as pieces of text. Only one page is in memory at a time. Records that are
 * stored meanwhile are not exported.
 *
 * @throws {AuditUnavailableError} If the store can't be read, possibly after some pieces.
 */
export async function* exportTexts(
  store: Pick<AuditStore, "texts">,
  { format, query, filterHeader, onRecords }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const { head, page, tail } = writerOf(format, filterHeader);
  if (head) yield head;
  let before: string | null | undefined;
  let first = true;
  let done = 0;
  do {
    const { records, next } = await store.texts({ ...query, limit: PAGE_ROWS, ...(before && { before }) });
    if (records.length > 0) yield page(records, first);
    done += records.length;
    onRecords?.(done);
    first = false;
    before = next;
  } while (before);
  if (tail) yield tail;
}

/**
 * Writes the texts of an export to a stream as fast as it accepts them: as they are, or compressed as one zstd frame. An
 * export that fails leaves an incomplete frame, which `zstd -t` rejects.
 *
 * @param options `end: false` leaves the stream open.
 * @throws The error of the texts or of the stream.
 */
export async function writeExport(
  texts: AsyncIterable<string>,
  format: ExportFormat,
  target: NodeJS.WritableStream,
  options?: { readonly end: false },
): Promise<void> {
  const source = Readable.from(texts, { highWaterMark: 1 });
  const compression = format === "ndjson.zst" ? [createZstdCompress()] : [];
  await pipeline([source, ...compression, target], { ...options });
}

function writerOf(format: ExportFormat, filterHeader: string | undefined): Writer {
  if (format === "ndjson" || format === "ndjson.zst") {
    return { head: "", page: (records) => records.map((record) => `${record}\n`).join(""), tail: "" };
  }
  if (format === "csv") {
    return { head: CSV_HEAD, page: (records) => records.map(readRecord).map(csvLine).join(""), tail: "" };
  }
  return {
    head: HAR_HEAD,
    page(records, first) {
      const entries = records.flatMap((record) => harEntries(readRecord(record), filterHeader));
      return (first ? "" : ",\n") + entries.map((entry) => JSON.stringify(entry)).join(",\n");
    },
    tail: HAR_TAIL,
  };
}
