import type { IncomingMessage, ServerResponse } from "node:http";

/** Bytes per second that a stream must move while others wait for a connection. */
const LEAST_RATE = 512;

/** A request and its response, both streamed, with the bytes that each has moved. */
export interface NativeStream {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Ends the stream. */
  abort(reason: string): void;
}

/** Ends streams whose clients are too slow while other clients wait for their connections. */
export interface SlowStreamGuard {
  add(stream: NativeStream): void;
  remove(stream: NativeStream): void;
  /** Call this when a client has to wait. */
  start(): void;
}

/**
 * Creates the guard. No stream is ended while there are free connections.
 *
 * @param queueLength number of clients that wait
 * @param windowMs milliseconds between two checks
 */
export function createSlowStreamGuard(queueLength: () => number, windowMs: number): SlowStreamGuard {
  /** With the bytes at the last check; undefined before the first, and while the stream waits for v4. */
  const streams = new Map<NativeStream, number | undefined>();
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    for (const [stream, before] of streams) {
      const { request, response, bytesIn, bytesOut } = stream;
      const bytes = bytesIn + bytesOut;
      const waitsForClient = !request.complete || response.writableNeedDrain;
      streams.set(stream, waitsForClient ? bytes : undefined);
      const isTooSlow = before !== undefined && bytes - before < (LEAST_RATE * windowMs) / 1000;
      if (waitsForClient && isTooSlow) stream.abort("the client was too slow while others waited");
    }
    if (queueLength() > 0) return;
    clearInterval(timer);
    timer = undefined;
    for (const stream of streams.keys()) streams.set(stream, undefined);
  }

  return {
    add: (stream) => void streams.set(stream, undefined),
    remove: (stream) => void streams.delete(stream),
    start() {
      timer ??= setInterval(check, windowMs).unref();
    },
  };
}
