import { STATUS_CODES } from "node:http";
import type { FilterHeaders } from "../../pack/index.ts";
import type { AuditRecord, RecordedBody, RecordedCall } from "../record/record.ts";

/** The start of a HAR 1.2 file. Custom members have names with `_`, as the format requires. */
export const HAR_HEAD =
  '{"log":{"version":"1.2","creator":{"name":"alpha-gateway","version":"1"},"entries":[\n';

/** The end of the file, which contains the number of damaged records that were omitted. */
export const harTail = (damaged: number): string =>
  `\n]${damaged === 0 ? "" : `,"comment":"${damaged} damaged records were left out"`}}}\n`;

/** HAR needs absolute URLs, but records contain no hosts. Names in `.invalid` never resolve (RFC 6761). */
const ALPHA = "http://alpha.invalid";
const V4 = "http://v4.invalid";

interface HarExchange extends Omit<RecordedCall, "path"> {
  readonly url: string;
  /** The sizes in bytes, if known. */
  readonly bytes?: { readonly in: number; readonly out: number };
}

/** Returns the entries of a record: the request of the client, then its v4 calls. A native request becomes a single entry. */
export function harEntries(record: AuditRecord, filterHeaders: FilterHeaders): object[] {
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
    ...entry(exchange, record, place === 0 ? filterHeaders.client : filterHeaders.upstream),
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
