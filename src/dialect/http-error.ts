/**
 * What the gateway says no with. Only this class may show its text to a client; every other error that
 * reaches the end of the road becomes one neutral 500 (see `gateway/refuse.ts`).
 */

/** One problem of a request. `field` is the alpha name of a member of the submitted JSON, dotted when nested. */
export interface ErrorDetail {
  readonly reason: string;
  readonly field?: string;
}

/** A request that the gateway answers by itself, with alpha's status and all problems at once. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code = "AG_REQUEST_REJECTED";
  readonly status: number;
  readonly details: readonly ErrorDetail[];

  constructor(status: number, faults: readonly ErrorDetail[] | string) {
    const list = typeof faults === "string" ? [{ reason: faults }] : faults;
    super(list.map((fault) => fault.reason).join(" "));
    this.status = status;
    this.details = list;
  }
}
