import { TimeLimit } from "./cancel-signal.ts";
import type { FileUpstream, StreamRequest, StreamResponse } from "./http-call.ts";
import { toUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { UpstreamPool } from "./upstream-pool.ts";
import { wasClosedWhileIdle } from "./watched-connection.ts";

/** Time limit for a whole file, as a multiple of the time limit for a response. */
const FILE_TIMEOUT_FACTOR = 4;

/** Whether the whole file was sent, so that v4 must respond. */
const isSent = (body: StreamRequest["body"]): boolean => body === undefined || body.readableEnded;

/** Converts an error: if the response to a whole file is late, this is v4's failure instead of the client's. */
function toFailure(error: unknown, body: StreamRequest["body"]): unknown {
  const { kind, message } = toUpstreamError(error);
  return kind === "slow_client" && isSent(body) ? new UpstreamError("timed_out", message) : error;
}

/**
 * Whether an error is v4's failure. A broken connection is v4's failure only after the whole file was sent,
 * because a client could stop half-way on purpose. For a download, v4 may have closed an idle connection while it was being reused.
 */
function countsAgainstV4(error: unknown, body: StreamRequest["body"]): boolean {
  if (toUpstreamError(error).kind !== "truncated") return true;
  return body === undefined ? !wasClosedWhileIdle(error) : isSent(body);
}

async function send(
  pool: UpstreamPool,
  request: StreamRequest,
  signal: AbortSignal,
  onDone: () => void,
): Promise<StreamResponse> {
  const { body, client } = request;
  pool.enterCircuit(client);
  try {
    const response = await pool.current.request({ ...pool.optionsOf(request), signal });
    pool.recordStatus(response.statusCode, client);
    response.body.once("close", onDone);
    return { status: response.statusCode, headers: response.headers, body: response.body };
  } catch (error) {
    pool.replaceAfter(error);
    const failure = toFailure(signal.aborted ? signal.reason : error, body);
    pool.recordError(countsAgainstV4(failure, body) ? failure : undefined, client);
    throw failure;
  }
}

/** Creates the function that streams files. @param timeoutMs the time limit for a usual response in milliseconds */
export function createFileStream(pool: UpstreamPool, timeoutMs: number): FileUpstream["stream"] {
  const maxMs = FILE_TIMEOUT_FACTOR * timeoutMs;
  const onTimeout = (): UpstreamError =>
    new UpstreamError("slow_client", `the file was not complete after ${maxMs} ms`);
  return async function streamFile(request, signal) {
    const release = await pool.shares.acquire(request.client, signal);
    const limit = new TimeLimit(signal, maxMs, onTimeout);
    // undici only accepts this kind of signal.
    const aborting = new AbortController();
    const abort = (): void => aborting.abort(limit.reason);
    if (limit.aborted) abort();
    limit.addEventListener("abort", abort);
    function onDone(): void {
      limit.release();
      release();
    }
    try {
      return await send(pool, request, aborting.signal, onDone);
    } catch (error) {
      onDone();
      throw error;
    }
  };
}
