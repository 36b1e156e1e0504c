/** Sends audit records to an OpenTelemetry collector, as logs. Only loaded if `AUDIT_OTLP` is set. */
import { setTimeout as wait } from "node:timers/promises";
import { SeverityNumber } from "@opentelemetry/api";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { holdRecord, type HeldRecord } from "../../record/held-record.ts";
import type { AuditRecord } from "../../record/record.ts";
import type { AuditStore, ExportStats } from "../../store/store.ts";
import { toLogEvents, type LogEvent } from "./log-events.ts";
import type { FilterHeaders } from "../../../pack/index.ts";
import { loadResource } from "../../../base/index.ts";

const { createResource, SERVICE_NAME } = await loadResource();

type LogRecord = Parameters<OTLPLogExporter["export"]>[0][number];

/** Limits of the queue. Above either limit the oldest records are dropped. */
const MAX_QUEUED = { records: 4096, bytes: 16 * 1024 * 1024 } as const;
/**
 * Limits of one request to the collector, because it is serialized on the event loop. A single larger record is sent
 * alone.
 */
const MAX_BATCH = { records: 128, bytes: 256 * 1024 } as const;
/** Milliseconds for which a batch waits for more records, and milliseconds between a failure and the next attempt. */
const BATCH_MS = 500;
const RETRY_MS = 1000;
/** How long the shutdown waits for the collector, in milliseconds. */
const CLOSE_MS = 2000;

export interface AuditExportOptions {
  /** Base URL of the collector. */
  readonly url: URL;
  /** Names of the headers that contain filters. */
  readonly filterHeaders: FilterHeaders;
  /** Called with the first of several failures, and at shutdown with the number of records that could not be sent. */
  readonly onFault: (message: string, dropped: number) => void;
}

/** The queue of records that wait to be sent, the oldest first. */
class ExportQueue {
  #records: HeldRecord[] = [];
  #bytes = 0;

  get length(): number {
    return this.#records.length;
  }

  /** Adds a record. @returns The number of old records that were dropped. */
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

/** Sends records to a collector, one batch at a time. */
class AuditExport {
  readonly #options: AuditExportOptions;
  readonly #exporter: OTLPLogExporter;
  readonly #source = { resource: createResource(), instrumentationScope: { name: SERVICE_NAME } };
  readonly #queue = new ExportQueue();
  #inFlight = 0;
  #sent = 0;
  #dropped = 0;
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: AuditExportOptions) {
    const { href } = options.url;
    this.#options = options;
    const base = href.endsWith("/") ? href : `${href}/`;
    this.#exporter = new OTLPLogExporter({ url: new URL("v1/logs", base).href });
  }

  get stats(): ExportStats {
    return { queued: this.#queue.length + this.#inFlight, sent: this.#sent, dropped: this.#dropped };
  }

  add(record: AuditRecord): void {
    if (this.#isClosed) return;
    this.#dropped += this.#queue.push(holdRecord(record));
    this.#schedule(BATCH_MS);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isClosed = true;
    await Promise.race([this.#sendAll(), wait(CLOSE_MS, undefined, { ref: false })]);
    const { queued } = this.stats;
    if (queued > 0) this.#options.onFault("the collector did not take them before the shutdown", queued);
    void this.#exporter.shutdown();
  }

  #schedule(ms: number): void {
    if (this.#timer || this.#running || this.#isClosed || this.#queue.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#sendBatch().finally(() => {
        this.#running = undefined;
        const pause = this.#queue.length > MAX_BATCH.records ? 0 : BATCH_MS;
        this.#schedule(this.#isFailing ? RETRY_MS : pause);
      });
    }, ms).unref();
  }

  async #sendAll(): Promise<void> {
    await this.#running;
    while (this.#queue.length > 0 && !this.#isFailing) await this.#sendBatch();
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#queue.take();
    this.#inFlight = batch.length;
    const error = await this.#send(batch).catch((reason: unknown) => reason as Error);
    this.#inFlight = 0;
    if (error) {
      this.#dropped += batch.length;
      if (!this.#isFailing) this.#options.onFault(error.message, batch.length);
    } else this.#sent += batch.length;
    this.#isFailing = error !== undefined;
  }

  async #send(batch: readonly HeldRecord[]): Promise<Error | undefined> {
    const events = batch.flatMap(({ record }) => toLogEvents(record, this.#options.filterHeaders));
    const logs = events.map((event): LogRecord => ({ ...toLogRecord(event), ...this.#source }));
    return new Promise((resolve) => {
      // The exporter reports an error for each failure.
      this.#exporter.export(logs, ({ error }) => resolve(error));
    });
  }
}

const toLogRecord = ({ eventName, time, severity, body, attributes }: LogEvent) => ({
  hrTime: toHrTime(time),
  hrTimeObserved: toHrTime(Date.now()),
  severityNumber: SEVERITY[severity],
  severityText: severity,
  body,
  eventName,
  attributes,
  droppedAttributesCount: 0,
});

/**
 * Wraps a store, so that its records are also sent to a collector. `append` only adds the record to a bounded queue.
 * If the collector is too slow, records are dropped and counted. `close` sends the remaining ones, for two seconds at
 * most.
 */
export function exportToCollector(store: AuditStore, options: AuditExportOptions): AuditStore {
  const exported = new AuditExport(options);
  return {
    ...store,
    append(record) {
      exported.add(record);
      return store.append(record);
    },
    stats: () => ({ ...store.stats(), exported: exported.stats }),
    async close() {
      // The store first, because its records must be durable even if the collector fails.
      await store.close();
      await exported.close();
    },
  };
}
