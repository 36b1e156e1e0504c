/** The error statuses of a pack. */
import type { ErrorsDefinition } from "./errors-definition.ts";
import type { InvalidPart } from "./error-codes.ts";

/** Translates statuses to the client's. */
export type Statuses = ReturnType<typeof createStatuses>;

/** The upstream's status where a rate limit is exceeded (RFC 6585). */
export const TOO_MANY_REQUESTS = 429;

/** The status where the client has the object already (RFC 9110, section 15.4.5). */
export const NOT_MODIFIED = 304;

/** The status where the upstream was not done in time (RFC 9110, section 15.6.5). */
export const GATEWAY_TIMEOUT = 504;

/** Whether a status is a 2xx. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The meaning of an error of the upstream, by the upstream's status. A redirect is a failure, since it is not followed. */
export function meaningOf(status: number): "failed" | "limited" | "refused" {
  if (status === TOO_MANY_REQUESTS) return "limited";
  return status < 400 || status >= 500 ? "failed" : "refused";
}

/** Compiles the statuses of a pack. The most exact key counts. A redirect counts as a 500, since it is not followed. */
export function createStatuses({
  statuses = {},
  phrases = {},
  validation,
  unknown_in_body: unknownInBody = 404,
}: ErrorsDefinition) {
  function translate(status: number): number {
    const error = status < 400 ? 500 : status;
    const exact = statuses[error] ?? statuses[`${Math.floor(error / 100)}XX`] ?? statuses["default"];
    return exact ?? error;
  }
  const invalid = translate(400);
  const invalidBody = validation?.status ?? invalid;
  const invalidQuery = validation?.query?.status ?? invalidBody;
  return {
    /** Returns the client's status of an upstream error, or of an error of the gateway. */
    translate,
    /** The status that replaces an upstream's 404 if the 404 means that an id in a body is unknown. */
    unknownInBody,
    /** The same for a deliberate status, which only a rule for exactly this status changes. */
    translateExactly: (status: number): number => statuses[status] ?? status,
    /** The client's status of an invalid request. */
    invalid,
    /** The client's status of a request whose body breaks a rule, and of one whose query, filter or page does. */
    validation: { body: invalidBody, query: invalidQuery } satisfies Record<InvalidPart, number>,
    /** The client's status of a failure of the upstream or of the gateway. */
    failed: translate(500),
    /** The client's status where a rate limit is exceeded. */
    limited: translate(TOO_MANY_REQUESTS),
    /** All statuses of errors that the gateway itself responds with. */
    all: [
      ...new Set([
        invalid,
        invalidBody,
        invalidQuery,
        ...[401, 403, 404, TOO_MANY_REQUESTS, 500].map(translate),
      ]),
    ],
    /** Whether clients also get statuses of the upstream that are not in `all`. */
    passesOthers: statuses["default"] === undefined && statuses["4XX"] === undefined,
    /** Reason phrases that are not the standard ones, by status. */
    phrases,
  };
}
