/** Sends audit records to an OpenTelemetry collector, as logs. Only loaded if `AUDIT_OTLP` is set. */
import { setTimeout as wait } from "node:timers/promises";
import { SeverityNumber } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { holdRecord, type HeldRecord } from "../../audit/held-record.ts";
import type { AuditStore, ExportStats } from "../../audit/store.ts";
import { toLogEvents, type LogEvent } from "./log-events.ts";
import { createResource, SERVICE_NAME } from "./otlp-resource.ts";

type LogRecord = Parameters<OTLPLogExporter["export"]>[0][number];

/** Limits of the queue. Above either the oldest records are dropped. */
const MAX_QUEUED = { records: 4096, bytes: 16 * 1024 * 1024 } as const;
/** Limits of one request to the collector, unless one record is larger: it is serialised on the event loop. */
const MAX_BATCH = { records: 128, bytes: 256 * 1024 } as const;
/** Milliseconds for which the first record of a batch waits for more, and between a failure and the next attempt. */
const BATCH_MS = 500;
const RETRY_MS = 1000;
/** How long the shutdown waits for the collector, in milliseconds. */
const CLOSE_MS = 2000;

export interface AuditExportOptions {
  /** Base URL of the collector. */
  readonly url: URL;
  /** Name of the header with the filter. */
  readonly filterHeader: string | undefined;
  /** Called with the first of several failures, and with how many records could not be sent at the shutdown. */
  readonly onFault: (message: string, dropped: number) => void;
}

/** The queue of records that wait to be sent, the oldest first. */
class ExportQueue {
  #records: HeldRecord[] = [];
  #bytes = 0;

  get length(): number {
    return this.#records.length;
  }

  /** Adds a record. @returns How many of the oldest had to be dropped. */
  push(held: HeldRecord): number {
    this.#records.push(held);
    this.#bytes += held.size;
    let count = 0;
    let excess = this.#bytes - MAX_QUEUED.bytes;
    while (count < this.length && (excess > 0 || this.length - count > MAX_QUEUED.records)) {
      excess -= this.#records[count]?.size ?? 0;
      count += 1;
    }
    this.#remove(count);
    return count;
  }

  /** Takes the records of one request to the collector. */
  take(): HeldRecord[] {
    let bytes = 0;
    let count = 0;
    for (const { size } of this.#records) {
      bytes += size;
      if (count === MAX_BATCH.records || (count > 0 && bytes > MAX_BATCH.bytes)) break;
      count += 1;
    }
    return this.#remove(count);
  }

  #remove(count: number): HeldRecord[] {
    const removed = count === 0 ? [] : this.#records.splice(0, count);
    for (const { size } of removed) this.#bytes -= size;
    return removed;
  }
}

const SEVERITY: Readonly<Record<LogEvent["severity"], SeverityNumber>> = {
  INFO: SeverityNumber.INFO,
  WARN: SeverityNumber.WARN,
  ERROR: SeverityNumber.ERROR,
};

const toHrTime = (ms: number): [seconds: number, nanoseconds: number] => [
  Math.floor(ms / 1000),
  (ms % 1000) * 1e6,
];

/**
 * Wraps a store, so that its records are also sent to a collector. `append` only adds the record to a bounded queue; what
 * the collector does not take in time is dropped and counted. `close` sends what is left, for two seconds at most.
 */
export function exportToCollector(
  store: AuditStore,
  { url, filterHeader, onFault }: AuditExportOptions,
): AuditStore {
  const base = url.href.endsWith("/") ? url.href : `${url.href}/`;
  const exporter = new OTLPLogExporter({ url: new URL("v1/logs", base).href });
  const resource = createResource();
  const instrumentationScope = { name: SERVICE_NAME };
  const queue = new ExportQueue();
  let inFlight = 0;
  let sent = 0;
  let dropped = 0;
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;

  const toLogRecord = ({ eventName, time, severity, body, attributes }: LogEvent): LogRecord => ({
    hrTime: toHrTime(time),
    hrTimeObserved: toHrTime(Date.now()),
    severityNumber: SEVERITY[severity],
    severityText: severity,
    body,
    eventName,
    attributes,
    droppedAttributesCount: 0,
    resource,
    instrumentationScope,
  });

  function send(batch: readonly HeldRecord[]): Promise<Error | undefined> {
    const logs = batch.flatMap(({ record }) => toLogEvents(record, filterHeader).map(toLogRecord));
    return new Promise((resolve) => {
      // The exporter gives an error with each failure.
      exporter.export(logs, ({ error }) => resolve(error));
    });
  }

  async function sendBatch(): Promise<void> {
    const batch = queue.take();
    inFlight = batch.length;
    const error = await send(batch).catch((reason: unknown) => reason as Error);
    inFlight = 0;
    if (error) {
      dropped += batch.length;
      if (!isFailing) onFault(error.message, batch.length);
    } else sent += batch.length;
    isFailing = error !== undefined;
  }

  function schedule(ms: number): void {
    if (timer || running || isClosed || queue.length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      running = sendBatch().finally(() => {
        running = undefined;
        schedule(isFailing ? RETRY_MS : queue.length > MAX_BATCH.records ? 0 : BATCH_MS);
      });
    }, ms).unref();
  }

  const append: AuditStore["append"] = (record) => {
    if (!isClosed) {
      dropped += queue.push(holdRecord(record));
      schedule(BATCH_MS);
    }
    return store.append(record);
  };

  async function sendAll(): Promise<void> {
    await running;
    while (queue.length > 0 && !isFailing) await sendBatch();
  }

  async function close(): Promise<void> {
    clearTimeout(timer);
    isClosed = true;
    await Promise.race([sendAll(), wait(CLOSE_MS, undefined, { ref: false })]);
    const left = queue.length + inFlight;
    if (left > 0) onFault("the collector did not take them before the shutdown", left);
    void exporter.shutdown();
  }

  const stats = (): ExportStats => ({ queued: queue.length + inFlight, sent, dropped });
  return {
    ...store,
    append,
    stats: () => ({ ...store.stats(), exported: stats() }),
    async close() {
      // The store first: its records are durable without the collector.
      await store.close();
      await close();
    },
  };
}
