import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectionShares } from "../upstream/connection-shares.ts";
import type { ShareClient } from "../upstream/share-usage.ts";

/** Bytes per second that a stream must move while others wait for a connection. */
const LEAST_RATE = 512;

/** A request and its response, both streamed, with the bytes that each has moved. */
export interface NativeStream {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Whether all of the upstream's response has come. */
  readonly isComplete: boolean;
  /** The guard's own: its place in the list, and the bytes at the last check. */
  guarded: { place: number; bytesBefore: number | undefined } | undefined;
  /** Whose share its connection counts against. */
  readonly client: ShareClient | undefined;
  /** Ends the stream. */
  abort(reason: string): void;
}

/** Ends streams that are too slow, because of their clients or of the upstream, while others wait for their connections. */
export interface SlowStreamGuard {
  add(stream: NativeStream): void;
  remove(stream: NativeStream): void;
  /** Call this when a client has to wait. */
  start(): void;
}

/** Who keeps a stream waiting: nobody before the first byte of its response, for which the upstream has a limit of its own. */
function findSlowSide({ request, response, isComplete }: NativeStream): "client" | "upstream" | undefined {
  if (!request.complete || response.writableNeedDrain) return "client";
  return response.headersSent && !isComplete ? "upstream" : undefined;
}

/**
 * Creates the guard. A stream is ended only if somebody who waits would get its connection: a client that waits for its
 * own share must not end the streams of others.
 *
 * @param shares the connections of the streams
 * @param windowMs milliseconds between two checks
 */
export function createSlowStreamGuard(
  shares: Pick<ConnectionShares, "isAwaited" | "queueLength">,
  windowMs: number,
): SlowStreamGuard {
  /**
   * A list, not a `Map`: a map that entries enter and leave copies its table again and again, and until the next full
   * garbage collection each old table keeps the requests that it held.
   */
  const streams: NativeStream[] = [];
  let timer: NodeJS.Timeout | undefined;

  function check(): void {
    // Streams that end here leave the list at their place, which the last one takes.
    for (const stream of streams.slice()) {
      const { bytesIn, bytesOut, client, guarded } = stream;
      if (!guarded || !client) continue;
      const { bytesBefore } = guarded;
      const bytes = bytesIn + bytesOut;
      const slowSide = findSlowSide(stream);
      guarded.bytesBefore = slowSide ? bytes : undefined;
      const isTooSlow = bytesBefore !== undefined && bytes - bytesBefore < (LEAST_RATE * windowMs) / 1000;
      if (slowSide && isTooSlow && shares.isAwaited(client))
        stream.abort(`the ${slowSide} was too slow while others waited`);
    }
    if (shares.queueLength() > 0) return;
    clearInterval(timer);
    timer = undefined;
    for (const { guarded } of streams) if (guarded) guarded.bytesBefore = undefined;
  }

  return {
    add(stream) {
      stream.guarded = { place: streams.length, bytesBefore: undefined };
      streams.push(stream);
    },
    remove(stream) {
      const last = streams.at(-1);
      if (!stream.guarded || !last?.guarded) return;
      const { place } = stream.guarded;
      streams[place] = last;
      last.guarded.place = place;
      streams.pop();
      stream.guarded = undefined;
    },
    start() {
      timer ??= setInterval(check, windowMs).unref();
    },
  };
}
