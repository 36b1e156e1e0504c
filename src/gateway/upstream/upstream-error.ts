const CODE_OF_KIND = {
  /** No connection could be opened. */
  unreachable: "AG_UPSTREAM_UNREACHABLE",
  timed_out: "AG_UPSTREAM_TIMED_OUT",
  /** The deadline of several calls has passed. This is not a failure of v4. */
  deadline: "AG_UPSTREAM_TIMED_OUT",
  /** The connection broke, or the response can't be decoded. */
  truncated: "AG_UPSTREAM_TRUNCATED",
  too_large: "AG_UPSTREAM_TOO_LARGE",
  /** No connection was free. This is not a failure of v4. */
  no_connection: "AG_UPSTREAM_CONNECTIONS_EXHAUSTED",
  /** Nothing was sent, because v4 fails. */
  circuit_open: "AG_CIRCUIT_OPEN",
  /** The client did not send or receive a file in time. */
  slow_client: "AG_CLIENT_SLOW",
  client_aborted: "AG_CLIENT_ABORTED",
} as const;

/** The reason why there is no usable response. */
type UpstreamErrorKind = keyof typeof CODE_OF_KIND;

/** There is no usable response of v4. The message is for the log and the audit record; it is never sent to clients. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly code: (typeof CODE_OF_KIND)[UpstreamErrorKind];
  readonly kind: UpstreamErrorKind;

  constructor(kind: UpstreamErrorKind, message: string) {
    super(message);
    this.code = CODE_OF_KIND[kind];
    this.kind = kind;
  }
}

const KIND_OF_SYSTEM_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  UND_ERR_CONNECT_TIMEOUT: "unreachable",
  UND_ERR_HEADERS_TIMEOUT: "timed_out",
  UND_ERR_BODY_TIMEOUT: "timed_out",
  UND_ERR_SOCKET: "truncated",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "truncated",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "too_large",
  ERR_BUFFER_TOO_LARGE: "too_large",
  ECONNREFUSED: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ETIMEDOUT: "unreachable",
};

/** Codes for a rejected certificate of v4: nothing was sent. */
const REJECTED_CERTIFICATE =
  /^(?:CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|ERR_TLS_CERT_|HOSTNAME_MISMATCH$)/;

function kindOf(systemCode: string): UpstreamErrorKind {
  if (REJECTED_CERTIFICATE.test(systemCode)) return "unreachable";
  return KIND_OF_SYSTEM_CODE[systemCode] ?? "truncated";
}

/** Converts an error of undici, zlib or the system. Unknown errors (an invalid header, invalid gzip) become `truncated`. */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const { code, message, cause } = error as { code?: string; message?: string; cause?: { code?: string } };
  const systemCode = code ?? cause?.code ?? "";
  const text = [systemCode, message].filter(Boolean).join(": ");
  return new UpstreamError(kindOf(systemCode), text);
}

/** A response arrived, but its body can't be decoded. */
export class UndecodableError extends UpstreamError {
  constructor(cause: unknown) {
    const { kind, message } = toUpstreamError(cause);
    super(kind, message);
  }
}

/**
 * The meaning of an attempt for the circuit breaker. `ignored` proves nothing about v4: for example, the client
 * disconnected.
 */
export type AttemptOutcome = "succeeded" | "failed" | "ignored";

/** Statuses by which v4, or a proxy in front of it, reports that it is down. */
export const OUTAGE_STATUSES: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/** Error codes of a broken connection. */
const BROKEN: ReadonlySet<string> = new Set([
  "UND_ERR_SOCKET",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "ECONNRESET",
  "EPIPE",
]);

/**
 * The reason that llhttp (the parser of undici and Node) returns if a response is not HTTP. Its other reasons are about
 * headers and chunks, which may contain data of a client, as in `Location`.
 */
const NO_HTTP = "Expected HTTP/";

/**
 * Whether v4 is down. False if the client can be the cause: it disconnected, the response was too large, or the request
 * can't be sent. Otherwise, one client could open the circuit for all clients.
 */
function isOutage(error: unknown): boolean {
  if (error === undefined) return false;
  const { kind } = toUpstreamError(error);
  if (kind === "unreachable" || kind === "timed_out") return true;
  const { code = "", message = "" } = error as { code?: string; message?: string };
  return kind === "truncated" && (BROKEN.has(code) || message.includes(NO_HTTP));
}

/**
 * Returns the meaning of a response for the circuit breaker. With a token that v4 has not accepted, only successful
 * responses are counted: otherwise a client could invent tokens and open the circuit for all clients with a request
 * that always fails.
 */
export function outcomeOfStatus(status: number | undefined, isKnownClient: boolean): AttemptOutcome {
  if (isKnownClient) return OUTAGE_STATUSES.has(status) ? "failed" : "succeeded";
  return status !== undefined && status >= 200 && status < 300 ? "succeeded" : "ignored";
}

/** Returns the meaning of an attempt without a response for the circuit breaker. No client can make v4 unreachable. */
export function outcomeOfError(error: unknown, isKnownClient: boolean): AttemptOutcome {
  if (!isOutage(error)) return "ignored";
  return isKnownClient || toUpstreamError(error).kind === "unreachable" ? "failed" : "ignored";
}

/** Returns the client that may have caused an error; undefined if no client can cause it. */
export const causedBy = <Client>(error: unknown, client: Client | undefined): Client | undefined =>
  error !== undefined && toUpstreamError(error).kind === "unreachable" ? undefined : client;

/** Kinds of errors that occur before anything was sent. */
const BEFORE_SENDING: ReadonlySet<UpstreamErrorKind> = new Set([
  "unreachable",
  "no_connection",
  "circuit_open",
]);

/** Whether nothing was sent to v4. */
export const wasNeverSent = (error: unknown): boolean =>
  error instanceof UpstreamError && BEFORE_SENDING.has(error.kind);

/** Whether the client is the reason for the missing response. */
export const isCausedByClient = ({ kind }: UpstreamError): boolean =>
  kind === "client_aborted" || kind === "slow_client";

/** Whether undici rejected the request, because a part of it can't be sent. */
export const isUnsendable = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === "UND_ERR_INVALID_ARG";
