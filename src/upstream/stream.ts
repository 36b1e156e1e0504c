import type { Readable } from "node:stream";

/** A call to v4 whose body, or whose answer, is passed on as it comes. */
export interface V4FileCall {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | undefined;
}

/** The head of v4's answer, and its body, which must be read to its end or destroyed. */
export interface V4FileAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** The streamed way to v4: nothing is kept, decoded or sent twice. */
export interface FileUpstream {
  /**
   * Makes one call. A body that fails, on either side, fails the other one.
   *
   * @param signal ends the call when the client goes away, its answer's body too.
   * @throws {UpstreamFault} when there is no answer; what the body was destroyed with, when it was.
   */
  stream(call: V4FileCall, signal: AbortSignal): Promise<V4FileAnswer>;
}
