/**
 * Something could not be sent. Its message is for the log: what a server or a library says may have an address of a
 * person or a secret of a URL, and is not in it.
 */
export class SendError extends Error {
  override readonly name = "SendError";
  readonly code = "AG_NOTICE_FAILED";
  /** Whether another attempt can't succeed. */
  readonly isPermanent: boolean;

  constructor(reason: string, isPermanent = false) {
    super(reason);
    this.isPermanent = isPermanent;
  }
}

/** The code of an error of the system or of a library, such as `ECONNREFUSED`; `fallback` without one. */
export function codeOf(error: unknown, fallback: string): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  const found = [code, cause?.code].find((each) => typeof each === "string");
  return typeof found === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(found) ? found : fallback;
}
