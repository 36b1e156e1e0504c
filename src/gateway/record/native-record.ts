/** The audit record of a forwarded request: its head and its status, without bodies. */
import { type AuditRecord, recordTime } from "../../audit/index.ts";
import type { Rejection } from "../../pack/index.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import { isForwarded } from "../forward/native-headers.ts";
import type { NativeResponse } from "./response-secrets.ts";
import {
  beganAt,
  findSecrets,
  fingerprintOf,
  recordClient,
  recordHead,
  recordWarnings,
  unparsedTokens,
  type RecordOptions,
  type RequestSummary,
} from "./recorded-request.ts";

/** The end of a forwarded request. */
export interface NativeOutcome {
  readonly status: number;
  /** Of v4's response; null without one, undefined if v4 was not called. */
  readonly v4Status: number | null | undefined;
  /** Whether all of v4's response has come. */
  readonly isComplete?: boolean;
  /** Whether v4 has accepted the token, in this request or before. */
  readonly isAccepted: boolean;
  /** The application that the gateway has issued the token to. */
  readonly application?: string | undefined;
  /** Whether the response is an error of the gateway because v4 has failed, or the gateway has. */
  readonly hasFailed?: boolean;
  /** Why the gateway itself rejected the request, where such rejections are counted. */
  readonly rejectedBy?: Rejection["by"] | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly warnings: readonly string[];
  readonly ms: number;
}

/** All lines of the `Connection` header, as Node joins them. */
const connectionOf = ({ headers }: AlphaRequest): string | undefined => headers["connection"]?.join(", ");

/** The record of a forwarded request. */
export function createNativeRecord(
  request: AlphaRequest,
  outcome: NativeOutcome,
  hash: string | undefined,
  options: RecordOptions,
  response?: NativeResponse,
): AuditRecord {
  const { status, v4Status, isAccepted, application, rejectedBy, ms } = outcome;
  const secrets = findSecrets(request, null, undefined, unparsedTokens(request, options), options);
  response?.addSecretsTo(secrets, options.redaction, outcome.isComplete === true);
  // No route of the pack distinguishes the words of this path from secrets: only tokens are replaced in it, and what
  // follows a secret name.
  const head = recordHead(request, null, isAccepted, secrets, options, secrets.tokensOnly());
  const { method, path, query, filter } = head;
  const isFilterSent =
    filter !== null && isForwarded(options.filterHeader?.toLowerCase() ?? "", connectionOf(request));
  const sent = { filter: isFilterSent ? filter : null };
  const call = { method, ...sent, path: query === "" ? path : `${path}?${query}`, ms };
  return {
    ...summarizeNativeRequest(request, outcome, hash),
    id: options.newId(),
    time: recordTime(beganAt(request)),
    requestId: secrets.conceal(request.id),
    client: recordClient(request, { hash, application, isAccepted }, secrets, options),
    alpha: { method, path, route: null, query, filter, status },
    v4: v4Status === undefined ? [] : [{ ...call, status: v4Status }],
    warnings: recordWarnings(outcome.warnings, secrets),
    bytes: { in: outcome.bytesIn, out: outcome.bytesOut },
    ...(rejectedBy !== undefined && { rejectedBy }),
  };
}

/** The summary of a forwarded request without a record. */
export function summarizeNativeRequest(
  request: AlphaRequest,
  { status, v4Status, warnings, ms }: NativeOutcome,
  hash: string | undefined,
): RequestSummary {
  return {
    lane: "native",
    requestId: request.id,
    client: { fingerprint: fingerprintOf(hash) },
    alpha: { method: request.method, route: null, status },
    v4: v4Status === undefined ? [] : [{ status: v4Status }],
    losses: [],
    warnings,
    timings: { total: ms, upstream: v4Status === undefined ? 0 : ms, translation: 0 },
  };
}

/** Bytes of v4's response that are searched for secrets; 0 if the record has no texts of the client in which they may be. */
export const searchedBytes = (
  { query, headers }: AlphaRequest,
  { filterHeader, redaction }: RecordOptions,
): number =>
  query !== "" || headers[filterHeader?.toLowerCase() ?? ""] !== undefined ? redaction.maxSearched : 0;
