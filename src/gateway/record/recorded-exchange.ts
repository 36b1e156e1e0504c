/** One request and its outcome, as its lane knows it, and the function that makes all audit records. */
import { type AuditRecord, recordTime, type SecretValues } from "../../audit/index.ts";
import type { Rejection } from "../../pack/index.ts";
import type { AlphaRequest } from "../request/request.ts";
import {
  redactAll,
  fingerprintOf,
  recordClient,
  recordHead,
  recordWarnings,
  type RecordedHead,
  type RecordedSender,
  type RecordOptions,
  type RequestSummary,
} from "./recorded-request.ts";

/**
 * An exchange on its way to its record. Its members are the data of the metrics, the log and the trace: with
 * `AUDIT=off` nobody calls a method, and nothing of the client's texts is read.
 */
export interface RecordedExchange {
  readonly lane: AuditRecord["lane"];
  readonly request: AlphaRequest;
  /** The hash of the client's token; undefined without one. */
  readonly hash: string | undefined;
  readonly route: string | null;
  readonly status: number;
  /** Why the gateway itself rejected the request, where such rejections are counted. */
  readonly rejectedBy: Rejection["by"] | undefined;
  /** The responses of the upstream to each call. */
  readonly calls: RequestSummary["v4"];
  readonly losses: Iterable<string>;
  readonly warnings: readonly string[];
  readonly timings: AuditRecord["timings"];
  /** Whether it is no call of the client's API: it is counted in no summary. */
  readonly isOwnPage?: boolean;
  /** When the request began, in milliseconds since the epoch. */
  readonly beganAt: () => number;
  sender(): RecordedSender;
  /** Bytes of the bodies, as they were sent. */
  bytes(): AuditRecord["bytes"];
  /** The secret values that a warning may contain, if no record is made. Undefined: there can be none. */
  findSecrets?(options: RecordOptions): SecretValues;
  /** Finds the secret values of all messages, and redacts the messages. */
  read(options: RecordOptions): RecordedMessages;
}

/** The messages of an exchange without secret values. */
export interface RecordedMessages {
  readonly secrets: SecretValues;
  /** The secret values that are removed from the path, if they differ. */
  readonly pathSecrets?: SecretValues;
  /** Whether long texts of the head are recorded: anybody can send a request with a made-up token. */
  readonly isTrusted: boolean;
  /** The recorded parts beside the head and the status. */
  readonly alpha?: Pick<AuditRecord["alpha"], "ignored" | "body" | "response" | "checksum">;
  /** The route, where it depends on the recorded path. */
  readonly guessRoute?: ((path: string) => string | null) | undefined;
  /** The calls to v4. @param head the head of the client's request */
  readonly calls: (head: RecordedHead) => AuditRecord["v4"];
  /** The recorded values, if they differ from the sent ones. */
  readonly bytes?: AuditRecord["bytes"];
  /** The members that only records of this lane have. */
  readonly more?: Pick<AuditRecord, "pack" | "sent" | "lost">;
}

/** Bytes of a body that is recorded of a rejected request of a stranger. */
export const LONGEST_BODY_WITHOUT_TOKEN = 1024;

/**
 * Redacts bodies. A body may have secrets that are also in earlier redacted texts: then all are redacted once more.
 *
 * @param isFinal whether the first result may be kept
 */
export function redactBodies<T>(secrets: SecretValues, redact: (isFirst: boolean) => T, isFinal = true): T {
  const { size, isComplete } = secrets;
  const first = redact(true);
  return isFinal && secrets.size === size && secrets.isComplete === isComplete ? first : redact(false);
}

/** The members of a record that need no look at the messages. */
const createFrame = (
  { lane, timings, rejectedBy, isOwnPage, beganAt }: RecordedExchange,
  { newId }: Pick<RecordOptions, "newId">,
): Pick<AuditRecord, "id" | "time" | "lane" | "timings" | "rejectedBy" | "requests"> => ({
  id: newId(),
  time: recordTime(beganAt()),
  lane,
  timings,
  ...(rejectedBy !== undefined && { rejectedBy }),
  ...(isOwnPage && { requests: 0 }),
});

/** Makes the record of an exchange, redacted before it leaves the request. */
export function createRecord(exchange: RecordedExchange, options: RecordOptions): AuditRecord {
  const { request, status, warnings, losses, route } = exchange;
  const { secrets, pathSecrets, isTrusted, guessRoute, alpha, calls, bytes, more } = exchange.read(options);
  const head = recordHead(request, route, isTrusted, secrets, options, pathSecrets);
  return {
    ...createFrame(exchange, options),
    requestId: secrets.redact(request.id),
    client: recordClient(request, exchange.sender(), secrets, options),
    alpha: { ...head, route: guessRoute ? guessRoute(head.path) : route, ...alpha, status },
    v4: calls(head),
    losses: redactAll([...losses], secrets),
    warnings: recordWarnings(warnings, secrets),
    bytes: bytes ?? exchange.bytes(),
    ...more,
  };
}

/** The record if {@link createRecord} fails: the client, the route and the status, and no text. */
export function createMinimalRecord(
  exchange: RecordedExchange,
  options: Pick<RecordOptions, "newId">,
): AuditRecord {
  const { request, hash, route, status } = exchange;
  const { id: requestId, method, address } = request;
  const accepted = exchange.sender().isAccepted;
  return {
    ...createFrame(exchange, options),
    requestId,
    client: { fingerprint: fingerprintOf(hash), accepted, userAgent: null, address },
    alpha: { method, path: "", query: "", filter: null, route, status },
    v4: [],
    losses: [],
    warnings: ["audit: the record could not be made, so its texts are left out"],
    bytes: exchange.bytes(),
  };
}

/** The summary of an exchange without a record. Its texts are searched for secrets only if the log gets a warning. */
export function summarize(exchange: RecordedExchange, options: RecordOptions): RequestSummary {
  const { lane, request, hash, route, status, calls, losses, warnings, timings } = exchange;
  const secrets = warnings.length > 0 ? exchange.findSecrets?.(options) : undefined;
  return {
    lane,
    requestId: secrets?.redact(request.id) ?? request.id,
    client: { fingerprint: fingerprintOf(hash) },
    alpha: { method: request.method, route, status },
    v4: calls,
    losses: [...losses],
    warnings: secrets ? redactAll(warnings, secrets) : warnings,
    timings,
  };
}
