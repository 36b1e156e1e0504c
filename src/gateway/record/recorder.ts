import {
  CLIENT_GONE,
  errorText,
  type Log,
  type Metrics,
  parseTraceparent,
  type RequestResult,
  type Settings,
  type Tracing,
} from "../../base/index.ts";
import type { AuditRecord, AuditStore, ClientDirectory, ClientIdentity } from "../../audit/index.ts";
import { tokenInfoOf, provenIdentity, forEachStage, type RequestContext } from "../pipeline/context.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";
import {
  createNativeRecord,
  searchedBytes,
  summarizeNativeRequest,
  type NativeOutcome,
} from "./native-record.ts";
import type { NativeRecording } from "../forward/native-exchange.ts";
import { NativeResponse } from "./response-secrets.ts";
import { beganAt, type RecordOptions, type RequestSummary } from "./recorded-request.ts";
import {
  createAuditRecord,
  createMinimalRecord,
  describeError,
  summarizeRequest,
  type RequestOutcome,
} from "./audit-record.ts";
import type { KnownSenders } from "../auth/known-senders.ts";
import type { Pack } from "../../pack/index.ts";
import { AfterResponses, type InFlightTracker } from "../http/in-flight.ts";
import { createRecordOptions } from "./record-options.ts";

/** Learns how the translation does. */
interface TranslationWatch {
  /** Notes the response to a request. @param sender Who has sent it; undefined: a stranger */
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
  readonly rollout?: { readonly rollout: TranslationWatch | undefined };
  /** Tells whose requests decide about a return. Default: nobody's. */
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

/** Statuses of requests without a valid token. Nobody may put a return off with them. */
const WITHOUT_ACCESS: ReadonlySet<number> = new Set([401, 403]);

/** Whether a response says something about the translation. What the gateway itself rejects does not. */
const isTranslated = (status: number, rejectedBy: RequestContext["rejectedBy"]): boolean =>
  status !== CLIENT_GONE && rejectedBy === undefined && !WITHOUT_ACCESS.has(status);

/** What the log and the metrics need that a record does not have. */
interface RecordDetails {
  readonly rejectedBy?: RequestContext["rejectedBy"];
  /** Whether v4 or the gateway has failed, whatever the status is. */
  readonly hasFailed: boolean;
  readonly traceparent: string | undefined;
}

/** Makes what is recorded of a request that was forwarded. */
interface CreateRecord {
  readonly record: () => AuditRecord | undefined;
  readonly summarize: () => RequestSummary;
}

/** One log line for a request: enough to find its record and its trace, and no content. */
function logLine(
  { id, requestId, lane, client, alpha, v4, warnings, timings }: RequestSummary,
  { traceparent }: RecordDetails,
): Record<string, unknown> {
  return {
    requestId,
    trace: parseTraceparent(traceparent)?.traceId,
    record: id,
    lane,
    client: client.fingerprint,
    method: alpha.method,
    route: alpha.route,
    status: alpha.status,
    v4: v4.map(({ status }) => status),
    ms: Math.round(timings.total * 10) / 10,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** A line for each request would cost more than many of them: successes are logged at `debug` only. */
function logRequest(log: Log, record: RequestSummary, details: RecordDetails): void {
  const { warnings, alpha } = record;
  if (warnings.length === 0 || alpha.status === CLIENT_GONE) {
    if (log.isLevelEnabled("debug")) log.debug(logLine(record, details), "request");
  } else if (details.hasFailed) {
    if (log.isLevelEnabled("error"))
      log.error({ code: "AG_REQUEST_FAILED", ...logLine(record, details) }, "request");
  } else if (log.isLevelEnabled("warn")) {
    log.warn({ code: "AG_REQUEST_WARNING", ...logLine(record, details) }, "request");
  }
}

const spanResult = ({ alpha, lane, requestId }: RequestSummary): RequestResult => ({
  route: alpha.route,
  status: alpha.status,
  lane,
  requestId,
});

/** Reports how long a request was in each stage, and what it found in the caches. */
function observeStages(
  metrics: Pick<Metrics, "stagesOf" | "countCacheReads">,
  context: RequestContext,
  auditMs: number,
): void {
  const { client, match, stageTimes, upstream } = context;
  const { cachedReads, cacheMisses = 0 } = upstream ?? {};
  const observeStage = metrics.stagesOf(match?.route.name ?? null);
  forEachStage(context, observeStage);
  observeStage("audit", auditMs);

  if (client?.credentials.hash !== undefined)
    metrics.countCacheReads("tokens", tokenInfoOf(context) !== undefined);
  if (cachedReads) metrics.countCacheReads("reads", true, cachedReads.length);
  if (cacheMisses > 0) metrics.countCacheReads("reads", false, cacheMisses);
  if (stageTimes.buildResponse > 0 && match?.route.kind === "catalog")
    metrics.countCacheReads("catalogs", upstream?.calls.length === 0);
}

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
    if (this.#recordsFirst) return this.#record(request, outcome, context);
    this.#afterResponses.add(() => {
      try {
        this.#record(request, outcome, context)?.catch(() => {});
      } catch (error) {
        this.unexpected(error, request, context);
      }
    });
  }

