import type { Readable } from "node:stream";
import { type CancelSignal, TimeLimit } from "./cancel-signal.ts";
import type { ConnectionShares } from "./connection-shares.ts";
import { toUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { UpstreamPool } from "./upstream-pool.ts";
import { wasClosedWhileIdle } from "./watched-connection.ts";
import type { ShareClient } from "./share-usage.ts";

/** A request to v4 whose body, or whose response, is streamed. */
export interface StreamRequest {
  readonly method: string;
  readonly path: string;
  /** As in `HttpRequest`. */
  readonly secretQuery?: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | undefined;
  /** Files have connections of their own. Each client has a share of them. */
  readonly client: ShareClient;
}

/** The head of v4's response, and its body, which must be read to its end or destroyed. */
export interface StreamResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** Streams files from and to v4: nothing is buffered, decoded or retried. */
export interface FileUpstream {
  /**
   * Sends one request. A body that fails, the client's or v4's, fails the other one. So does the time limit for a whole file,
   * which is four times that for a response.
   *
   * @param signal Aborts the request when the client disconnects, the response body too.
   * @throws {UpstreamError} without a response; `slow_client` if the client did not send its file in time.
   *   {ConnectionUnavailableError} if no connection was free. If the body was destroyed, the reason.
   */
  stream(request: StreamRequest, signal: CancelSignal): Promise<StreamResponse>;
}

export interface FileClientOptions {
  readonly pool: UpstreamPool;
  readonly shares: ConnectionShares;
  /** Time limit of a usual response, in milliseconds. */
  readonly timeoutMs: number;
}

/** Time limit of a whole file, as a multiple of the time limit of a response. */
const FILE_TIMEOUT_FACTOR = 4;

/** Whether the whole file was sent, so that v4 has to respond. */
const isSent = (body: StreamRequest["body"]): boolean => body === undefined || body.readableEnded;

/** A response to a whole file that is late is v4's failure, not the client's. */
function toFailure(error: unknown, body: StreamRequest["body"]): unknown {
  const { kind, message } = toUpstreamError(error);
  return kind === "slow_client" && isSent(body) ? new UpstreamError("timed_out", message) : error;
}

/** A broken connection is v4's failure only after the whole file: a client could stop half-way on purpose. */
const countsAgainstV4 = (error: unknown, body: StreamRequest["body"]): boolean =>
  toUpstreamError(error).kind !== "truncated" || isSent(body);

/** Whether a download may be sent once more: v4 closed the idle connection when it came, and sent no byte. */
const isSentAgain = ({ method, body }: StreamRequest, error: unknown): boolean =>
  method === "GET" && body === undefined && wasClosedWhileIdle(error);

/** Creates the client for files. */
export function createFileClient({ pool, shares, timeoutMs }: FileClientOptions): FileUpstream {
  const maxMs = FILE_TIMEOUT_FACTOR * timeoutMs;

  async function send(
    request: StreamRequest,
    signal: AbortSignal,
    onDone: () => void,
  ): Promise<StreamResponse> {
    const { method, headers, body, client } = request;
    pool.enterCircuit(client);
    try {
      const response = await pool.current().request({
        path: pool.target(request),
        method,
        headers,
        body: body ?? null,
        signal,
      });
      pool.recordStatus(response.statusCode, client);
      response.body.once("close", onDone);
      return { status: response.statusCode, headers: response.headers, body: response.body };
    } catch (error) {
      if (isSentAgain(request, error)) {
        pool.recordError(undefined, client);
        throw error;
      }
      pool.replaceAfter(error);
      const failure = toFailure(signal.aborted ? signal.reason : error, body);
      pool.recordError(countsAgainstV4(failure, body) ? failure : undefined, client);
      throw failure;
    }
  }

  return {
    async stream(request, signal) {
      const release = await shares.acquire(request.client, signal);
      const limit = new TimeLimit(
        signal,
        maxMs,
        () => new UpstreamError("slow_client", `the file was not complete after ${maxMs} ms`),
      );
      // undici takes no other signal.
      const aborting = new AbortController();
      const abort = (): void => aborting.abort(limit.reason);
      if (limit.aborted) abort();
      limit.addEventListener("abort", abort);
      function onDone(): void {
        limit.release();
        release();
      }
      try {
        return await send(request, aborting.signal, onDone).catch((error: unknown) => {
          if (!isSentAgain(request, error)) throw error;
          return send(request, aborting.signal, onDone);
        });
      } catch (error) {
        onDone();
        throw error;
      }
    },
  };
}
