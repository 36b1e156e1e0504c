/** The gateway's own responses to requests that it should forward. */
import { type Pack, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import { RATE_LIMITED } from "../stages/rate-limit.ts";

/** An error of the gateway. */
export interface ForwardError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The gateway's errors by event. */
export interface ForwardErrors {
  /** The upstream can't be reached or ended the response early, or the gateway failed. */
  readonly failed: ForwardError;
  /** The upstream did not respond in time. */
  readonly timedOut: ForwardError;
  /** The circuit is open, or all connections are in use. */
  readonly unavailable: ForwardError;
  /** The client has too many requests. */
  readonly limited: ForwardError;
}

/** The message of errors that the client did not cause. */
export const FAILURE = "The service could not process this request.";
const UNAVAILABLE = "The service does not respond at the moment. Try again later.";

/** Creates an error in the dialect of the upstream. @param shown the status in its body */
export const nativeError = (
  { errors }: Pick<Pack, "errors">,
  reason: string,
  status: number,
  shown = status,
): ForwardError => ({ status, body: JSON.stringify(errors.upstream.write([{ reason }], shown)) });

/** Creates the errors of requests in the upstream's own dialect. */
export function createNativeErrors(pack: Pick<Pack, "errors">): ForwardErrors {
  const failed = nativeError(pack, FAILURE, 500, 502);
  return {
    failed,
    timedOut: failed,
    unavailable: nativeError(pack, UNAVAILABLE, 503),
    limited: nativeError(pack, RATE_LIMITED, TOO_MANY_REQUESTS),
  };
}

/** Creates an error in the dialect of the clients, with their status. */
export function legacyError(
  { statuses, errors }: Pick<Pack, "statuses" | "errors">,
  reason: string,
  status: number,
): ForwardError {
  const translated = statuses.translate(status);
  return { status: translated, body: JSON.stringify(errors.client.write([{ reason }], translated)) };
}

/** Creates the errors of requests for the old service. */
export const createLegacyErrors = (pack: Pick<Pack, "statuses" | "errors">): ForwardErrors => ({
  failed: legacyError(pack, FAILURE, 502),
  timedOut: legacyError(pack, "The service did not respond in time.", 504),
  unavailable: legacyError(pack, UNAVAILABLE, 503),
  limited: legacyError(pack, "Too many requests at the same time. Try again later.", TOO_MANY_REQUESTS),
});
