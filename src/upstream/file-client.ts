import type { Readable } from "node:stream";
import type { ShareClient } from "./connection-shares.ts";

/** A call to v4 whose body, or whose answer, is passed on as it comes. */
export interface StreamRequest {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | undefined;
  /** Whose call it is: files have connections of their own, of which each client has a share. */
  readonly client: ShareClient;
}

/** The head of v4's answer, and its body, which must be read to its end or destroyed. */
export interface StreamResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** The streamed way to v4: nothing is kept, decoded or sent twice. */
export interface FileUpstream {
  /**
   * Makes one call. A body that fails, on either side, fails the other one; so does the end of the time that a whole
   * file may take, four times the time for an answer.
   *
   * @param signal ends the call when the client goes away, its answer's body too.
   * @throws {UpstreamFault} when there is no answer, `slow_client` where the client did not send its file in time;
   *   {NoConnection} where none was free; what the body was destroyed with, when it was.
   */
  stream(call: StreamRequest, signal: AbortSignal): Promise<StreamResponse>;
}
