import type { AuditRecord } from "../audit/record.ts";
import { recordIds } from "../audit/record-id.ts";
import { makeRedaction } from "../audit/redact.ts";
import type { AuditStore } from "../audit/store.ts";
import {
  nativeRecordOf,
  recordOf,
  type NativeOutcome,
  type Outcome,
  type RecordOptions,
} from "../gateway/record.ts";
import type { AlphaRequest, Notes } from "../gateway/exchange.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Settings } from "../settings/table.ts";
import type { Log } from "./log.ts";

export interface Recorder {
  alpha(request: AlphaRequest, outcome: Outcome, notes: Notes): void | Promise<void>;
  native(request: AlphaRequest, outcome: NativeOutcome, hash: string | undefined): void;
}

export interface RecorderParts {
  readonly pack: Pack;
  readonly settings: Pick<Settings, "AUDIT" | "AUDIT_BODY_LIMIT">;
  readonly audit: AuditStore | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** One line for a request: enough to find its record, nothing of what was said in it. */
function logLine({
  id,
  requestId,
  lane,
  client,
  alpha,
  v4,
  warnings,
  timings,
}: AuditRecord): Record<string, unknown> {
  return {
    requestId,
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

/** Hands what happened to the three that want to know: the audit store, the metrics and the log. */
export function createRecorder({ pack, settings, audit, metrics, log }: RecorderParts): Recorder {
  const options: RecordOptions = {
    newId: recordIds(),
    redaction: makeRedaction({ names: pack.dialect.secrets, bodyLimit: settings.AUDIT_BODY_LIMIT }),
    bodies: settings.AUDIT === "full",
    filterHeader: pack.dialect.filter.header,
  };

  function keep(record: AuditRecord, refusal?: Notes["refusal"]): void | Promise<void> {
    metrics.observe(record, refusal);
    if (record.warnings.length > 0) log.warn(logLine(record), "request");
    else if (log.isLevelEnabled("debug")) log.debug(logLine(record), "request");
    return audit?.append(record);
  }

  return {
    alpha: (request, outcome, notes) => keep(recordOf(request, outcome, notes, options), notes.refusal),
    native(request, outcome, hash) {
      // The answer is over, so whatever is thrown here would end the process.
      const kept = async (): Promise<void> => keep(nativeRecordOf(request, outcome, hash, options));
      kept().catch((error: unknown) => {
        log.error(
          { requestId: request.id, error: (error as Error).message },
          "the audit record was not kept",
        );
      });
    },
  };
}
