import {
  CLIENT_GONE,
  errorText,
  type Log,
  type Metrics,
  type RequestSpan,
  type Settings,
  type Tracing,
} from "../../base/index.ts";
import {
  type AuditRecord,
  type AuditStore,
  type ClientDirectory,
  type ClientIdentity,
  isTextType,
} from "../../audit/index.ts";
import { provenIdentity, type RequestContext } from "../request/context.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { RequestOutcome } from "../request/response.ts";
import { describeError, translatedExchange } from "./alpha-record.ts";
import { BodyStart } from "./body-start.ts";
import {
  type ForwardedExchange,
  type ForwardRecording,
  nativeExchange,
  searchedBytes,
} from "./forwarded-record.ts";
import { createMinimalRecord, createRecord, type RecordedExchange, summarize } from "./recorded-exchange.ts";
import {
  createRecordOptions,
  fingerprintOf,
  type RecordOptions,
  type RequestSummary,
} from "./recorded-request.ts";
import type { KnownSenders } from "../auth/known-senders.ts";
import type { Pack } from "../../pack/index.ts";
import { AfterResponses, type InFlightTracker } from "../http/in-flight.ts";
import { logRequest, observeStages, type RecordDetails, spanResult } from "./report-request.ts";

/** Learns how the translation does. */
interface TranslationWatch {
  /** Records the response to a request. @param sender The sender. Undefined for a stranger */
  noteNew(route: string, hasFailed: boolean, requestId: string, sender: string | undefined): void;
}

export interface RecorderDependencies {
  readonly pack: Pack;
  readonly settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT" | "AUDIT_DURABILITY" | "CLIENTS_FILE">;
  readonly audit: AuditStore | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly inFlight: Pick<InFlightTracker, "begin">;
  /** Undefined without tracing. */
  readonly tracing: Tracing | undefined;
  /** Learns how the translation does. Default: nobody does. */
  readonly rollout?: TranslationWatch | undefined;
  /** Decides whose requests count for a return. Default: nobody's. */
  readonly senders?: KnownSenders | undefined;
  /** See `PublicAppDependencies`. */
  readonly isForTesters?: boolean;
  /** The names of clients, for the metrics. Default: none. */
  readonly clients?: { current(): ClientDirectory };
}

/** The outcome of a check. */
const ACCEPTED: RequestOutcome = {
  status: 200,
  meaning: "succeeded",
  response: { status: 200, headers: {}, body: Buffer.alloc(0) },
};

/** Statuses of requests without a valid token. They prove nothing about the translation: anybody can cause them. */
const WITHOUT_ACCESS: ReadonlySet<number> = new Set([401, 403]);

/** Whether a response is evidence about the translation. Rejections of the gateway itself are not. */
const isTranslated = (status: number, rejectedBy: RequestContext["rejectedBy"]): boolean =>
  status !== CLIENT_GONE && rejectedBy === undefined && !WITHOUT_ACCESS.has(status);

/** Reports every request to the audit store, the metrics, the log and the trace. */
export class Recorder {
  readonly #dependencies: RecorderDependencies;
  readonly #afterResponses: AfterResponses;
  readonly options: RecordOptions;

  constructor(dependencies: RecorderDependencies) {
    const { pack, settings, inFlight } = dependencies;
    this.#dependencies = dependencies;
    this.#afterResponses = new AfterResponses(inFlight);
    this.options = createRecordOptions(pack, settings);
  }

