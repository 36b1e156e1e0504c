/** Converts audit records to OpenTelemetry's semantic conventions for HTTP. */
import type { FilterHeaders } from "../../../pack/index.ts";
import { JsonText } from "../../record/json-text.ts";
import type { AuditRecord, RecordedBody } from "../../record/record.ts";

type AttributeValue = string | number | readonly string[];

/** One exchange of a record: the request of the client, or a v4 call that was made for it. */
export interface LogEvent {
  readonly eventName: "alpha_gateway.request" | "alpha_gateway.upstream_request";
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly severity: "INFO" | "WARN" | "ERROR";
  /** A line of text for people. */
  readonly body: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

/** The methods of RFC 9110, and PATCH. The conventions call all others `_OTHER`. */
const METHOD = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/;

const severityOf = (status: number | null): LogEvent["severity"] =>
  status === null || status >= 500 ? "ERROR" : status >= 400 ? "WARN" : "INFO";

const methodOf = (method: string): Record<string, AttributeValue> =>
  METHOD.test(method)
    ? { "http.request.method": method }
    : { "http.request.method": "_OTHER", "http.request.method_original": method };

/** Removes attributes without a value. */
function present(
  attributes: Readonly<Record<string, AttributeValue | null | undefined>>,
): Record<string, AttributeValue> {
  const entries = Object.entries(attributes).filter(
    (entry): entry is [string, AttributeValue] =>
      entry[1] !== null && entry[1] !== undefined && (typeof entry[1] !== "object" || entry[1].length > 0),
  );
  return Object.fromEntries(entries);
}

function contentOf(body: RecordedBody): string | undefined {
  if (body instanceof JsonText) return body.text;
  return typeof body === "string" ? body : JSON.stringify(body);
}

type Exchange = Pick<
  AuditRecord["v4"][number],
  "method" | "path" | "filter" | "body" | "status" | "response"
>;

/** The attributes that both kinds of exchanges have. @param filterHeader The name of the header that contains the filter. */
function exchangeAttributes(
  { method, path, filter, body, status, response }: Exchange,
  query: string,
  filterHeader: string | undefined,
): Record<string, AttributeValue> {
  return {
    ...methodOf(method),
    ...present({
      "url.path": path,
      "url.query": query === "" ? undefined : query,
      "http.response.status_code": status,
      "http.request.body.content": contentOf(body),
      "http.response.body.content": contentOf(response),
      ...(filterHeader !== undefined &&
        filter !== null && { [`http.request.header.${filterHeader.toLowerCase()}`]: [filter] }),
    }),
  };
}

function requestEvent(record: AuditRecord, filterHeader: string | undefined): LogEvent {
  const { id, lane, pack, requestId, client, alpha, losses, warnings, timings, bytes, requests } = record;
  const { route, status, method, path } = alpha;
  return {
    eventName: "alpha_gateway.request",
    time: Date.parse(record.time),
    severity: severityOf(status),
    body: `${route ?? `${method} ${path}`} ${status}`,
    attributes: {
      "log.record.uid": id,
      ...exchangeAttributes(alpha, alpha.query, filterHeader),
      ...present({
        "http.route": route?.replace(/^\S+ /, ""),
        "http.request.body.size": bytes.in,
        "http.response.body.size": bytes.out,
        "client.address": client.address,
        "user_agent.original": client.userAgent,
        "alpha_gateway.lane": lane,
        "alpha_gateway.request_id": requestId,
        "alpha_gateway.client": client.fingerprint,
        "alpha_gateway.application": client.application,
        "alpha_gateway.label": client.label,
        "alpha_gateway.pack": pack,
        "alpha_gateway.losses": losses,
        "alpha_gateway.warnings": warnings,
        "alpha_gateway.requests": requests,
        "alpha_gateway.total_ms": timings.total,
        "alpha_gateway.upstream_ms": timings.upstream,
      }),
    },
  };
}

function upstreamEvent(
  call: AuditRecord["v4"][number],
  number: number,
  { id, time, requestId, lane }: AuditRecord,
  filterHeader: string | undefined,
): LogEvent {
  const [path = "", ...query] = call.path.split("?");
  return {
    eventName: "alpha_gateway.upstream_request",
    time: Date.parse(time),
    severity: severityOf(call.status),
    body: `${call.method} ${path} ${call.status ?? "without a response"}`,
    attributes: {
      "log.record.uid": `${id}.${number}`,
      ...exchangeAttributes({ ...call, path }, query.join("?"), filterHeader),
      "alpha_gateway.record": id,
      "alpha_gateway.lane": lane,
      "alpha_gateway.request_id": requestId,
      "alpha_gateway.total_ms": call.ms,
    },
  };
}

/** The events of a record: the request of the client, then its v4 calls. As in HAR, a native request becomes a single event. */
export function toLogEvents(record: AuditRecord, filterHeaders: FilterHeaders): LogEvent[] {
  const calls = record.lane === "native" ? [] : record.v4;
  return [
    requestEvent(record, filterHeaders.client),
    ...calls.map((call, index) => upstreamEvent(call, index + 1, record, filterHeaders.upstream)),
  ];
}
