import type { AttemptOutcome } from "./circuit-breaker.ts";

/** Ways in which v4 gives no usable answer. */
export type UpstreamErrorKind =
  | "unreachable"
  | "timed_out"
  | "cut_off"
  | "too_large"
  | "overloaded"
  | "open"
  | "slow_client"
  | "gone";

const CODE_OF_KIND = {
  unreachable: "AG_UPSTREAM_UNREACHABLE",
  timed_out: "AG_UPSTREAM_TIMED_OUT",
  cut_off: "AG_UPSTREAM_TRUNCATED",
  too_large: "AG_UPSTREAM_TOO_LARGE",
  open: "AG_CIRCUIT_OPEN",
  overloaded: "AG_UPSTREAM_CONNECTIONS_EXHAUSTED",
  slow_client: "AG_CLIENT_SLOW",
  gone: "AG_CLIENT_ABORTED",
} as const satisfies Record<UpstreamErrorKind, string>;

/**
 * v4 gave no answer that could be read. `open` means that it was not asked, since it fails; `overloaded` that no
 * connection was free, which is not v4's failure; `slow_client` that the client did not send, or take, a file in time;
 * `gone` that the client went away first, and nobody waits for an answer any more. The message is for the log and the audit record; no client ever sees it.
 */
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

const KIND_OF_CODE: Readonly<Record<string, UpstreamErrorKind>> = {
  UND_ERR_CONNECT_TIMEOUT: "unreachable",
  UND_ERR_HEADERS_TIMEOUT: "timed_out",
  UND_ERR_BODY_TIMEOUT: "timed_out",
  UND_ERR_SOCKET: "cut_off",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "cut_off",
  UND_ERR_RES_EXCEEDED_MAX_SIZE: "too_large",
  ERR_BUFFER_TOO_LARGE: "too_large",
  ECONNREFUSED: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ETIMEDOUT: "unreachable",
};

/** Names what went wrong below. Anything unknown (a broken header, a bad gzip) is an answer that broke off. */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const { code, message, cause } = error as { code?: string; message?: string; cause?: { code?: string } };
  const known = code ?? cause?.code ?? "";
  return new UpstreamError(KIND_OF_CODE[known] ?? "cut_off", [known, message].filter(Boolean).join(": "));
}

/** Statuses by which v4, or what stands before it, says that it does not serve now. */
export const OUTAGE_STATUSES: ReadonlySet<number | undefined> = new Set([502, 503, 504]);

/** The connection broke, or what came over it was no HTTP. */
const BROKEN = /^(?:UND_ERR_SOCKET$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$|ECONNRESET$|EPIPE$|HPE_)/;

/**
 * Did v4 fail to serve? Not where the client went away, where the answer was too large, or where what was to be
 * sent can't be: a client could have others refused by it.
 */
export function isOutage(error: unknown): boolean {
  if (error === undefined) return false;
  const { kind } = toUpstreamError(error);
  if (kind === "unreachable" || kind === "timed_out") return true;
  const { name, code = "" } = error as { name?: string; code?: string };
  return kind === "cut_off" && (name === "HTTPParserError" || BROKEN.test(code));
}

/**
 * What the status of v4's answer tells the circuit breaker. Of a client whose token v4 has not accepted only that v4
 * serves it: whoever makes up tokens could have others refused by a call that fails whenever it is made.
 */
export function outcomeOfStatus(status: number | undefined, isKnown: boolean): AttemptOutcome {
  if (isKnown) return OUTAGE_STATUSES.has(status) ? "failed" : "answered";
  return status !== undefined && status >= 200 && status < 300 ? "answered" : "neither";
}

/** The same of a try without an answer. That v4 can't be reached is nobody's doing but its own. */
export function outcomeOfError(error: unknown, isKnown: boolean): AttemptOutcome {
  if (!isOutage(error)) return "neither";
  return isKnown || toUpstreamError(error).kind === "unreachable" ? "failed" : "neither";
}

/** Could the request not even be sent, as something in it can't stand in one? */
export const isUnsendable = (error: unknown): boolean =>
  (error as { code?: string } | undefined)?.code === "UND_ERR_INVALID_ARG";
