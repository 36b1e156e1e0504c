import { CLIENT_GONE, type AuditRecord } from "../audit/record.ts";
import { createRecordIds } from "../audit/record-id.ts";
import { createRedaction } from "../audit/redact.ts";
import type { AuditStore } from "../audit/store.ts";
import {
  errorOf,
  createNativeAuditRecord,
  nativeSummaryOf,
  createAuditRecord,
  createMinimalRecord,
  summarizeRequest,
  type NativeOutcome,
  type RequestOutcome,
  type RecordOptions,
  type RequestSummary,
} from "../pipeline/stages/audit-record.ts";
import { header, type AlphaRequest, type RequestContext } from "../pipeline/context.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import type { Settings } from "../config/schema.ts";
import type { RequestResult, Tracing } from "../observability/tracing/tracing.ts";
import { parseTraceparent } from "../observability/tracing/traceparent.ts";
import type { Log } from "../observability/log.ts";
import { observeStages } from "./stage-metrics.ts";

export interface Recorder {
  alpha(request: AlphaRequest, outcome: RequestOutcome, notes: RequestContext): void | Promise<void>;
  native(request: AlphaRequest, outcome: NativeOutcome, hash: string | undefined): Promise<void>;
  /** Logs an error that nobody foresaw. */
  unforeseen(error: unknown, request: AlphaRequest, notes: RequestContext): void;
}

export interface RecorderDependencies {
  readonly pack: Pack;
  readonly settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT">;
  readonly audit: AuditStore | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Undefined where no traces are wanted. */
  readonly tracing: Tracing | undefined;
}

/** What is known of a request besides its record. */
interface Besides {
  readonly refusal?: RequestContext["rejectedBy"];
  readonly traceparent: string | undefined;
}

/** One line for a request: enough to find its record and its trace, nothing of what was said in it. */
function logLine(
  { id, requestId, lane, client, alpha, v4, warnings, timings }: RequestSummary,
  { traceparent }: Besides,
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

const ended = ({ alpha, lane, requestId }: RequestSummary): RequestResult => ({
  route: alpha.route,
  status: alpha.status,
  lane,
  requestId,
});

/** Segments of the paths that the pack's routes have, and of the calls that they make. */
function literalsOf({ routes, dialect }: Pack): ReadonlySet<string> {
  const templates = routes.flatMap(
    ({ name, source, mergeParts, prerequisites, readAfterWrite, wait, related }) => [
      name.slice(name.indexOf(" ") + 1),
      ...("call" in source ? [source.call.template] : []),
      ...mergeParts.flatMap(({ read, write }) => [read.template, write.template]),
      ...[...prerequisites, ...related, readAfterWrite, wait].map((step) => step?.endpoint.template ?? ""),
    ],
  );
  const { oauth, alpha, v4 } = dialect;
  const lanes = [alpha.prefix, v4.prefix];
  const login = oauth
    ? [oauth.authorize, oauth.token, oauth.expire, oauth.logout].flatMap(({ alpha: from, v4: to }) => [
        from,
        to,
      ])
    : [];
  const segments = [...templates, ...lanes, ...login].flatMap((path) => path.split("/"));
  return new Set(segments.filter((segment) => segment !== "" && !/[:{]/.test(segment)));
}

/** Hands what happened to all that want to know: the audit store, the metrics, the log and the trace. */
export function createRecorder(parts: RecorderDependencies): Recorder {
  const { pack, settings, audit, metrics, log, tracing } = parts;
  const options: RecordOptions = {
    newId: createRecordIds(),
    redaction: createRedaction({
      names: pack.dialect.secrets,
      bodyLimit: settings.AUDIT_BODY_LIMIT,
      literals: literalsOf(pack),
    }),
    bodies: settings.AUDIT === "full",
    filterHeader: pack.dialect.filter.header,
  };

  /** A line for each request would cost more than many of them: what went well is told at `debug` alone. */
  function tell(record: RequestSummary, besides: Besides): void {
    const { warnings, alpha } = record;
    if (warnings.length === 0 || alpha.status === CLIENT_GONE) {
      if (log.isLevelEnabled("debug")) log.debug(logLine(record, besides), "request");
    } else if (alpha.status >= 500 && besides.refusal === undefined) {
      log.error({ code: "AG_REQUEST_FAILED", ...logLine(record, besides) }, "request");
    } else {
      log.warn({ code: "AG_REQUEST_WARNING", ...logLine(record, besides) }, "request");
    }
  }

  function hear(record: RequestSummary, besides: Besides): void {
    metrics.observe(record, besides.refusal);
    tell(record, besides);
  }

  /** Nothing that a client or v4 sends may keep a request out of the audit. */
  function recordOf(request: AlphaRequest, outcome: RequestOutcome, notes: RequestContext): AuditRecord {
    try {
      return createAuditRecord(request, outcome, notes, options);
    } catch (error) {
      log.error(
        { code: "AG_AUDIT_RECORD_FAILED", requestId: request.id, error: (error as Error).message },
        "an audit record could not be created",
      );
      return createMinimalRecord(request, outcome, notes, options);
    }
  }

  function lost(requestId: string, error: unknown): void {
    log.error(
      { code: "AG_AUDIT_RECORD_LOST", requestId, error: (error as Error).message },
      "the audit record was not kept",
    );
  }

  /** Where its record has to be kept first and can't be, a client is told 500, whatever v4 said. */
  async function keptFirst(record: AuditRecord, besides: Besides, kept: Promise<void>): Promise<void> {
    try {
      await kept;
    } catch (error) {
      hear({ ...record, alpha: { ...record.alpha, status: 500 } }, besides);
      lost(record.requestId, error);
      throw error;
    }
    hear(record, besides);
  }

  return {
    alpha(request, outcome, notes) {
      const begun = performance.now();
      const { rejectedBy: refusal, traceparent = header(request, "traceparent") } = notes;
      const besides = { refusal, traceparent };
      const record = audit && recordOf(request, outcome, notes);
      const summary = record ?? summarizeRequest(request, outcome, notes, options);
      notes.span?.end(ended(summary));
      const appended = record && audit.append(record);
      const kept = appended ? keptFirst(record, besides, appended) : hear(summary, besides);
      observeStages(metrics, notes, performance.now() - begun);
      return kept;
    },
    async native(request, outcome, hash) {
      try {
        const record = audit && createNativeAuditRecord(request, outcome, hash, options);
        const summary = record ?? nativeSummaryOf(request, outcome, hash);
        const traceparent = header(request, "traceparent");
        const { method } = request;
        const time = new Date(Date.now() - outcome.ms);
        tracing?.startRequest({ method, traceparent, time }).end(ended(summary));
        hear(summary, { traceparent });
        if (record) await audit.append(record);
      } catch (error) {
        lost(request.id, error);
        throw error;
      }
    },
    unforeseen: (error, request, notes) =>
      log.error(
        {
          code: "AG_UNEXPECTED_ERROR",
          requestId: request.id,
          err: errorOf(error, request, notes, options),
        },
        "unexpected error",
      ),
  };
}
