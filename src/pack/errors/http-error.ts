/**
 * The reasons why the gateway itself rejects a request: too many bodies, a stage of the sunset plan (`brown_out`,
 * `freeze`, and `sunset` for the end), a page of a different origin, the size, or a limit.
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
  /** The query parameter that contains the filter, the order or the page. It is the field if the pack defines so. */
  readonly parameter?: string;
  /** The client's code for an upstream error, or for a failed check or call. */
  readonly code?: string | undefined;
  /** The client's status for a failed check or call. Undefined: the status of an invalid request. */
  readonly status?: number | undefined;
  /** The rule that the request breaks, see `VALIDATION_RULES`. */
  readonly rule?: string;
  /** The cause of the failure, for the operator. It is not sent to clients. */
  readonly cause?: Error;
}

/** The rule of a pack for the error of a failed check or call. */
export type Failure = Pick<ErrorDetail, "status" | "code">;

/** The reason for a value that the pack can't translate. */
export const INVALID_VALUE = "Not a valid value.";
/** The reason for a missing member. */
export const REQUIRED = "This field is required.";
/** The reason for a member that the body can't contain. */
export const UNKNOWN_MEMBER = "There is no such field.";

/** The text of an error as a whole, in addition to its problems. */
export interface ErrorSummary {
  readonly reason: string;
  readonly code?: string | undefined;
  /** Whether the text replaces the reasons of all problems. */
  readonly isComplete?: boolean;
}

/** A rejection by the gateway itself. It is counted in the metrics and stored in the audit record. */
export interface Rejection {
  readonly by: RejectedBy;
  /** The text for the audit record and the log. */
  readonly warning?: string;
  /** Whether the status is final unless the pack changes exactly this status. */
  readonly isExactStatus?: boolean;
}

/**
 * The gateway rejects a request, with a standard status and all problems. The pack translates that status for the
 * client. This is the only error whose text is sent to clients: every other error becomes a neutral 500
 * (`gateway/responses/error-result.ts`).
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code = "AG_REQUEST_REJECTED";
  readonly status: number;
  readonly details: readonly ErrorDetail[];
  /** The kind under which the rejection is counted. */
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

/** A request breaks a rule for its body, its query parameters or its filter. The pack may define a status other than 400. */
export class ValidationError extends HttpError {
  constructor(problems: readonly ErrorDetail[] | string) {
    super(400, problems);
  }
}

/** The meaning of an upstream's error, independent of its status in the client's dialect. */
export type UpstreamErrorMeaning = "failed" | "limited" | "refused";

/** An error with its final status: the upstream's translated status, or one that the pack defines for a route. */
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
