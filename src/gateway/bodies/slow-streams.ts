import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConnectionShares } from "../upstream/connection-shares.ts";
import type { ShareClient } from "../upstream/share-usage.ts";
import { LEAST_AWAITED_STREAM_RATE } from "./policy.ts";

/** A request and its response, both streamed, with the bytes that each has moved. */
export interface ForwardedStream {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Whether all of the upstream's response has come. */
  readonly isComplete: boolean;
  /** The guard's own: its place in the list, the bytes at the last check, and at how many checks in a row it was awaited. */
  guarded: { place: number; bytesBefore: number | undefined; timesAwaited: number } | undefined;
  /** The client whose share its connection counts against. */
  readonly client: ShareClient | undefined;
  /** Ends the stream. */
  abort(reason: string): void;
}

/** Ends streams that are too slow, because of their clients or of the upstream, while others wait for their connections. */
export type SlowStreamGuard = ReturnType<typeof createSlowStreamGuard>;

/** The end that keeps a stream waiting: neither before the first byte of its response, for which the upstream has its own limit. */
function findSlowEnd({ request, response, isComplete }: ForwardedStream): "client" | "upstream" | undefined {
  if (!request.complete || response.writableNeedDrain) return "client";
  return response.headersSent && !isComplete ? "upstream" : undefined;
}

/** Notes what a stream has moved so far, if somebody keeps it waiting. The result is what it has moved since the last time. */
function measure(stream: ForwardedStream): number | undefined {
  const { bytesIn, bytesOut, guarded } = stream;
  if (!guarded) return undefined;
  const { bytesBefore } = guarded;
  const bytes = bytesIn + bytesOut;
  guarded.bytesBefore = findSlowEnd(stream) && bytes;
  return guarded.bytesBefore === undefined || bytesBefore === undefined ? undefined : bytes - bytesBefore;
}

export interface SlowStreamGuardOptions {
  /** The connections of the streams. */
  readonly shares: Pick<ConnectionShares, "isAwaited" | "isExhausted" | "queueLength">;
  /** Milliseconds between two checks. */
  readonly windowMs: number;
  /** Is called if a check finds that all connections are in use, once until nobody waits. */
  readonly onExhausted: (() => void) | undefined;
}

/**
 * Creates the guard. A stream is ended only if somebody who waits would get its connection: a client that waits for its
 * own share must not end the streams of others. The slowest are ended first, and no more than others wait for. The longer
 * somebody waits, the faster a stream must be: so no rate is enough to keep a connection from others for ever.
 */
export function createSlowStreamGuard({ shares, windowMs, onExhausted }: SlowStreamGuardOptions) {
  /**
   * A list, not a `Map`: a map that entries enter and leave copies its table again and again, and until the next full
   * garbage collection each old table keeps the requests that it held.
   */
  const streams: ForwardedStream[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isReported = false;

  const isAwaited = ({ client }: ForwardedStream): boolean =>
    client !== undefined && shares.isAwaited(client);

  /** The streams that somebody keeps waiting and whose connections others wait for, the slowest first. */
  function findAwaited(): { readonly stream: ForwardedStream; readonly isTooSlow: boolean }[] {
    const found = [];
    for (const stream of streams) {
      const { guarded } = stream;
      const moved = measure(stream);
      if (!guarded) continue;
      const times = guarded.timesAwaited;
      guarded.timesAwaited = 0;
      if (moved === undefined || !isAwaited(stream)) continue;
      guarded.timesAwaited = times + 1;
      found.push({
        stream,
        moved,
        isTooSlow: moved < (LEAST_AWAITED_STREAM_RATE * 2 ** times * windowMs) / 1000,
      });
    }
    return found.toSorted((one, other) => one.moved - other.moved);
  }

  function check(): void {
    if (!isReported && shares.isExhausted()) {
      isReported = true;
      onExhausted?.();
    }
    for (const { stream, isTooSlow } of findAwaited())
      if (isTooSlow && isAwaited(stream))
        stream.abort(`the ${findSlowEnd(stream)} was too slow while others waited`);
    if (shares.queueLength() > 0) return;
    clearInterval(timer);
    timer = undefined;
    isReported = false;
    for (const { guarded } of streams) if (guarded) guarded.timesAwaited = 0;
  }

  return {
    add(stream: ForwardedStream): void {
      stream.guarded = { place: streams.length, bytesBefore: undefined, timesAwaited: 0 };
      streams.push(stream);
    },
    remove(stream: ForwardedStream): void {
      const last = streams.at(-1);
      if (!stream.guarded || !last?.guarded) return;
      const { place } = stream.guarded;
      streams[place] = last;
      last.guarded.place = place;
      streams.pop();
      stream.guarded = undefined;
    },
    /** Call this when a client has to wait. */
    start(): void {
      if (timer) return;
      for (const stream of streams) measure(stream);
      timer = setInterval(check, windowMs).unref();
    },
  };
}