  /** Records a translated request; returns a promise where its response must wait for the record. */
  alpha(request: AlphaRequest, outcome: RequestOutcome, context: RequestContext): void | Promise<void> {
    context.endedAt = performance.now();
    return this.#run(
      () => this.#recordTranslated(request, outcome, context),
      (error) => this.unexpected(error, request, context),
    );
  }

  /** Records a request that was forwarded. @throws where its response waits for its record, which is lost */
  async forwarded(exchange: ForwardedExchange): Promise<void> {
    return this.#run(
      () => this.#recordForwarded(exchange),
      (error) => this.#logLostRecord(exchange.request.id, error),
    );
  }

  /** Collects the data for the record of a request to the native proxy. */
  startNative(request: AlphaRequest, hash: string | undefined): ForwardRecording {
    const { audit } = this.#dependencies;
    const limit = audit && searchedBytes(request, this.options);
    let response: BodyStart | undefined;
    return {
      onHead: (headers) => {
        if (limit !== undefined) response = new BodyStart(headers, limit, isTextType);
      },
      onReceived: (chunk) => response?.add(chunk),
      record: async (outcome) => {
        const received = await response?.decode();
        return this.forwarded(nativeExchange(request, outcome, hash, { received }));
      },
    };
  }

  /** Records that v4 accepts a token: the store then moves the token's earlier requests to its client. */
  async acceptedToken(request: AlphaRequest, context: RequestContext): Promise<void> {
    try {
      const { audit } = this.#dependencies;
      await audit?.append(this.#createRecord(translatedExchange(request, ACCEPTED, context)));
    } catch (error) {
      this.#logLostRecord(request.id, error);
    }
  }

  /** Logs an error that no one expected. */
  unexpected(error: unknown, request: AlphaRequest, context: RequestContext): void {
    const about = describeError(error, request, context, this.options);
    this.#dependencies.log.error({ code: "AG_UNEXPECTED_ERROR", ...about }, "unexpected error");
  }

  /** Records an exchange: at once if responses wait for their records, else after the responses of this turn. */
  #run(record: () => void | Promise<void>, onError: (error: unknown) => void): void | Promise<void> {
    const { audit, settings } = this.#dependencies;
    if (audit !== undefined && settings.AUDIT_DURABILITY === "strict") return record();
    this.#afterResponses.add(() => {
      try {
        record()?.catch(() => {});
      } catch (error) {
        onError(error);
      }
    });
  }

  #recordTranslated(
    request: AlphaRequest,
    outcome: RequestOutcome,
    context: RequestContext,
  ): void | Promise<void> {
    const startedAt = performance.now();
    const { rejectedBy, upstream, span } = context;
    const details = {
      rejectedBy,
      hasFailed: outcome.meaning === "failed",
      traceparent: upstream?.traceparent ?? header(request, "traceparent"),
    };
    if (isTranslated(outcome.status, rejectedBy)) this.#noteNew(request, context, details.hasFailed);
    const reported = this.#record(translatedExchange(request, outcome, context), details, span);
    observeStages(this.#dependencies.metrics, context, performance.now() - startedAt);
    if (!context.isOwnPage) this.#countClient("alpha", () => provenIdentity(request, context));
    return reported;
  }

  #recordForwarded(exchange: ForwardedExchange): void | Promise<void> {
    const { request, outcome, rejectedBy, lane } = exchange;
    const traceparent = header(request, "traceparent");
    const time = new Date(exchange.beganAt());
    const span = this.#dependencies.tracing?.startRequest({ method: request.method, traceparent, time });
    this.#countClient(lane, () => ({
      label: request.label,
      application: outcome.application,
      fingerprint: fingerprintOf(exchange.hash) ?? undefined,
      userAgent: header(request, "user-agent"),
    }));
    return this.#record(exchange, { rejectedBy, hasFailed: outcome.hasFailed ?? false, traceparent }, span);
  }

  /** Makes the record of an exchange, hands it to the store, and reports it to the metrics, the log and the trace. */
  #record(
    exchange: RecordedExchange,
    details: RecordDetails,
    span: RequestSpan | undefined,
  ): void | Promise<void> {
    const record = this.#dependencies.audit && this.#createRecord(exchange);
    const summary = record ?? summarize(exchange, this.options);
    span?.end(spanResult(summary));
    const durable = record && this.#dependencies.audit?.append(record);
    return durable ? this.#reportWhenDurable(record, details, durable) : this.#report(summary, details);
  }

  /** Notes for a rollout how the translation did. */
  #noteNew(request: AlphaRequest, context: RequestContext, hasFailed: boolean): void {
    const { rollout, senders, isForTesters } = this.#dependencies;
    const { match, client } = context;
    if (!rollout || isForTesters || !match) return;
    const identity = provenIdentity(request, context);
    const sender = senders?.provenBy({ identity, hash: client?.credentials.hash }, request.address);
    rollout.noteNew(match.route.name, hasFailed, request.id, sender);
  }

  /** A request is always recorded, even if data of a client or v4 causes an error. */
  #createRecord(exchange: RecordedExchange): AuditRecord {
    try {
      return createRecord(exchange, this.options);
    } catch (error) {
      this.#dependencies.log.error(
        { code: "AG_AUDIT_RECORD_FAILED", requestId: exchange.request.id, error: errorText(error) },
        "an audit record could not be created",
      );
      return createMinimalRecord(exchange, this.options);
    }
  }

  /** If a record must be durable and is not, the client gets 500, whatever v4 responded. */
  async #reportWhenDurable(
    record: AuditRecord,
    details: RecordDetails,
    durable: Promise<void>,
  ): Promise<void> {
    try {
      await durable;
    } catch (error) {
      const alpha = { ...record.alpha, status: this.#dependencies.pack.statuses.failed };
      this.#report({ ...record, alpha }, { ...details, hasFailed: true });
      this.#logLostRecord(record.requestId, error);
      throw error;
    }
    this.#report(record, details);
  }

  /**
   * @param identify The known facts about the sender. Not called without a directory
   * @param identify What is known of the sender: it is not looked at without a directory
   */
  #countClient(lane: AuditRecord["lane"], identify: () => ClientIdentity): void {
    const { settings, clients, metrics } = this.#dependencies;
    if (settings.CLIENTS_FILE === undefined || !clients) return;
    metrics.countClientRequest(lane, clients.current().nameOf(identify()));
  }

  #report(record: RequestSummary, details: RecordDetails): void {
    this.#dependencies.metrics.observeRequest(record, details.rejectedBy);
    logRequest(this.#dependencies.log, record, details);
  }

  #logLostRecord(requestId: string, error: unknown): void {
    this.#dependencies.log.error(
      { code: "AG_AUDIT_RECORD_LOST", requestId, error: errorText(error) },
      "the audit record was not kept",
    );
  }
}
