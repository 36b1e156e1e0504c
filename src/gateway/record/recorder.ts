/** Reports every request to the audit store, the metrics, the log and the trace. */
import {
  CLIENT_GONE,
  errorText,
  type Log,
  type Metrics,
  type RequestSpan,
  type Settings,
  type Tracing,
} from "../../base/index.ts";
import type { AuditRecord, AuditStore, ClientDirectory, ClientIdentity } from "../../audit/index.ts";
import type { KnownSenders } from "../auth/known-senders.ts";
import { AfterResponses, type InFlightTracker } from "../http/in-flight.ts";
import type { RequestContext } from "../request/context.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import type { RequestOutcome } from "../request/response.ts";
import type { Pack } from "../../pack/index.ts";
import { createRecord, fingerprintOf, withoutTexts } from "./create-record.ts";
import { type RecordedExchange, type ForwardedExchange, translatedExchange } from "./recorded-exchange.ts";
import { findSecrets } from "./find-secrets.ts";
import { createRecordOptions, type RecordOptions } from "./record-options.ts";
import { logRequest, observeStages, type RequestSummary } from "./report-request.ts";

/** Receives the results of the translation. */
interface TranslationWatch {
  /** Records the response to a request. @param sender The sender. Undefined for an unknown sender */
  noteNew(route: string, hasFailed: boolean, requestId: string, sender: string | undefined): void;
}

interface RecorderDependencies {
  readonly pack: Pack;
  readonly settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT" | "AUDIT_DURABILITY" | "CLIENTS_FILE">;
  readonly audit: AuditStore | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly inFlight: Pick<InFlightTracker, "begin">;
  /** The tracing of requests; undefined if it is off. */
  readonly tracing: Tracing | undefined;
  /** Receives the results of the translation. Default: they are not used. */
  readonly rollout?: TranslationWatch | undefined;
  /** Decides whose requests are counted for a return to the old service. Default: no request is counted. */
  readonly senders?: KnownSenders | undefined;
  /** See `PublicAppDependencies`. */
  readonly isForTesters?: boolean;
  /** The names of clients, for the metrics. Default: none. */
  readonly clients?: { current(): ClientDirectory };
}

/** The outcome of a check, and of a request that has no response yet. */
const NO_RESPONSE: RequestOutcome = {
  status: 200,
  meaning: "succeeded",
  response: { status: 200, headers: {}, body: Buffer.alloc(0) },
};

/** Statuses of requests without a valid token. They prove nothing about the translation, because any client can cause them. */
const WITHOUT_ACCESS: ReadonlySet<number> = new Set([401, 403]);

