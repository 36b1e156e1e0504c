/** Ways in which v4 gives no usable answer. */
export type UpstreamFaultKind = "unreachable" | "timed_out" | "cut_off" | "too_large" | "overloaded" | "gone";

/**
 * v4 gave no answer that could be read. `gone` means that our own client went away first, and nobody waits
 * for an answer any more. The message is for the log and the audit record; no client ever sees it.
 */
export class UpstreamFault extends Error {
  override readonly name = "UpstreamFault";
  readonly kind: UpstreamFaultKind;

  constructor(kind: UpstreamFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const KIND_OF_CODE: Readonly<Record<string, UpstreamFaultKind>> = {
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
export function upstreamFault(error: unknown): UpstreamFault {
  if (error instanceof UpstreamFault) return error;
  const { code, message, cause } = error as { code?: string; message?: string; cause?: { code?: string } };
  const known = code ?? cause?.code ?? "";
  return new UpstreamFault(KIND_OF_CODE[known] ?? "cut_off", [known, message].filter(Boolean).join(": "));
}
