/**
 * Why the gateway itself rejects a request: too many bodies, a stage of the sunset plan (`brown_out`, `freeze`, and
 * `sunset` for the end), a page of another origin, the size, a limit.
 */
export const REJECTIONS = [
  "bodies",
  "brown_out",
  "cross_site",
  "freeze",
  "head_size",
  "limit",
  "sunset",
] as const;

export type RejectedBy = (typeof REJECTIONS)[number];

/** One problem of a request. `field` is the alpha name of a member of the submitted JSON, dotted when nested. */
export interface ErrorDetail {
  readonly reason: string;
  readonly field?: string;
  /** The query parameter with the filter, the order or the page. It is the field if the pack says so. */
  readonly parameter?: string;
  /** The client's code: of the upstream's error, or of a check or call that has failed. */
  readonly code?: string | undefined;
  /** The client's status of a failed check or call. Undefined: the status of an invalid request. */
  readonly status?: number | undefined;
  /** The rule of a request that is broken, see `VALIDATION_RULES`. */
  readonly rule?: string;
  /** The cause of the failure, for the operator. Clients do not see it. */
  readonly cause?: Error;
}

/** The rule of a pack for the error of a check or call that has failed. */
export type Failure = Pick<ErrorDetail, "status" | "code">;

/** The reason of a value that the pack can't translate. */
export const INVALID_VALUE = "Not a valid value.";
/** The reason of a member that is missing. */
export const REQUIRED = "This field is required.";
/** The reason of a member that the body does not have. */
export const UNKNOWN_MEMBER = "There is no such field.";

/** The text of an error as a whole, in addition to its problems. */
export interface ErrorSummary {
  readonly reason: string;
  readonly code?: string | undefined;
  /** Whether it replaces the reasons of all problems. */
  readonly isComplete?: boolean;
}

/** A rejection by the gateway itself, which the metrics count and the audit record has. */
export interface Rejection {
  readonly by: RejectedBy;
  /** For the audit record and the log. */
  readonly warning?: string;
  /** Whether the status is the client's unless the pack has another one for exactly this status. */
  readonly isExactStatus?: boolean;
}

/**
 * The gateway rejects a request, with a standard status and all problems at once. The client gets its own status for that
 * one. This is the only error whose text clients see: every other one becomes a neutral 500 (`gateway/responses/error-result.ts`).
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code = "AG_REQUEST_REJECTED";
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** Where rejections of this kind are counted. */
  readonly rejection: Rejection | undefined;
  /** Headers of the response. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    status: number,
    problems: readonly ErrorDetail[] | string,
    rejection?: Rejection,
    headers?: Readonly<Record<string, string>>,
  ) {
    const list = typeof problems === "string" ? [{ reason: problems }] : problems;
    super(list.map(({ reason }) => reason).join(" "));
    this.status = status;
    this.details = list;
    this.rejection = rejection;
    this.headers = headers;
  }
}

/** A request breaks a rule for its body, its query parameters or its filter. The pack may give it another status than 400. */
export class ValidationError extends HttpError {
  constructor(problems: readonly ErrorDetail[] | string) {
    super(400, problems);
  }
}

/** The meaning of an upstream's error, independent of its status in the client's dialect. */
export type UpstreamErrorMeaning = "failed" | "limited" | "refused";

/** An error that has its final status: the upstream's, translated, or one that the pack has for a route. */
export class TranslatedError extends HttpError {
  readonly summary: ErrorSummary | undefined;
  readonly meaning: UpstreamErrorMeaning;

  constructor(
    status: number,
    problems: readonly ErrorDetail[] | string,
    {
      summary,
      meaning = "refused",
    }: { summary?: ErrorSummary | undefined; meaning?: UpstreamErrorMeaning } = {},
  ) {
    super(status, problems);
    this.summary = summary;
    this.meaning = meaning;
  }
}