  /** Whether responses wait for their records. */
  get #recordsFirst(): boolean {
    const { audit, settings } = this.#dependencies;
    return audit !== undefined && settings.AUDIT_DURABILITY === "strict";
  }

  #record(request: AlphaRequest, outcome: RequestOutcome, context: RequestContext): void | Promise<void> {
    const startedAt = performance.now();
    const { audit, metrics } = this.#dependencies;
    const { rejectedBy, upstream } = context;
    const details = {
      rejectedBy,
      hasFailed: outcome.meaning === "failed",
      traceparent: upstream?.traceparent ?? header(request, "traceparent"),
    };
    if (isTranslated(outcome.status, rejectedBy)) this.#noteNew(request, context, details.hasFailed);
    const record = audit && this.#createRecord(request, outcome, context);
    const summary = record ?? summarizeRequest(request, outcome, context, this.options);
    context.span?.end(spanResult(summary));
    const durable = record && audit.append(record);
    const reported = durable
      ? this.#reportWhenDurable(record, details, durable)
      : this.#report(summary, details);
    observeStages(metrics, context, performance.now() - startedAt);
    if (!context.isOwnPage) this.#countClient("alpha", () => provenIdentity(request, context));
    return reported;
  }

  /** Notes for a rollout how the translation did. */
  #noteNew(request: AlphaRequest, context: RequestContext, hasFailed: boolean): void {
    const { rollout, senders, isForTesters } = this.#dependencies;
    const { match, client } = context;
    if (!rollout?.rollout || isForTesters || !match) return;
    const identity = provenIdentity(request, context);
    const sender = senders?.knownAs({ identity, hash: client?.credentials.hash });
    rollout.rollout.noteNew(match.route.name, hasFailed, request.id, sender);
  }

  /** Records that v4 accepts a token: the store then moves the token's earlier requests to its client. */
  async acceptedToken(request: AlphaRequest, context: RequestContext): Promise<void> {
    try {
      await this.#dependencies.audit?.append(this.#createRecord(request, ACCEPTED, context));
    } catch (error) {
      this.#logLostRecord(request.id, error);
    }
  }

  /** Collects what the record of a request to the native proxy needs. */
  startNative(request: AlphaRequest, hash: string | undefined): NativeRecording {
    const { audit } = this.#dependencies;
    const limit = audit && searchedBytes(request, this.options);
    let response: NativeResponse | undefined;
    return {
      onHead: (headers) => {
        if (limit !== undefined) response = new NativeResponse(headers, limit);
      },
      onReceived: (chunk) => response?.add(chunk),
      record: (outcome) =>
        this.recordForwarded(request, outcome, {
          record: () => audit && createNativeRecord(request, outcome, hash, this.options, response),
          summarize: () => summarizeNativeRequest(request, outcome, hash),
        }),
    };
  }

  /** Reports a request that was forwarded without translation. @throws where its response waits for its record, which is lost */
  async recordForwarded(request: AlphaRequest, outcome: NativeOutcome, create: CreateRecord): Promise<void> {
    if (this.#recordsFirst) return this.#recordForwarded(request, outcome, create);
    this.#afterResponses.add(() => void this.#recordForwarded(request, outcome, create).catch(() => {}));
  }

  async #recordForwarded(request: AlphaRequest, outcome: NativeOutcome, create: CreateRecord): Promise<void> {
    const { audit, tracing } = this.#dependencies;
    try {
      const record = create.record();
      const summary = record ?? create.summarize();
      const traceparent = header(request, "traceparent");
      const { method } = request;
      const time = new Date(beganAt(request));
      tracing?.startRequest({ method, traceparent, time })?.end(spanResult(summary));
      const { rejectedBy, hasFailed = false } = outcome;
      this.#report(summary, { rejectedBy, hasFailed, traceparent });
      const { label } = request;
      const { application } = outcome;
      const { fingerprint } = summary.client;
      const identify = (): ClientIdentity => ({
        label,
        application,
        fingerprint,
        userAgent: header(request, "user-agent"),
      });
      this.#countClient(summary.lane, identify);
      if (record) await audit?.append(record);
    } catch (error) {
      this.#logLostRecord(request.id, error);
      throw error;
    }
  }

  /** Logs an error that no one expected. */
  unexpected(error: unknown, request: AlphaRequest, context: RequestContext): void {
    const about = describeError(error, request, context, this.options);
    this.#dependencies.log.error({ code: "AG_UNEXPECTED_ERROR", ...about }, "unexpected error");
  }

  /** A request is always recorded, whatever a client or v4 sends. */
  #createRecord(request: AlphaRequest, outcome: RequestOutcome, context: RequestContext): AuditRecord {
    try {
      return createAuditRecord(request, outcome, context, this.options);
    } catch (error) {
      this.#dependencies.log.error(
        { code: "AG_AUDIT_RECORD_FAILED", requestId: request.id, error: errorText(error) },
        "an audit record could not be created",
      );
      return createMinimalRecord(request, outcome, context, this.options);
    }
  }

  /** Where a record must be durable and is not, the client gets 500, whatever v4 responded. */
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

  /** @param identify What is known of the sender: it is not looked at without a directory */
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