/** The known facts about a sender. They only include an application if it is proven, because any client can name one. */
const identityOf = ({ request, hash, application }: RecordedExchange): ClientIdentity => ({
  label: request.label,
  application: application?.isProven ? application.id : undefined,
  fingerprint: fingerprintOf(hash),
  userAgent: header(request, "user-agent"),
});

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

  /** Records a translated request. Returns a promise if its response must wait for the record. */
  alpha(request: AlphaRequest, outcome: RequestOutcome, context: RequestContext): void | Promise<void> {
    context.endedAt = performance.now();
    return this.#run(
      () => {
        const startedAt = performance.now();
        const recorded = this.#record(translatedExchange(request, outcome, context), context.span);
        observeStages(this.#dependencies.metrics, context, performance.now() - startedAt);
        return recorded;
      },
      (error) => this.unexpected(error, request, context),
    );
  }

  /** Records a request that was forwarded. @throws if its response must wait for its record, which is lost */
  async forwarded(exchange: ForwardedExchange): Promise<void> {
    const { inFlight, audit, tracing } = this.#dependencies;
    const { request, beganAt, forwarded, traceparent } = exchange;
    const end = inFlight.begin();
    try {
      const sent = audit && (await forwarded.sent?.decode());
      const received = audit && (await forwarded.received?.decode());
      return await this.#run(
        () => {
          const start = { method: request.method, traceparent, time: new Date(beganAt) };
          const decoded = { ...exchange, forwarded: { ...forwarded, sent, received } };
          return this.#record(decoded, tracing?.startRequest(start));
        },
        (error) => this.#logLostRecord(request.id, error),
      );
    } finally {
      end();
    }
  }

  /** Returns the number of bytes of a forwarded request's bodies that are kept for its record. */
  keptBytes({ query, headers }: AlphaRequest, lane: AuditRecord["lane"]): number {
    const { bodies, filterHeader, redaction } = this.options;
    if (!this.#dependencies.audit) return 0;
    // The client's texts may contain secrets of a body, even if the body is not recorded.
    const isSearched = query !== "" || headers[filterHeader] !== undefined;
    return isSearched || (bodies && lane === "legacy") ? redaction.search.maxSearched : 0;
  }

  /** Records that v4 accepts a token: the store then assigns the token's earlier requests to its client. */
  async acceptedToken(request: AlphaRequest, context: RequestContext): Promise<void> {
    try {
      const { audit } = this.#dependencies;
      await audit?.append(this.#createRecord(translatedExchange(request, NO_RESPONSE, context)));
    } catch (error) {
      this.#logLostRecord(request.id, error);
    }
  }

  /** Logs an unexpected error, without the secret values of its request. */
  unexpected(error: unknown, request: AlphaRequest, context: RequestContext): void {
    const exchange = translatedExchange(request, NO_RESPONSE, context);
    const secrets = findSecrets(exchange, { ...this.options, bodies: true });
    const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    const err = { type: name, message: secrets.redact(message), stack: secrets.redact(stack) };
    const requestId = secrets.redact(request.id);
    this.#dependencies.log.error({ code: "AG_UNEXPECTED_ERROR", requestId, err }, "unexpected error");
  }

  /** Records an exchange: immediately if responses wait for their records, otherwise after the responses of this turn. */
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

  /** Creates the record of an exchange, passes it to the store, and reports it to the metrics, the log and the trace. */
  #record(exchange: RecordedExchange, span: RequestSpan | undefined): void | Promise<void> {
    const { audit } = this.#dependencies;
    this.#noteNew(exchange);
    this.#countClient(exchange);
    // Without an audit, only warnings are redacted, for the log.
    const record = audit || exchange.warnings.length > 0 ? this.#createRecord(exchange) : undefined;
    const { lane, request, hash, route, status, timings, calls } = exchange;
    const summary: RequestSummary = record ?? {
      lane,
      requestId: request.id,
      client: { fingerprint: fingerprintOf(hash) },
      alpha: { method: request.method, route, status },
      v4: calls,
      losses: [...exchange.losses],
      warnings: [],
      timings,
    };
    span?.end({ lane, requestId: summary.requestId, route: summary.alpha.route, status });
    const durable = record && audit?.append(record);
    if (!durable) return this.#report(summary, exchange);
    return durable.then(
      () => this.#report(summary, exchange),
      (error: unknown) => {
        // If a record must be durable and is not, the client gets a 500, regardless of v4's response.
        const alpha = { ...summary.alpha, status: this.#dependencies.pack.statuses.failed };
        this.#report({ ...summary, alpha }, { ...exchange, hasFailed: true });
        this.#logLostRecord(summary.requestId, error);
        throw error;
      },
    );
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
      return createRecord(withoutTexts(exchange), this.options);
    }
  }

  /**
   * Reports the result of the translation to the roll-out. Rejections of the gateway itself are not evidence about the
   * translation.
   */
  #noteNew(exchange: RecordedExchange): void {
    const { rollout, senders, isForTesters } = this.#dependencies;
    const { request, hash, translated, status, rejectedBy, hasFailed } = exchange;
    const { match } = translated?.context ?? {};
    if (!rollout || isForTesters || !match) return;
    if (status === CLIENT_GONE || rejectedBy !== undefined || WITHOUT_ACCESS.has(status)) return;
    const sender = senders?.provenBy({ identity: identityOf(exchange), hash }, request.address);
    rollout.noteNew(match.route.name, hasFailed, request.id, sender);
  }

  /** Counts a request for its client. If there is no client directory, the sender is not identified. */
  #countClient(exchange: RecordedExchange): void {
    const { settings, clients, metrics } = this.#dependencies;
    const { isOwnPage = false } = exchange.translated?.context ?? {};
    if (settings.CLIENTS_FILE === undefined || !clients || isOwnPage) return;
    metrics.countClientRequest(exchange.lane, clients.current().nameOf(identityOf(exchange)));
  }

  #report(summary: RequestSummary, exchange: RecordedExchange): void {
    const { metrics, log, audit } = this.#dependencies;
    metrics.observeRequest(summary, exchange.rejectedBy);
    logRequest(log, audit ? summary : { ...summary, id: undefined }, exchange);
  }

  #logLostRecord(requestId: string, error: unknown): void {
    this.#dependencies.log.error(
      { code: "AG_AUDIT_RECORD_LOST", requestId, error: errorText(error) },
      "the audit record was not kept",
    );
  }
}
