/** Faults of the connection to v4, and the responses to clients: data of the suite and of its page. */
import {
  sendByteByByte,
  respondEndlessly,
  resetAfter,
  respondWith,
  readOnly,
  type Fault,
} from "../../support/fault-proxy.ts";

export interface V4Fault {
  readonly name: string;
  readonly fault: Fault | "refuse";
  /** Statuses of a read and of a create. */
  readonly read: number;
  readonly create: number;
  /** The number of v4 requests for a read. A create is always sent once. */
  readonly tries: number;
}

const head = (status: string, ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, "Content-Type: application/json", "Connection: close", ...lines, "", ""].join(
    "\r\n",
  );
const LIST = '{"data":[],"page":1,"pages":1,"results":0}';
const chunked = "Transfer-Encoding: chunked";
const busy = '{"errors":[{"reason":"Too many requests"}]}';

const failed = { read: 500, create: 500 };

export const V4_FAULTS: readonly V4Fault[] = [
  { name: "refuses connections", fault: "refuse", ...failed, tries: 0 },
  { name: "accepts a connection and sends nothing", fault: readOnly, ...failed, tries: 1 },
  { name: "sends one byte at a time, slowly", fault: sendByteByByte(100), ...failed, tries: 1 },
  { name: "closes the connection without a response", fault: respondWith("", "end"), ...failed, tries: 3 },
  {
    name: "resets after the head",
    fault: respondWith(head("200 OK", "Content-Length: 42"), "reset"),
    ...failed,
    tries: 3,
  },
  { name: "resets in mid-body", fault: resetAfter(150), ...failed, tries: 3 },
  {
    name: "declares a length that is too long, and ends",
    fault: respondWith(head("200 OK", "Content-Length: 99") + LIST, "end"),
    ...failed,
    tries: 3,
  },
  {
    name: "declares a length that is too long, and waits",
    fault: respondWith(head("200 OK", "Content-Length: 99") + LIST, "wait"),
    ...failed,
    tries: 1,
  },
  {
    name: "declares a length that is too short",
    fault: respondWith(head("200 OK", "Content-Length: 9") + LIST, "end"),
    ...failed,
    tries: 1,
  },
  {
    name: "sends chunks without an end",
    fault: respondEndlessly(head("200 OK", chunked), "1\r\n \r\n"),
    ...failed,
    tries: 1,
  },
  { name: "sends garbage", fault: respondWith("\u0000\u0016SSH-2.0\r\n\r\n", "end"), ...failed, tries: 3 },
  {
    name: "responds with 429 with Retry-After",
    fault: respondWith(
      head("429 Too Many Requests", "Retry-After: 7", `Content-Length: ${busy.length}`) + busy,
      "end",
    ),
    read: 420,
    create: 420,
    tries: 1,
  },
  {
    name: "responds with 429 without Retry-After",
    fault: respondWith(head("429 Too Many Requests", `Content-Length: ${busy.length}`) + busy, "end"),
    read: 420,
    create: 420,
    tries: 1,
  },
  {
    name: "responds with 500 as HTML",
    fault: respondWith(
      "HTTP/1.1 500 Oops\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: 15\r\n\r\n<h1>nginx</h1>\r\n",
      "end",
    ),
    ...failed,
    tries: 1,
  },
  {
    name: "responds with 503",
    fault: respondWith(head("503 Down", "Content-Length: 0"), "end"),
    ...failed,
    tries: 3,
  },
  {
    name: "redirects",
    fault: respondWith(head("302 Found", "Location: http://127.0.0.1:1/", "Content-Length: 0"), "end"),
    ...failed,
    tries: 1,
  },
];
