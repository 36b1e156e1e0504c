/** One problem of a request. `field` is the alpha name of a member of the submitted JSON, dotted when nested. */
export interface ErrorDetail {
  readonly reason: string;
  readonly field?: string;
  /** What failed, for the operator. Clients do not see it. */
  readonly cause?: Error;
}

/** The reason of a value that the pack can't translate. */
export const INVALID_VALUE = "Not a valid value.";

/**
 * The gateway rejects a request, with alpha's status and all problems at once. This is the only error whose text clients
 * see: every other one becomes a neutral 500 (`pipeline/errors.ts`).
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code = "AG_REQUEST_REJECTED";
  readonly status: number;
  readonly details: readonly ErrorDetail[];

  constructor(status: number, problems: readonly ErrorDetail[] | string) {
    const list = typeof problems === "string" ? [{ reason: problems }] : problems;
    super(list.map(({ reason }) => reason).join(" "));
    this.status = status;
    this.details = list;
  }
}
