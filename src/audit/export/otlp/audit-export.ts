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

/** Limits of the queue. Above either limit, the oldest records are dropped. */
const MAX_QUEUED = { records: 4096, bytes: 16 * 1024 * 1024 } as const;
/**
 * Limits of one request to the collector, because it is serialized on the event loop. A single larger record is sent on
 * its own.
 */
const MAX_BATCH = { records: 128, bytes: 256 * 1024 } as const;
/** Milliseconds for which a batch waits for more records, and milliseconds between a failure and the next attempt. */
const BATCH_MS = 500;
const RETRY_MS = 1000;
/** Milliseconds that the shutdown waits for the collector. */
const CLOSE_MS = 2000;

interface AuditExportOptions {
  /** Base URL of the collector. */
  readonly url: URL;
  /** Names of the headers that contain filters. */
  readonly filterHeaders: FilterHeaders;
  /** Called with the first of several failures, and at shutdown with the number of records that could not be sent. */
  readonly onFault: (message: string, dropped: number) => void;
}

const toHrTime = (ms: number): [seconds: number, nanoseconds: number] => [
  Math.floor(ms / 1000),
  (ms % 1000) * 1e6,
];

/** Sends records to a collector, one batch at a time. */
class AuditExport {
  readonly #options: AuditExportOptions;
  readonly #exporter: OTLPLogExporter;
  readonly #source = { resource: createResource(), instrumentationScope: { name: SERVICE_NAME } };
  /** Waiting records, the oldest first. */
  readonly #waiting: HeldRecord[] = [];
  #waitingBytes = 0;
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
    return { queued: this.#waiting.length + this.#inFlight, sent: this.#sent, dropped: this.#dropped };
  }

  add(record: AuditRecord): void {
    if (this.#isClosed) return;
    const held = holdRecord(record);
    this.#waiting.push(held);
    this.#waitingBytes += held.size;
    while (this.#waiting.length > MAX_QUEUED.records || this.#waitingBytes > MAX_QUEUED.bytes) {
      this.#shift();
      this.#dropped += 1;
    }
    this.#schedule(BATCH_MS);
  }

  #shift(): void {
    this.#waitingBytes -= this.#waiting.shift()?.size ?? 0;
  }

  /** Removes the records for one request to the collector from the queue. */
  #takeBatch(): HeldRecord[] {
    const batch: HeldRecord[] = [];
    let bytes = 0;
    for (let next = this.#waiting[0]; next && batch.length < MAX_BATCH.records; next = this.#waiting[0]) {
      bytes += next.size;
      if (batch.length > 0 && bytes > MAX_BATCH.bytes) break;
      batch.push(next);
      this.#shift();
    }
    return batch;
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
    if (this.#timer || this.#running || this.#isClosed || this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#running = this.#sendBatch().finally(() => {
        this.#running = undefined;
        const pause = this.#waiting.length > MAX_BATCH.records ? 0 : BATCH_MS;
        this.#schedule(this.#isFailing ? RETRY_MS : pause);
      });
    }, ms).unref();
  }

  async #sendAll(): Promise<void> {
    await this.#running;
    while (this.#waiting.length > 0 && !this.#isFailing) await this.#sendBatch();
  }

  async #sendBatch(): Promise<void> {
    const batch = this.#takeBatch();
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
  severityNumber: SeverityNumber[severity],
  severityText: severity,
  body,
  eventName,
  attributes,
  droppedAttributesCount: 0,
});

/**
 * Wraps a store, so that its records are also sent to a collector. `append` only adds the record to a bounded queue. If
 * the collector is too slow, records are dropped and counted. `close` sends the remaining records for at most two
 * seconds.
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
      // The store is closed first, because its records must be durable even if the collector fails.
      await store.close();
      await exported.close();
    },
  };
}
